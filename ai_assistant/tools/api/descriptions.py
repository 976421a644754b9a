"""What a view says of itself: its serializer, filters and pages, without drf-spectacular."""

import inspect
from collections.abc import Iterator
from typing import Any

from django.db.models import Model
from rest_framework.mixins import ListModelMixin
from rest_framework.schemas.openapi import AutoSchema
from rest_framework.serializers import BaseSerializer, ListSerializer

from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.adapters.drf import WITH_BODY, serializer_schema
from ai_assistant.tools.api.base import ABOUT_CHARS, COMPONENT, Described
from ai_assistant.tools.api.endpoints import Endpoint
from ai_assistant.types import JSON


def described(endpoint: Endpoint, components: dict[str, JSON]) -> Described:
    """Return what is known of an endpoint; its answer is added to `components`."""
    view = endpoint.view()
    view.swagger_fake_view = True  # views ask it, for drf-spectacular and drf-yasg
    kind = serializer_of(view)
    body: JSON = None
    if endpoint.method.lower() in WITH_BODY:
        no_schema: JSON = {"type": "object"}
        is_partial = endpoint.method == "PATCH"
        body = no_schema
        if kind is not None:
            body = value_or(
                no_schema, lambda: serializer_schema(kind, partial=is_partial)
            )
    is_list = _is_list(endpoint, view)
    return Described(
        about=_about(endpoint),
        query=dict(_query(view)) if is_list else {},
        body=body,
        responses=_responses(endpoint, view, kind, components, is_list=is_list),
    )


def serializer_of(view: Any) -> type[BaseSerializer[Any]] | None:
    """Return the class of the view's serializer, None if it does not say."""
    if not hasattr(view, "get_serializer_class"):
        kind = getattr(view, "serializer_class", None)
    else:
        kind = value_or(None, view.get_serializer_class)
    is_one = isinstance(kind, type) and issubclass(kind, BaseSerializer)
    return kind if is_one else None


def models_of(endpoint: Endpoint) -> list[type[Model]]:
    """Return the models of an endpoint: of its rows, and of what it answers."""
    view = endpoint.view()
    view.swagger_fake_view = True
    rows = getattr(view, "queryset", None)
    if rows is None and hasattr(view, "get_queryset"):
        rows = value_or(None, view.get_queryset)
    kind = serializer_of(view)
    of_answer = getattr(getattr(kind, "Meta", None), "model", None)
    found = (getattr(rows, "model", None), of_answer)
    return [one for one in dict.fromkeys(found) if one is not None]


def component_name(kind: type[Any]) -> str:
    """Return the name of a serializer's schema."""
    return kind.__name__.removesuffix("Serializer") or kind.__name__


def one_line(text: object) -> str:
    """Return the first paragraph of a text, in a line."""
    line = " ".join(str(text or "").strip().partition("\n\n")[0].split())
    return line if len(line) <= ABOUT_CHARS else f"{line[: ABOUT_CHARS - 1]}…"


def about_view(kind: type[Any]) -> str:
    """Return what the docstring of a view says, but not that of a base class."""
    return one_line(inspect.cleandoc(kind.__dict__.get("__doc__") or ""))


def _about(endpoint: Endpoint) -> str:
    function = endpoint.function
    is_own = not getattr(function, "__module__", "").startswith("rest_framework")
    own = one_line(inspect.getdoc(function)) if is_own else ""
    of_view = about_view(endpoint.callback.cls)
    if own or not getattr(endpoint.callback, "actions", None):
        return own or of_view
    words = endpoint.action.replace("_", " ").capitalize()
    return one_line(f"{words}: {of_view}" if of_view else words)


def _is_list(endpoint: Endpoint, view: Any) -> bool:
    if endpoint.method != "GET" or not isinstance(view, ListModelMixin):
        return False
    is_viewset = bool(getattr(endpoint.callback, "actions", None))
    return endpoint.action == "list" if is_viewset else True


def _query(view: Any) -> Iterator[tuple[str, JSON]]:
    """Yield the parameters of the filters and the pages."""
    for backend in getattr(view, "filter_backends", ()):
        yield from _of_filter(backend(), view)
    if (paginator := getattr(view, "paginator", None)) is not None:
        yield from _told_by(paginator, view)


def _of_filter(backend: Any, view: Any) -> Iterator[tuple[str, JSON]]:
    if not hasattr(backend, "get_filterset_class"):
        yield from _told_by(backend, view)
        return
    for name, one in filters_of(view).items():
        choices = getattr(one, "extra", {}).get("choices")
        yield name, {"enum": [str(own) for own, _label in choices]} if choices else {}


def filters_of(view: Any) -> dict[str, Any]:
    """Return the filters of django-filter on a view, by the parameter."""
    found: dict[str, Any] = {}
    for backend in getattr(view, "filter_backends", ()):
        if hasattr(backend, "get_filterset_class"):
            rows = getattr(view, "queryset", None)
            kind = value_or(None, lambda: backend().get_filterset_class(view, rows))  # noqa: B023 - called at once
            found |= getattr(kind, "base_filters", {})
    return found


def _told_by(part: Any, view: Any) -> Iterator[tuple[str, JSON]]:
    tell = getattr(part, "get_schema_operation_parameters", None)
    nothing: list[dict[str, Any]] = []
    for one in value_or(nothing, lambda: tell(view)) if tell else nothing:
        about = one_line(one.get("description"))
        yield one["name"], {**one.get("schema", {}), "description": about}


def _responses(
    endpoint: Endpoint,
    view: Any,
    kind: type[BaseSerializer[Any]] | None,
    components: dict[str, JSON],
    *,
    is_list: bool,
) -> dict[str, JSON]:
    if endpoint.method == "DELETE":
        return {"204": None}
    if kind is None:
        return {}
    name = component_name(kind)
    if name not in components:
        components[name] = value_or({"type": "object"}, lambda: _answer(kind))
    schema: Any = {"$ref": f"{COMPONENT}{name}"}
    if is_list:
        schema = {"type": "array", "items": schema}
        if (paginator := getattr(view, "paginator", None)) is not None:
            whole = schema
            schema = value_or(
                whole, lambda: paginator.get_paginated_response_schema(whole)
            )
    return {"201" if endpoint.action == "create" else "200": schema}


def _answer(kind: type[BaseSerializer[Any]]) -> JSON:
    serializer = kind()
    if isinstance(serializer, ListSerializer) or not hasattr(serializer, "fields"):
        return {"type": "object"}
    schema: dict[str, Any] = AutoSchema().map_serializer(serializer)
    read = [name for name, one in serializer.fields.items() if not one.write_only]
    properties = schema.get("properties", {})
    return {
        "type": "object",
        "properties": {name: properties[name] for name in read if name in properties},
    }
