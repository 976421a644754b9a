"""What a browser would post of a form: its own values, and those laid over them."""

import json
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib.admin.widgets import (
    ManyToManyRawIdWidget,
    RelatedFieldWidgetWrapper,
)
from django.http import QueryDict
from django.utils.dateparse import parse_datetime

UNKNOWN = "unknown"  # what a NullBooleanSelect posts for None


def post_form(data: QueryDict, form: Any) -> None:  # noqa: ANN401 - a Django form
    """Put into `data` all that a browser would post of `form`, as it is shown."""
    for bound in form:
        field = bound.field
        if isinstance(inner(field.widget), forms.FileInput):
            continue  # an empty choice of a file keeps the old one
        value = field.prepare_value(bound.initial)
        if not field.disabled:
            put(data, bound.html_name, field, value)
        if field.show_hidden_initial:
            _put(data, bound.html_initial_name, field.hidden_widget(), value)


def put(data: QueryDict, name: str, field: forms.Field, value: Any) -> None:  # noqa: ANN401
    """Put `value`, as `field` prepares it for its widget, into `data`."""
    widget = inner(field.widget)
    widget.is_localized = widget.is_localized or field.localize
    _put(data, name, widget, value)


def given_value(field: forms.Field, value: Any) -> Any:  # noqa: ANN401 - JSON
    """
    Return a JSON value as the widget of `field` takes it.

    Times are ISO texts, objects ids, a JSON field may get anything. A list for a
    field of text is written as people write tags.
    """
    if isinstance(field, forms.JSONField):
        return field.prepare_value(parsed(value))
    if isinstance(field, forms.BooleanField | forms.NullBooleanField):
        return truth(value)
    if _takes_many(field):
        return field.prepare_value([_one(part) for part in _listed(value)])
    if isinstance(field, forms.MultiValueField) and isinstance(value, list):
        parts = zip(field.fields, value, strict=False)
        return field.prepare_value([_typed(own, part) for own, part in parts])
    prepared = field.prepare_value(_typed(field, _one(value)))
    if isinstance(field, forms.CharField) and isinstance(prepared, list):
        return ", ".join(map(_tag, prepared))
    return prepared


def inner(widget: Any) -> Any:  # noqa: ANN401 - a widget
    """Return the widget itself, without what the admin puts around it."""
    while isinstance(widget, RelatedFieldWidgetWrapper):
        widget = widget.widget
    return widget


def _put(data: QueryDict, name: str, widget: Any, value: Any) -> None:  # noqa: ANN401
    data.pop(name, None)
    if isinstance(widget, forms.CheckboxInput):
        if widget.check_test(value):
            data[name] = "on"
    elif isinstance(widget, forms.MultiWidget):
        _put_parts(data, name, widget, value)
    elif isinstance(widget, forms.SelectDateWidget):
        for part, text in widget.format_value(value).items():
            data[f"{name}_{part}"] = "" if text is None else str(text)
    else:
        _put_plain(data, name, widget, value)


def _put_parts(
    data: QueryDict,
    name: str,
    widget: Any,  # noqa: ANN401 - a MultiWidget
    value: Any,  # noqa: ANN401
) -> None:
    try:
        parts = value if isinstance(value, list | tuple) else widget.decompress(value)
    except (AttributeError, TypeError, ValueError):
        parts = [value]  # no value of the field, as "9.50" is none of money
    else:
        parts = [*(parts or ()), *[None] * len(widget.widgets)]
    for suffix, part, own in zip(
        widget.widgets_names, parts, widget.widgets, strict=False
    ):
        _put(data, f"{name}{suffix}", inner(own), part)


def _put_plain(data: QueryDict, name: str, widget: Any, value: Any) -> None:  # noqa: ANN401
    if isinstance(widget, ManyToManyRawIdWidget) and not value:
        value = []
    posted = widget.format_value(value)
    if isinstance(posted, list | tuple):
        several = getattr(widget, "allow_multiple_selected", False)
        data.setlist(name, [str(one) for one in (posted if several else posted[:1])])
    else:
        data[name] = "" if posted is None else str(posted)


def _listed(value: Any) -> list[Any]:  # noqa: ANN401
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _one(value: Any) -> Any:  # noqa: ANN401
    """Return an id out of what a tool that reads tells of an object."""
    if isinstance(value, dict) and value.keys() & {"id", "pk"}:
        return value.get("id", value.get("pk"))
    return value


def _tag(value: Any) -> str:  # noqa: ANN401
    """Return the name of a tag as it stands among others."""
    name = str(value.get("text", "") if isinstance(value, dict) else value)
    return f'"{name}"' if {",", " "} & {*name} else name


def _takes_many(field: forms.Field) -> bool:
    many = (forms.ModelMultipleChoiceField, forms.MultipleChoiceField)
    return isinstance(field, many)


def truth(value: Any) -> Any:  # noqa: ANN401
    """Return True, False or None for the words that models write for them."""
    words: dict[str, bool | None] = {"true": True, "on": True, "yes": True, "1": True}
    words |= {"false": False, "off": False, "no": False, "0": False}
    words |= {"null": None, "none": None, "": None, UNKNOWN: None}
    return words.get(value.strip().lower(), value) if isinstance(value, str) else value


def parsed(value: Any) -> Any:  # noqa: ANN401
    """Return the object that a text spells out, if a model sent JSON as text."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _typed(field: forms.Field, value: Any) -> Any:  # noqa: ANN401
    """
    Return a number or a time as a Python value, so that its widget can write it.

    In a language with a comma for decimals, "1.5" would be read as 15. A text that
    is no such value is left to the validation of the form.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    text = str(value).strip()
    try:
        return _read(field, text, value)
    except (ValueError, ArithmeticError, forms.ValidationError):
        return value


def _read(field: forms.Field, text: str, value: Any) -> Any:  # noqa: ANN401
    match field:
        case forms.DateTimeField() | forms.SplitDateTimeField():
            return parse_datetime(text) or datetime.fromisoformat(text)
        case forms.DateField():
            return date.fromisoformat(text)
        case forms.TimeField():
            return time.fromisoformat(text)
        case forms.FloatField() | forms.DecimalField():
            return Decimal(text)
        case forms.IntegerField():
            return int(text)
        case _:
            return value
