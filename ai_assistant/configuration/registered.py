"""What the apps of a site have registered, and what rows add: for pages, REST and doctor."""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.db import DatabaseError

from ai_assistant.configuration.begun import ROW
from ai_assistant.configuration.problems.operations import operations_of_site
from ai_assistant.configuration.rows import placement_of, rows_of
from ai_assistant.configuration.setup import TAUGHT
from ai_assistant.models.configuration import Suggestion
from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.resolve import every_module, is_of_site
from ai_assistant.registry import registry
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.api.base import Operation
from ai_assistant.tools.api.search import description
from ai_assistant.tools.arguments import function_schema, schema_error
from ai_assistant.tools.manifest import compute_tool_version
from ai_assistant.types import ContextProvider, ToolDefinition
from ai_assistant.types.teaching import Placement

KINDS = (
    "context",
    "tools",
    "commands",
    "skills",
    "hooks",
    "modules",
    "suggestions",
    "instructions",
    "agents",
    "operations",
)
NOT_SAID = ("available",)  # of a placement: code


@dataclass(frozen=True, kw_only=True, slots=True)
class RegisteredPart:
    """One thing that is registered, or that a row adds; `part` is the thing itself."""

    kind: str
    name: str
    part: Any
    origin: str = ""  # the module or file that registers it, or `row`
    where: str = ""  # on which pages and for whom, in words; empty: everywhere
    about: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""  # of a tool: see `tools.manifest`
    code: Any = None  # the function or class
    placement: Placement | None = None
    is_on: bool = True  # False: the site knows it, and does not offer it

    @property
    def source(self) -> str:
        """The file that it comes from, with the line; empty for a row."""
        return "" if self.origin == ROW else source_of(self.code) or self.origin


def registered_parts() -> dict[str, list[RegisteredPart]]:
    """Return all that is registered, by kind and name; of rows what can be read."""
    found: dict[str, Iterable[RegisteredPart]] = {
        "context": map(_context, registry.contexts().values()),
        "tools": map(_tool, registry.tools().values()),
        "modules": _modules(),
        "hooks": _hooks(),
        "suggestions": _suggestions(),
        "operations": _operations(),
        **{kind: _taught(kind, parts) for kind, parts in TAUGHT.items()},
    }
    return {
        kind: sorted(found[kind], key=lambda one: (not one.is_on, one.name))
        for kind in KINDS
    }


def names_registered() -> dict[str, list[str]]:
    """Return the names of what is registered and offered, by kind."""
    return {
        kind: sorted({part.name for part in parts if part.is_on})
        for kind, parts in registered_parts().items()
    }


def limits_of(placement: Placement) -> dict[str, str]:
    """Return what limits a placement, without conditions in code."""
    return {
        name: value
        for name, value in asdict(placement).items()
        if value and name not in NOT_SAID
    }


def source_of(code: Any) -> str:
    """Return the file and line of a function or class, below where it is imported from."""
    if isinstance(code, type):
        return _source_of_class(code)
    return _source_of(inspect.unwrap(code) if callable(code) else code)


@lru_cache(maxsize=512)
def _source_of_class(code: type[Any]) -> str:
    return _source_of(code)  # up to Python 3.12 its whole file is parsed


def _source_of(code: Any) -> str:
    try:
        path = Path(inspect.getsourcefile(code) or "")
        line = inspect.getsourcelines(code)[1]
    except (OSError, TypeError):
        return ""
    roots = sorted((root for root in sys.path if root), key=len, reverse=True)
    root = next((root for root in roots if path.is_relative_to(root)), None)
    return f"{path.relative_to(root) if root else path}:{line or 1}"


# --- kind by kind ---


def _context(provider: ContextProvider) -> RegisteredPart:
    return RegisteredPart(
        kind="context",
        name=provider.name,
        part=provider,
        origin=provider.origin,
        where=_words({"model": provider.model, "view": provider.view}),
        about=provider.description,
        code=provider.function,
    )


def _tool(tool: ToolDefinition) -> RegisteredPart:
    is_good = not (tool.display.renders_only or schema_error(tool))
    schema = function_schema(tool)["function"]["parameters"] if is_good else {}
    return RegisteredPart(
        kind="tools",
        name=tool.name,
        part=tool,
        origin=tool.origin,
        where=_words({"permission": tool.permission}),
        about=tool.description.partition("\n\n")[0],
        schema=schema,
        version=compute_tool_version(tool) if is_good else "",
        code=tool.handler,
    )


def _modules() -> Iterator[RegisteredPart]:
    for module in _of_site():
        row, is_made = module.configured, not module.matches and module.configured.pages
        pages = row.pages if is_made else module.matches
        yield RegisteredPart(
            kind="modules",
            name=module.id,
            part=module,
            origin=ROW if is_made else type(module).__module__,
            where=_words({"pages": ", ".join(pages), "group": row.group}),
            about=str(row.label or module.label),
            code=None if is_made else type(module),
        )


def _of_site() -> list[ContextModule]:
    try:
        return [module for module in every_module() if is_of_site(module)]
    except DatabaseError:  # the rows cannot be read
        return list(registry.modules().values())


def _hooks() -> Iterator[RegisteredPart]:
    for hook in registry.hooks():
        yield RegisteredPart(
            kind="hooks",
            name=hook.name,
            part=hook,
            origin=hook.origin,
            where=hook.where,
            code=hook.function,
        )


def _suggestions() -> Iterator[RegisteredPart]:
    for module in registry.modules().values():
        for text in dict.fromkeys(map(str, module.suggestions)):
            yield RegisteredPart(
                kind="suggestions",
                name=text,
                part=text,
                origin=type(module).__module__,
                where=_words({"module": module.id}),
                code=type(module),
            )
    for name, part in registry.parts("suggestion").items():
        yield RegisteredPart(
            kind="suggestions",
            name=name,
            part=part,
            origin=part.origin,
            where=_words(limits_of(part.placement)),
            code=getattr(part, "function", None),
            placement=part.placement,
        )
    for row in _rows_of_suggestions():
        yield RegisteredPart(
            kind="suggestions",
            name=row.name,
            part=row,
            origin=ROW,
            where=_words(limits_of(placement_of(row))),
            about=row.label,
            placement=placement_of(row),
        )


def _rows_of_suggestions() -> list[Suggestion]:
    try:
        return [row for row in rows_of(Suggestion) if row.is_active]
    except DatabaseError:
        return []


def _taught(kind: str, parts: Callable[[], list[Any]]) -> Iterator[RegisteredPart]:
    try:
        found = parts()
    except DatabaseError:  # the rows cannot be read
        found = list(registry.parts(kind[:-1]).values())
    for part in found:
        if getattr(part, "owner_id", None) is not None:
            continue  # a person's own
        text = getattr(part, "text", None) or getattr(part, "instructions", None)
        schema = getattr(part, "schema", None)
        yield RegisteredPart(
            kind=kind,
            name=part.name,
            part=part,
            origin=part.origin,
            where=_words(limits_of(part.placement)),
            about=str(getattr(part, "description", "") or ""),
            schema=schema if isinstance(schema, Mapping) else {},
            code=text if callable(text) else None,
        )


def _operations() -> Iterator[RegisteredPart]:
    known = operations_of_site()
    for one in (*known.operations.values(), *known.left_out):
        is_on, code = known.operations.get(one.id) is one, _code_of(one)
        yield RegisteredPart(
            kind="operations",
            name=one.id,
            part=one,
            origin=getattr(code, "__module__", ""),
            where=", ".join(_permissions_of(one)),
            about=one.about,
            schema=description(one, known) if is_on else {},
            code=code,
            is_on=is_on,
        )


def _code_of(operation: Operation) -> Any:
    """Return the function of the site that answers, or the class of the view."""
    function = getattr(operation.endpoint, "function", None)
    view = getattr(getattr(operation.endpoint, "callback", None), "cls", None)
    is_own = not getattr(function, "__module__", "").startswith("rest_framework")
    return function if view is None or (function is not None and is_own) else view


def _permissions_of(operation: Operation) -> list[str]:
    """Return the names of the classes that say who may call it."""
    view: Any = value_or(None, getattr(operation.endpoint, "view", lambda: None))
    nothing: list[Any] = []
    asked = getattr(view, "get_permissions", None)
    found = value_or(nothing, asked) if asked else nothing
    return list(map(_permission_name, found))


def _permission_name(permission: Any) -> str:
    """Return the name of its class; of those that are joined by `&`, `|` and `~` of each."""
    name = type(permission).__name__
    first, second = (getattr(permission, own, None) for own in ("op1", "op2"))
    if first is None:
        return name
    parts = [_permission_name(one) for one in (first, second) if one is not None]
    joined = f" {name.lower()} ".join(parts)
    return joined if second is not None else f"not {joined}"


def _words(limits: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in limits.items() if value)
