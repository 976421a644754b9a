"""The file itself, as YAML or JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from django.utils.translation import gettext as _

from ai_assistant.configuration.transfer.kinds import KINDS, values_of

VERSION = 1  # of the file: greater once an older release could not read it
JSON_ENDING = ".json"


class WrongFile(ValueError):
    """The file is not one of configuration; the text is a sentence that says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """What a file says: rows by section. Sections that it leaves out stay as they are."""

    sections: Mapping[str, list[dict[str, Any]]]


def written(*, as_json: bool = False) -> str:
    """Return the configuration of this site as the text of a file."""
    found = {
        kind.section: [values_of(kind, row) for row in kind.rows()] for kind in KINDS
    }
    document = {"version": VERSION, **found}
    if as_json:
        return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    return yaml.dump(
        document, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=88
    )


def read(text: str, name: str = "") -> Document:
    """Return what a file says. Raise WrongFile if it is none, or of a newer version."""
    found = _parsed(text, is_json=name.endswith(JSON_ENDING))
    if not isinstance(found, dict) or "version" not in found:
        raise WrongFile(_("The file has no “version”: it is none of configuration."))
    version = found.pop("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise WrongFile(_("The “version” of the file is no number."))
    if version > VERSION:
        sentence = _(
            "The file has version %(version)s, and this site reads up to %(known)s. "
            "Upgrade ai_assistant first."
        )
        raise WrongFile(sentence % {"version": version, "known": VERSION})
    return Document(sections=_sections(found))


def _sections(found: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    known = [kind.section for kind in KINDS]
    for section, rows in found.items():
        named = {"section": section, "known": ", ".join(known)}
        if section not in known:
            sentence = _("There is no section “%(section)s”. There are: %(known)s.")
            raise WrongFile(sentence % named)
        is_list = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
        if not is_list:
            sentence = _("The section “%(section)s” is no list of rows with fields.")
            raise WrongFile(sentence % named)
    return {section: found[section] for section in known if section in found}


def _parsed(text: str, *, is_json: bool) -> Any:
    try:
        if is_json:
            return json.loads(text)
        # An alias is short and may stand for very much.
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise WrongFile(_("The file has an alias (*name). Write it out."))
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        reason = " ".join(str(error).split())[:300]
        raise WrongFile(
            _("The file is no YAML: %(reason)s") % {"reason": reason}
        ) from (error)
    except json.JSONDecodeError as error:
        raise WrongFile(_("The file is no JSON: %(reason)s") % {"reason": error}) from (
            error
        )


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and never an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
