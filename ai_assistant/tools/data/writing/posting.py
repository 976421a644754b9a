"""What a browser would post of a form: its own values, and those laid over them."""

import json
from collections.abc import Iterable, Iterator
from copy import deepcopy
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib.admin.widgets import (
    ManyToManyRawIdWidget,
    RelatedFieldWidgetWrapper,
)
from django.core.exceptions import FieldDoesNotExist
from django.db.models import JSONField, Model
from django.http import QueryDict
from django.utils.dateparse import parse_datetime

from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy.sensitive import (
    HIDDEN,
    is_opened_field,
    is_secret_name,
    is_sensitive_field,
    secrets_in,
)
from ai_assistant.tools.data.access.fields import is_open_field, is_own
from ai_assistant.tools.data.access.model_admin import is_closed

MOST_NAMED = 40


def check_names(form: Any, names: Iterable[str], fixed: Iterable[str] = ()) -> None:
    """
    Make sure that the form takes each of `names` from the assistant.

    `fixed` are fields of the form that nobody fills in. Raise ModelRetry that names
    the fields which may be given.
    """
    may = [name for name in fillable_fields(form) if name not in set(fixed)]
    wrong = sorted(set(names) - set(may))
    if not wrong:
        return
    verbose = form._meta.model._meta.verbose_name
    named = ", ".join(repr(name[:100]) for name in wrong[:MOST_NAMED])
    fields = ", ".join(may[:MOST_NAMED]) or "none"
    raise ModelRetry(
        f"{named} of {verbose} cannot be given: not a field of its form, read-only, "
        f"or kept from the assistant. Fields that can be given: {fields}."
    )


def fillable_fields(form: Any) -> Iterator[str]:
    """Yield the names of the fields of `form` that the assistant may fill in."""
    for name, field in form.fields.items():
        is_file = isinstance(unwrapped_widget(field.widget), forms.FileInput)
        if not (is_file or field.disabled or is_secret(form, name)):
            yield name


def laid_value(form: Any, name: str, value: Any) -> Any:
    """
    Return what is given for a field as its widget takes it.

    What stands under secret keys of JSON stays as it is: told as "•••", and given
    back so. Raise ModelRetry if it would become something else.
    """
    field = form.fields[name]
    old, new = form.get_initial_for_field(field, name), decode_json_text(value)
    before, found = secrets_in(old), secrets_in(new)
    if not (before or found) or _is_opened(form, name):
        if new is None:
            _check_null(form, name)
        return given_value(field, value)
    new = deepcopy(new)
    for path, item in found.items():
        if item == HIDDEN and path in before:
            _set(new, path, before[path])
    if secrets_in(new) != before:
        raise ModelRetry(
            f"{name!r} has keys that are kept from the assistant, or would get some. "
            f"Give the whole value with those that are there as {HIDDEN!r}, and no "
            "others."
        )
    return given_value(field, new)


def _check_null(form: Any, name: str) -> None:
    """
    Make sure that null is given to a JSON column only where it takes one.

    A form makes NULL of it and is valid; the page would fail as it saves.
    """
    own = _field(form, name)
    if isinstance(own, JSONField) and not own.null:
        raise ModelRetry(f"{name!r} cannot be null: give an empty {{}} or [] instead.")


def _is_opened(form: Any, name: str) -> bool:
    own = _field(form, name)
    return own is not None and is_opened_field(own)


def _field(form: Any, name: str) -> Any:
    try:
        return form._meta.model._meta.get_field(name)
    except FieldDoesNotExist:
        return None


def _set(value: Any, path: tuple[Any, ...], item: Any) -> None:
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = item


def is_secret(form: Any, name: str) -> bool:
    """Tell whether the field of a form is one that no tool may write."""
    model = form._meta.model
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        field = None
    if field is not None and is_own(field):
        return not is_open_field(field)
    # A field of the form alone.
    links = getattr(form.fields[name], "queryset", None)
    return is_secret_name(name) or (
        links is not None
        and (is_closed(links.model) or _links_rights(model, links.model))
    )


def _links_rights(one: type[Model], other: type[Model]) -> bool:
    """Tell whether rows of the two are linked by a field that no tool may write."""
    sides = (one, other), (other, one)
    return any(
        is_sensitive_field(many) and _is_of(end, many.related_model)
        for start, end in sides
        for many in start._meta.many_to_many
    )


def _is_of(model: type[Model], table: Any) -> bool:
    """Tell whether rows of the model are rows of the table, or of a child of it."""
    concrete = table._meta.concrete_model
    own = model._meta.concrete_model or model
    return issubclass(own, concrete)


UNKNOWN = "unknown"  # what a NullBooleanSelect posts for None


def post_form(data: QueryDict, form: Any) -> None:
    """Put into `data` all that a browser would post of `form`, as it is shown."""
    for bound in form:
        field = bound.field
        if isinstance(unwrapped_widget(field.widget), forms.FileInput):
            continue  # an empty choice of a file keeps the old one
        value = field.prepare_value(bound.initial)
        if not field.disabled:
            put_posted_value(data, bound.html_name, field, value)
        if field.show_hidden_initial:
            _put(data, bound.html_initial_name, field.hidden_widget(), value)


def put_posted_value(
    data: QueryDict, name: str, field: forms.Field, value: Any
) -> None:
    """Put `value`, as `field` prepares it for its widget, into `data`."""
    widget = unwrapped_widget(field.widget)
    widget.is_localized = widget.is_localized or field.localize
    _put(data, name, widget, value)


def given_value(field: forms.Field, value: Any) -> Any:
    """
    Return a JSON value as the widget of `field` takes it.

    Times are ISO texts, objects ids, a JSON field may get anything. A list for a
    field of text is written as people write tags.
    """
    if isinstance(field, forms.JSONField):
        return field.prepare_value(decode_json_text(value))
    if isinstance(field, forms.BooleanField | forms.NullBooleanField):
        return boolean_from_words(value)
    if _takes_many(field):
        return field.prepare_value([_one(part) for part in _listed(value)])
    if isinstance(field, forms.MultiValueField) and isinstance(value, list):
        parts = zip(field.fields, value, strict=False)
        return field.prepare_value([_typed(own, part) for own, part in parts])
    prepared = field.prepare_value(_typed(field, _one(value)))
    if isinstance(field, forms.CharField) and isinstance(prepared, list):
        return ", ".join(map(_tag, prepared))
    return prepared


def unwrapped_widget(widget: Any) -> Any:
    """Return the widget itself, without what the admin puts around it."""
    while isinstance(widget, RelatedFieldWidgetWrapper):
        widget = widget.widget
    return widget


def _put(data: QueryDict, name: str, widget: Any, value: Any) -> None:
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
    widget: Any,
    value: Any,
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
        _put(data, f"{name}{suffix}", unwrapped_widget(own), part)


def _put_plain(data: QueryDict, name: str, widget: Any, value: Any) -> None:
    if isinstance(widget, ManyToManyRawIdWidget) and not value:
        value = []
    posted = widget.format_value(value)
    if isinstance(posted, list | tuple):
        several = getattr(widget, "allow_multiple_selected", False)
        data.setlist(name, [str(one) for one in (posted if several else posted[:1])])
    else:
        data[name] = "" if posted is None else str(posted)


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _one(value: Any) -> Any:
    """Return an id out of what a tool that reads tells of an object."""
    if isinstance(value, dict) and value.keys() & {"id", "pk"}:
        return value.get("id", value.get("pk"))
    return value


def _tag(value: Any) -> str:
    """Return the name of a tag as it stands among others."""
    name = str(value.get("text", "") if isinstance(value, dict) else value)
    return f'"{name}"' if {",", " "} & {*name} else name


def _takes_many(field: forms.Field) -> bool:
    many = (forms.ModelMultipleChoiceField, forms.MultipleChoiceField)
    return isinstance(field, many)


def boolean_from_words(value: Any) -> Any:
    """Return True, False or None for the words that models write for them."""
    words: dict[str, bool | None] = {"true": True, "on": True, "yes": True, "1": True}
    words |= {"false": False, "off": False, "no": False, "0": False}
    words |= {"null": None, "none": None, "": None, UNKNOWN: None}
    return words.get(value.strip().lower(), value) if isinstance(value, str) else value


def decode_json_text(value: Any) -> Any:
    """Return the object that a text spells out, if a model sent JSON as text."""
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _typed(field: forms.Field, value: Any) -> Any:
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


def _read(field: forms.Field, text: str, value: Any) -> Any:
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
