"""
Which rows of a list, and which page of them.

The filters are those of django-filter, but a value that cannot be read is refused.
"""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core import signing
from django.db.models import Q
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django_filters import filters
from django_filters import rest_framework as django_filters
from rest_framework.exceptions import ValidationError
from rest_framework.fields import BooleanField, IntegerField
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from ai_assistant.exceptions import Refused

# Beyond these a moment cannot be told in every time zone.
FIRST, LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)

FilterBackend = django_filters.DjangoFilterBackend


class FilterSet(django_filters.FilterSet):  # type: ignore[misc]  # without types
    """The filters of a list; any other parameter is refused by its view."""


class _MomentField(forms.DateTimeField):
    def to_python(self, value: Any) -> Any:
        try:
            moment = parse_datetime(value) if value else None
        except ValueError:
            moment = None
        if value and not (moment and moment.tzinfo and FIRST <= moment < LAST):
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return moment


class _FlagField(forms.Field):
    def to_python(self, value: Any) -> Any:
        if value in (None, ""):
            return None
        if value not in BooleanField.TRUE_VALUES | BooleanField.FALSE_VALUES:
            sentence = BooleanField.default_error_messages["invalid"]
            raise forms.ValidationError(sentence, code="invalid")
        return value in BooleanField.TRUE_VALUES


class MomentFilter(filters.IsoDateTimeFilter):  # type: ignore[misc]
    """A moment with its offset."""

    field_class = _MomentField


class FlagFilter(filters.BooleanFilter):  # type: ignore[misc]
    """True or false, and nothing else."""

    field_class = _FlagField


class ConditionFilter(FlagFilter):
    """True: the rows that meet a condition; false: all others."""

    def __init__(self, condition: Q, **options: Any) -> None:
        super().__init__(**options)
        self.condition = condition

    def filter(self, qs: Any, value: Any) -> Any:
        """Return the rows."""
        if value is None:
            return qs
        return qs.filter(self.condition if value else ~self.condition)


class NumberFilter(filters.NumberFilter):  # type: ignore[misc]
    """A whole number."""

    field_class = forms.IntegerField


UUIDFilter = filters.UUIDFilter
CharFilter = filters.CharFilter
ChoiceFilter = filters.ChoiceFilter


def names_of(name: str, field: forms.Field) -> set[str]:
    """Return the names of the parameters that the field of a filter reads."""
    widget: Any = field.widget
    if hasattr(widget, "suffixed"):  # of django-filter: a range, for example
        return {widget.suffixed(name, suffix) for suffix in widget.suffixes}
    if hasattr(widget, "widgets_names"):  # of Django, for several inputs
        return {name + suffix for suffix in widget.widgets_names}
    return {name}


def ordering_of(view: Any) -> tuple[str, ...]:
    """Return the ordering of a view, of which DRF takes a text too."""
    return (view.ordering,) if isinstance(view.ordering, str) else tuple(view.ordering)


class SignedCursorPagination(CursorPagination):
    """
    Pages in the order of the rows.

    Cursors are signed: what this server has not made never reaches a query.
    """

    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"
    template = None
    cursor_query_description = "From `next` or `previous` of another page."
    page_size_query_description = "How many rows a page has."

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> Any:
        """Return that of a filter, else of the view; its last field orders equal rows."""
        ordering = tuple(queryset.query.order_by) or ordering_of(view)
        is_whole = ordering[-1].lstrip("-") in ("pk", queryset.model._meta.pk.name)
        return ordering if is_whole else (*ordering, "pk")

    def get_page_size(self, request: Request) -> int:
        """Return the size that was asked for. Raise ValidationError."""
        value = request.query_params.get(self.page_size_query_param, self.page_size)
        size = IntegerField(min_value=1, max_value=self.max_page_size)
        try:
            return int(size.run_validation(value))
        except ValidationError as error:
            raise ValidationError({self.page_size_query_param: error.detail}) from error

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return where the page begins. Raise Refused bad_cursor."""
        signed = request.query_params.get(self.cursor_query_param)
        if signed is None:
            return None
        try:
            return Cursor(*signing.loads(signed, salt=self.salt))
        except signing.BadSignature as error:
            sentence = _("This cursor does not belong to this list. Start without one.")
            raise Refused("bad_cursor", sentence) from error

    def encode_cursor(self, cursor: Cursor) -> str:
        """Return the address of the page that begins at `cursor`."""
        signed = signing.dumps(tuple(cursor), salt=self.salt)
        return replace_query_param(str(self.base_url), self.cursor_query_param, signed)

    @property
    def salt(self) -> str:
        """What keeps the cursors of two orderings apart."""
        return f"ai_assistant.api.{'.'.join(self.ordering)}"

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """Return both parameters, with the bounds of the size."""
        cursor, size = super().get_schema_operation_parameters(view)
        bounds = {"minimum": 1, "maximum": self.max_page_size}
        size["schema"] |= {**bounds, "default": self.page_size}
        return [cursor, size]

    def get_paginated_response_schema(self, schema: Any) -> dict[str, Any]:
        """Return what a page is: all of it is there."""
        page: dict[str, Any] = super().get_paginated_response_schema(schema)
        return {**page, "required": ["next", "previous", "results"]}
