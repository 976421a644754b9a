"""Fields that the assistant is kept from, in serializers, filters and lookups."""

from collections.abc import Callable, Iterator
from typing import Any

from django.db.models.constants import LOOKUP_SEP
from rest_framework.filters import OrderingFilter, SearchFilter
from rest_framework.serializers import BaseSerializer

from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.api.base import Kept
from ai_assistant.tools.api.descriptions import filters_of, models_of, serializer_of
from ai_assistant.tools.api.endpoints import Endpoint
from ai_assistant.tools.api.kept import (
    check_found_by,
    check_paths,
    model_field,
    with_fields,
    words_of_value,
)

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
    return with_fields(
        kept, value_or(nothing, lambda: list(_fields(serializer(), DEPTH)))
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
            yield name, model_field(model, list(filter(None, path)))
        if isinstance(field, BaseSerializer) and depth:
            own = getattr(field, "child", field)
            yield name, getattr(getattr(own, "Meta", None), "model", None)
            yield from _fields(field, depth - 1)


def check_query(endpoint: Endpoint, query: Any, kept: Kept) -> None:
    """Raise ModelRetry if a parameter filters, orders or searches by such a field."""
    view, models = endpoint.view(), models_of(endpoint)
    filters = filters_of(view)
    orders, searches = _parameters(view)
    for name, value in query.items():
        asked = words_of_value(value)
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
        check_paths(name, paths, models, kept)


def check_path(endpoint: Endpoint, kept: Kept) -> None:
    """Raise ModelRetry if an address finds its row by such a field."""
    lookup = getattr(endpoint.view(), "lookup_field", "pk")
    own = getattr(endpoint.view(), "lookup_url_kwarg", None) or lookup
    if lookup != "pk" and own in endpoint.arguments:
        check_found_by(lookup, models_of(endpoint), kept)


def _parameters(view: Any) -> tuple[set[str], set[str]]:
    """Return the parameters that order, and those that search."""
    orders, searches = {"ordering", "order_by", "sort"}, set()
    for backend in getattr(view, "filter_backends", ()):
        if issubclass(backend, OrderingFilter):
            orders.add(str(backend.ordering_param))
        if issubclass(backend, SearchFilter):
            searches.add(str(backend.search_param))
    return orders, searches
