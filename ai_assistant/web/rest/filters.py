"""Which rows of a list: django-filter, where a value that cannot be read is refused."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.utils.dateparse import parse_datetime
from django_filters import filters
from django_filters import rest_framework as django_filters
from rest_framework.fields import BooleanField

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


class NumberFilter(filters.NumberFilter):  # type: ignore[misc]
    """A whole number."""

    field_class = forms.IntegerField


UUIDFilter = filters.UUIDFilter
CharFilter = filters.CharFilter


class ChoiceFilter(filters.ChoiceFilter):  # type: ignore[misc]
    """One of `choices`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"empty_label": None, **kwargs})
