"""
Skills and prompt commands that apps have as files.

`skills/<name>/SKILL.md` is the open format of Agent Skills; `prompt_commands/<name>.md`
has the same kind of front matter, and the prompt below it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from django.apps import apps
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from ai_assistant.exceptions import AlreadyRegistered
from ai_assistant.registry import registry
from ai_assistant.types import (
    COMMAND_CHARS,
    NAME,
    SKILL_CHARS,
    Placement,
    PromptCommand,
    Skill,
)

FENCE = "---"
SKILL_FILE = "SKILL.md"
SCRIPTS = "scripts"
NAME_CHARS, DESCRIPTION_CHARS = 64, 1024
FILE_CHARS = 200_000  # of one file below a skill
PLACES = frozenset({"module", "model", "view", "group", "language", "permission"})
# Of the format; `metadata` holds what is ours.
SKILL_KEYS = frozenset(
    {"name", "description", "license", "compatibility", "allowed-tools", "metadata"}
)
COMMAND_KEYS = frozenset({"description", "arguments", "metadata"})


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A file that was not registered, and what is wrong with it."""

    path: Path
    text: str

    def __str__(self) -> str:
        return f"File {str(self.path)!r} {self.text}"


problems: list[FileProblem] = []  # of the last discovery


class _Wrong(Exception):
    """What is wrong with a file, as the end of a sentence."""


def discover_files() -> None:
    """Register the skills and prompt commands of all installed apps."""
    problems.clear()
    for app in apps.get_app_configs():
        folder = Path(app.path)
        for path in sorted(folder.glob(f"skills/*/{SKILL_FILE}")):
            _register("skill", path, app.name, _skill)
        for path in sorted(folder.glob("prompt_commands/*.md")):
            _register("command", path, app.name, _command)


def _register(
    kind: str, path: Path, app: str, read: Callable[[Path, str], Any]
) -> None:
    """Register one file; one that is wrong is kept for the system check."""
    try:
        part = read(path, app)
        if registry.parts(kind).get(part.name) != part:  # found once already
            registry.add(kind, part)
    except _Wrong as error:
        problems.append(FileProblem(path, str(error)))
    except AlreadyRegistered as error:
        problems.append(FileProblem(path, f"has a name that is taken. {error}"))


def _skill(path: Path, app: str) -> Skill:
    matter, body = _document(path, SKILL_CHARS, SKILL_KEYS)
    name = matter.get("name")
    if name != path.parent.name:
        raise _Wrong(
            f"has the name {name!r}, but its folder is {path.parent.name!r}. Give both "
            "the same name."
        )
    return Skill(
        name=_name(name),
        description=_description(matter, required=True),
        body=body,
        files=dict(_texts(path.parent)),
        scripts=_scripts(path.parent),
        allowed_tools=_allowed(matter.get("allowed-tools", "")),
        placement=_placement(matter),
        origin=app,
    )


def _command(path: Path, app: str) -> PromptCommand:
    matter, body = _document(path, COMMAND_CHARS, COMMAND_KEYS)
    if not body:
        raise _Wrong("has no prompt below its front matter. Write one.")
    return PromptCommand(
        name=_name(path.stem),
        text=body,
        description=_description(matter, required=False),
        schema=_schema(matter.get("arguments") or {}),
        placement=_placement(matter),
        origin=app,
    )


# --- the parts of a file ---


def _document(
    path: Path, most: int, known: frozenset[str]
) -> tuple[dict[str, Any], str]:
    """Return the front matter and the text below it."""
    text = _text(path, most + DESCRIPTION_CHARS * 4)
    lines = text.lstrip("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].strip() != FENCE:
        raise _Wrong(f"does not begin with front matter: {FENCE!r} on its first line.")
    end = next((n for n, one in enumerate(lines[1:], 1) if one.strip() == FENCE), 0)
    if not end:
        raise _Wrong(f"has front matter without an end. Close it with {FENCE!r}.")
    matter = _yaml("".join(lines[1:end]))
    if unknown := sorted(set(map(str, matter)) - known):
        raise _Wrong(
            f"has the key {unknown[0]!r}, which is not known. Known are: "
            f"{', '.join(sorted(known))}; put others under 'metadata'."
        )
    body = "".join(lines[end + 1 :]).strip()
    if len(body) > most:
        raise _Wrong(f"has {len(body)} characters (at most {most}). Shorten it.")
    return matter, body


def _yaml(text: str) -> dict[str, Any]:
    try:
        # A few lines of them stand for gigabytes, as soon as one is written out.
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise _Wrong("has an alias (*name) in its front matter. Write it out.")
        matter = yaml.safe_load(text) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise _Wrong(f"has front matter that is not YAML: {reason}") from error
    if not isinstance(matter, dict):
        raise _Wrong("has front matter without keys. Write 'description: ...'.")
    return matter


def _text(path: Path, most: int) -> str:
    try:
        if path.stat().st_size > most * 4:  # bytes of a character
            raise _Wrong(f"is too large (at most {most} characters). Shorten it.")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise _Wrong("is not UTF-8. Save it as UTF-8.") from error
    except OSError as error:
        raise _Wrong(f"cannot be read: {error.strerror}.") from error


def _name(name: Any) -> str:
    is_good = isinstance(name, str) and len(name) <= NAME_CHARS
    if not is_good or not re.match(NAME, name):
        raise _Wrong(
            f"has the name {name!r}. Use lower-case letters, digits and single hyphens "
            f"(at most {NAME_CHARS} characters)."
        )
    return str(name)


def _description(matter: Mapping[str, Any], *, required: bool) -> str:
    text = matter.get("description") or ""
    if not isinstance(text, str) or len(text) > DESCRIPTION_CHARS:
        raise _Wrong(
            f"needs a 'description' of at most {DESCRIPTION_CHARS} characters."
        )
    if required and not text.strip():
        raise _Wrong("has no 'description'. Say what it does and when to use it.")
    return text.strip()


def _placement(matter: Mapping[str, Any]) -> Placement:
    metadata = matter.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise _Wrong("has 'metadata' without keys. Write 'metadata: {module: order}'.")
    places = {name: metadata[name] for name in PLACES & set(metadata)}
    for name, value in places.items():
        if not isinstance(value, str):
            raise _Wrong(f"has the {name} {value!r} under 'metadata'. Write a text.")
    app = metadata.get("app")
    if isinstance(app, str):
        places.setdefault("model", app)
    return Placement(**places)


def _allowed(value: Any) -> tuple[str, ...]:
    names = value.split() if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _Wrong("has 'allowed-tools' that are not names, separated by spaces.")
    return tuple(names)


def _schema(value: Any) -> Mapping[str, Any]:
    """Return a JSON schema; `{period: {type: string}}` stands for one of an object."""
    if not isinstance(value, dict):
        raise _Wrong("has 'arguments' without names. Write 'arguments: {period: {}}'.")
    schema = value if "properties" in value or not value else _of_properties(value)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise _Wrong(
            f"has 'arguments' that are no JSON schema: {error.message}"
        ) from error
    return schema


def _of_properties(value: dict[str, Any]) -> dict[str, Any]:
    named = {name: {"type": "string", **(own or {})} for name, own in value.items()}
    needed = [name for name, own in named.items() if "default" not in own]
    return {
        "type": "object",
        "properties": named,
        "required": needed,
        "additionalProperties": False,
    }


# --- the other files of a skill ---


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the texts below a skill by their path; what is no text is left out."""
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        is_other = inside.parts[0] == SCRIPTS or inside.name == SKILL_FILE
        # A link may lead out of the folder.
        if is_other or path.is_symlink() or not path.is_file():
            continue
        try:
            yield inside.as_posix(), _text(path, FILE_CHARS)
        except _Wrong as error:
            problems.append(FileProblem(path, str(error)))


def _scripts(folder: Path) -> tuple[str, ...]:
    found = sorted((folder / SCRIPTS).rglob("*"))
    return tuple(
        path.relative_to(folder).as_posix() for path in found if path.is_file()
    )
