"""Fields that the assistant is kept from, in what an operation takes and answers."""

from collections.abc import Callable, Iterator
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db.models.constants import LOOKUP_SEP
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.serializers import BaseSerializer

from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy.sensitive import (
    HIDDEN,
    is_opened_field,
    is_opted_out,
    is_read_only,
    is_sensitive_field,
    is_sensitive_model,
)
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.api.base import Kept
from ai_assistant.tools.api.descriptions import filters_of, models_of, serializer_of
from ai_assistant.tools.api.endpoints import Endpoint
from ai_assistant.types import JSON

DEPTH = 5  # of serializers in serializers


def kept_by(endpoint: Endpoint) -> Kept:
    """Return what of the fields of an endpoint is kept from the assistant."""
    kind = serializer_of(endpoint.view())
    return Kept() if kind is None else _with_fields_of(kind, Kept())


def kept_for(view: Any, kept: Kept) -> Kept:
    """Return what is kept back of a request, whose serializer may depend on it."""
    if not hasattr(view, "get_serializer"):
        return kept
    return _with_fields_of(view.get_serializer, kept)


def kept_in(data: Any, kept: Kept) -> Kept:
    """Return what is kept back of an answer: it has the serializers that made it."""
    if (serializer := getattr(data, "serializer", None)) is not None:
        return _with_fields_of(lambda: serializer, kept)
    if isinstance(data, dict):
        data = [*data.values()]
    for one in data if isinstance(data, list) else ():
        kept = kept_in(one, kept)
    return kept


def _with_fields_of(serializer: Callable[[], Any], kept: Kept) -> Kept:
    nothing: list[tuple[str, Any]] = []
    fields = value_or(nothing, lambda: list(_fields(serializer(), DEPTH)))
    return Kept(
        hidden=kept.hidden.union(name for name, own in fields if _is_hidden(own)),
        fixed=kept.fixed.union(name for name, own in fields if _is_fixed(own)),
        opened=kept.opened.union(name for name, own in fields if _is_opened(own)),
    )


def _fields(serializer: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the name of each field, and the field or the model behind it."""
    inner = getattr(serializer, "child", serializer)
    model = getattr(getattr(inner, "Meta", None), "model", None)
    for name, field in getattr(inner, "fields", {}).items():
        if model is not None and field.source != "*":
            related = getattr(field, "child_relation", field)
            slug = getattr(related, "slug_field", "").split(LOOKUP_SEP)
            path = [*field.source.split("."), *slug]
            yield name, _model_field(model, list(filter(None, path)))
        if isinstance(field, BaseSerializer) and depth:
            own = getattr(field, "child", field)
            yield name, getattr(getattr(own, "Meta", None), "model", None)
            yield from _fields(field, depth - 1)


def _model_field(model: Any, path: list[str]) -> Any:
    """
    Return the last field of a path over relations; None if it is none.

    Or what the assistant is kept from on the way: a field, or a model.
    """
    field = None
    for name in path:
        if model is None or is_sensitive_model(model):
            return model
        try:
            field = model._meta.pk if name == "pk" else model._meta.get_field(name)
        except FieldDoesNotExist:
            return None
        if _is_hidden(field):
            return field
        model = field.related_model
    return field


def _is_hidden(own: Any) -> bool:
    if isinstance(own, type):
        return is_sensitive_model(own) or is_opted_out(own)
    return _is_column(own) and is_sensitive_field(own)


def _is_fixed(own: Any) -> bool:
    if isinstance(own, type):
        return is_read_only(own)
    return _is_column(own) and is_read_only(own.model, None, own.name)


def _is_column(own: Any) -> bool:
    return hasattr(own, "model") and hasattr(own, "attname")


def _is_opened(own: Any) -> bool:
    return _is_column(own) and is_opened_field(own)


# --- what goes in and comes out ---


def masked(value: JSON, kept: Kept) -> Any:
    """Return an answer with the values of such fields masked, at any depth."""
    if isinstance(value, dict):
        return {
            name: HIDDEN
            if item is not None and kept.has(str(name))
            else masked(item, kept)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [masked(item, kept) for item in value]
    return value


def check_body(body: JSON, kept: Kept) -> None:
    """Raise ModelRetry if a body writes such a field."""
    if isinstance(body, dict):
        for name, item in body.items():
            if kept.keeps_as_it_is(str(name)):
                raise ModelRetry(
                    f"The assistant does not write {name[:100]!r}: leave it out."
                )
            check_body(item, kept)
    elif isinstance(body, list):
        for item in body:
            check_body(item, kept)


def check_query(endpoint: Endpoint, query: Any, kept: Kept) -> None:
    """Raise ModelRetry if a parameter filters, orders or searches by such a field."""
    view, models = endpoint.view(), models_of(endpoint)
    filters = filters_of(view)
    orders, searches = _parameters(view)
    for name, value in query.items():
        items = value if isinstance(value, list) else [value]
        asked = [one.strip().lstrip("-") for item in items for one in _words(item)]
        paths = [name]
        for own, one in filters.items():
            if name == own or name.startswith(f"{own}_"):  # price_min, of a range
                paths.append(str(getattr(one, "field_name", "") or own))
            if name == own:
                names = getattr(one, "param_map", {}).items()  # of what orders
                paths += [field for said, field in names if said in asked]
        if name in orders:
            paths += asked
        if name in searches:
            fields = getattr(view, "search_fields", None) or ()
            paths += [str(one).lstrip("^=@$") for one in fields]
        if any(_is_kept_path(path, models, kept) for path in paths):
            raise ModelRetry(
                f"The parameter {name[:100]!r} asks for what is kept from the "
                "assistant: leave it out."
            )


def check_path(endpoint: Endpoint, kept: Kept) -> None:
    """Raise ModelRetry if an address finds its row by such a field."""
    lookup = getattr(endpoint.view(), "lookup_field", "pk")
    own = getattr(endpoint.view(), "lookup_url_kwarg", None) or lookup
    if lookup == "pk" or own not in endpoint.arguments:
        return
    if _is_kept_path(lookup, models_of(endpoint), kept):
        raise ModelRetry(
            f"It finds its row by {lookup!r}, which is kept from the assistant."
        )


def _words(value: Any) -> list[str]:
    return str(value).split(",")


def _parameters(view: Any) -> tuple[set[str], set[str]]:
    """Return the parameters that order, and those that search."""
    orders, searches = {"ordering", "order_by", "sort"}, set()
    for backend in getattr(view, "filter_backends", ()):
        if issubclass(backend, OrderingFilter):
            orders.add(str(backend.ordering_param))
        if issubclass(backend, SearchFilter):
            searches.add(str(backend.search_param))
    return orders, searches


def _is_kept_path(path: str, models: list[Any], kept: Kept) -> bool:
    names = path.split(LOOKUP_SEP)
    if any(map(kept.has, names)):
        return True
    return any(_is_hidden(_column(model, names)) for model in models)


def _column(model: Any, names: list[str]) -> Any:
    """Return the last field of a path; a lookup after it does not count."""
    field = None
    for end in range(1, len(names) + 1):
        found = _model_field(model, names[:end])
        if found is None:
            break
        field = found
    return field
