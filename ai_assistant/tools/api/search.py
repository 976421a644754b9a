"""Find operations of the site's API, and what one of them takes."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry
from ai_assistant.tools.api.base import COMPONENT, Kept, Operation
from ai_assistant.tools.api.catalogue import (
    OF_API,
    Catalogue,
    catalogue_of,
    has_operations,
)
from ai_assistant.tools.summary import found
from ai_assistant.types import JSON, RunContext

MOST_LISTED = 60  # services, or operations of one
# By hand: a model of pydantic has a method `schema`, and warns of such a field.
ARGUMENTS: JSON = {
    "properties": {
        "service": {"type": "string"},
        "operation": {
            "type": "string",
            "description": "tells what it takes; do this before call_api",
        },
        "schema": {"type": "string", "description": "a $ref of it"},
        "text": {"type": "string", "description": "words to find operations by"},
    }
}
# Of a schema: for people, or what the database can hold.
UNTOLD = frozenset({"example", "x-spec-enum-id"})
BOUNDS, MOST_BOUND = ("minimum", "maximum"), 2**31


def _summary(arguments: dict[str, Any], data: Any) -> str:
    asked = next((str(one) for one in arguments.values() if one), "")
    if not isinstance(data, dict) or "operations" not in data:
        return _("Looked up “%(name)s” in the API") % {"name": asked} if asked else ""
    said = {"text": asked, "found": found(len(data["operations"]))}
    return _("Searched the API for “%(text)s”: %(found)s") % said


@tool(
    effect="read",
    label=gettext_lazy("Search in the API"),
    shared=True,
    icon="search",
    is_enabled=has_operations,
    summary=_summary,
    schema=ARGUMENTS,
)
def search_api(
    context: RunContext,
    service: str = "",
    operation: str = "",
    schema: str = "",
    text: str = "",
) -> dict[str, JSON]:
    """Look into the site's own API: one argument at a time. None lists services."""
    known = catalogue_of(context)
    if operation:
        return description(known.find(operation), known)
    if schema:
        return _component(known, schema)
    if text:
        matching = _allowed(known, context, known.search(text))
        return {"operations": [_line(one) for one in matching]}
    services = known.services()
    if not service:
        listed = [_service(name, own) for name, own in services.items()]
        return {"services": [*listed[:MOST_LISTED]], **_more(listed)}
    if service not in services:
        names = ", ".join(list(services)[:MOST_LISTED])
        raise ModelRetry(f"There is no service {service[:100]!r}. Services: {names}.")
    allowed = [_line(one) for one in _allowed(known, context, services[service])]
    return {"operations": [*allowed[:MOST_LISTED]], **_more(allowed)}


def _more(listed: list[Any]) -> dict[str, JSON]:
    left = len(listed) - MOST_LISTED
    return {"more": f"{left} are left out: find them by text"} if left > 0 else {}


def operations_for(context: RunContext, tools: Collection[str]) -> set[str]:
    """Return the ids of what a user may call on a page, if its tools are there."""
    if not OF_API.issubset(tools):
        return set()
    known = catalogue_of(context)
    return {one.id for one in _allowed(known, context, known.operations.values())}


def _allowed(
    known: Catalogue, context: RunContext, operations: Iterable[Operation]
) -> list[Operation]:
    """Return what the user may call, as far as that is known without an object."""
    return [one for one in operations if known.adapters[one.id].may_call(one, context)]


def _service(name: str, operations: list[Operation]) -> dict[str, JSON]:
    return {"service": name, "operations": [one.id for one in operations]}


def _line(operation: Operation) -> dict[str, JSON]:
    return {
        "operation": operation.id,
        "request": f"{operation.method} {operation.path}",
        "effect": operation.effect,
        **({"about": operation.about} if operation.about else {}),
    }


def description(operation: Operation, known: Catalogue) -> dict[str, JSON]:
    """Return what an operation takes and answers, as the model reads it."""
    own = operation.described
    body = _open(_with_component(own.body, known), operation.kept)
    parts: dict[str, JSON] = {
        "path": _each(operation.arguments),
        "query": _each(own.query),
        "body": _short(body) if operation.takes_body else None,
        "responses": _each(own.responses),
    }
    return {**_line(operation), **{name: one for name, one in parts.items() if one}}


def _each(schemas: Mapping[str, JSON]) -> dict[str, Any]:
    return {name: _short(one) for name, one in schemas.items()}


def _short(schema: Any) -> Any:
    """Return a schema without what a model can do without, at any depth."""
    if isinstance(schema, list):
        return [_short(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "properties" in schema and isinstance(schema["properties"], dict):
        own = _each(schema["properties"])
        rest = {name: one for name, one in schema.items() if name != "properties"}
        return {**_short(rest), "properties": own}
    said = {
        name: _short(one)
        for name, one in schema.items()
        if name not in UNTOLD and not (name in BOUNDS and _is_far(one))
    }
    choices = said.get("enum")
    if isinstance(choices, list) and len(choices) > MOST_LISTED:
        left = len(choices) - MOST_LISTED
        said |= {"enum": choices[:MOST_LISTED], "description": f"and {left} more"}
    return said


def _is_far(bound: Any) -> bool:
    return isinstance(bound, int | float) and abs(bound) > MOST_BOUND


def _with_component(body: JSON, known: Catalogue) -> JSON:
    """Return the schema of a body itself, where it is a reference to one."""
    name = body.get("$ref", "") if isinstance(body, dict) else ""
    return known.components.get(str(name).removeprefix(COMPONENT), body)


def _open(schema: Any, kept: Kept) -> JSON:
    """Return the schema of a body without what the assistant may not write."""
    if not isinstance(schema, dict) or "properties" not in schema:
        return schema
    properties = {
        name: one
        for name, one in schema["properties"].items()
        if not kept.keeps_as_it_is(name)
    }
    required = [name for name in schema.get("required", ()) if name in properties]
    return {**schema, "properties": properties, "required": required}


def _component(known: Catalogue, name: str) -> dict[str, JSON]:
    own = name.removeprefix(COMPONENT)
    if own not in known.components:
        raise ModelRetry(
            f"There is no schema {own[:100]!r}. Name one that an operation refers to."
        )
    return {"schema": own, "definition": _short(known.components[own])}
