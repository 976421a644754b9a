"""The data a browser would post for a form: its values, overridden by new ones."""

import json
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import FieldDoesNotExist
from django.db.models import JSONField
from django.http import QueryDict
from django.utils.dateparse import parse_datetime

from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy import sensitive
from ai_assistant.safety.policy.form_limits import unwrapped_widget
from ai_assistant.tools.data.access.form_classes import links_secrets
from ai_assistant.tools.data.access.visibility import is_forward_field, is_open_field
from ai_assistant.tools.data.writing.widgets import (
    localize,
    put_posted_value,
    replace_pairs,
    shown_pairs,
)

INPUTS_NAMED = 40
UNKNOWN = "unknown"  # what a NullBooleanSelect posts for None
BOOLEANS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "on", "yes", "1"), True),
    **dict.fromkeys(("false", "off", "no", "0"), False),
    **dict.fromkeys(("null", "none", "", UNKNOWN), None),
}
# The first that matches: a FloatField is an IntegerField.
READERS: tuple[tuple[Any, Callable[[str], Any]], ...] = (
    (
        (forms.DateTimeField, forms.SplitDateTimeField),
        lambda text: parse_datetime(text) or datetime.fromisoformat(text),
    ),
    (forms.DateField, date.fromisoformat),
    (forms.TimeField, time.fromisoformat),
    ((forms.FloatField, forms.DecimalField), Decimal),
    (forms.IntegerField, int),
)


# --- allowed fields ---


def check_names(
    form: Any, shown: Iterable[str], names: Iterable[str], model_admin: Any
) -> None:
    """
    Make sure that the assistant may fill in these fields of the form of a ModelAdmin.

    `shown` are those that the page has inputs for. Raise ModelRetry that names the
    allowed fields.
    """
    model = form._meta.model
    allowed = [
        name
        for name in shown
        if _is_fillable(form, name)
        and not sensitive.is_read_only(model, model_admin, name)
    ]
    unknown = sorted(set(names) - set(allowed))
    if not unknown:
        return
    verbose = form._meta.model._meta.verbose_name
    refused = ", ".join(repr(name[:100]) for name in unknown[:INPUTS_NAMED])
    fields = ", ".join(allowed[:INPUTS_NAMED]) or "none"
    raise ModelRetry(
        f"{refused} of {verbose} cannot be given: not a field of its form, read-only, "
        f"or kept from the assistant. Fields that can be given: {fields}."
    )


def _is_fillable(form: Any, name: str) -> bool:
    field = form.fields[name]
    is_file = isinstance(unwrapped_widget(field.widget), forms.FileInput)
    return not (is_file or field.disabled or is_secret(form, name))


def is_secret(form: Any, name: str) -> bool:
    """Return whether the field of a form is one that no tool may write."""
    field = _model_field(form, name)
    if field is not None and is_forward_field(field):
        return not is_open_field(field)
    # A field of the form alone.
    is_named_so = sensitive.is_secret_name(name)
    return is_named_so or links_secrets(form._meta.model, form.fields[name])


def _model_field(form: Any, name: str) -> Any:
    try:
        return form._meta.model._meta.get_field(name)
    except FieldDoesNotExist:
        return None


# --- posted data ---


def post_form(
    data: QueryDict, form: Any, names: Iterable[str], *, is_limited: bool = True
) -> None:
    """
    Put what a browser posts for these fields of `form`, as they are shown.

    If not `is_limited`, also choices that are there and not offered.
    """
    for bound in map(form.__getitem__, names):
        field = bound.field
        if isinstance(unwrapped_widget(field.widget), forms.FileInput):
            continue  # an empty choice of a file keeps the old one
        value = field.prepare_value(bound.initial)
        if not field.disabled:
            localize(field)
            name = bound.html_name
            pairs = shown_pairs(field.widget, name, value, is_limited=is_limited)
            replace_pairs(data, pairs, [name])
        if field.show_hidden_initial:
            hidden = field.hidden_widget()
            pairs = shown_pairs(hidden, bound.html_initial_name, value)
            replace_pairs(data, pairs, [bound.html_initial_name])


def post_values(data: QueryDict, form: Any, values: Mapping[str, Any]) -> None:
    """Put `values`, which are arguments of a call, into `data`."""
    for name, value in values.items():
        bound = form[name]
        shown = bound.field.prepare_value(bound.initial)
        put_posted_value(
            data,
            bound.html_name,
            bound.field,
            _new_value(form, name, value),
            shown=shown,
        )


def _new_value(form: Any, name: str, value: Any) -> Any:
    """
    Return the new value of a field as its widget takes it.

    Values under secret keys of JSON are shown as "•••", and stay as they are if they
    are sent back so. Raise ModelRetry if one would change.
    """
    field, column = form.fields[name], _model_field(form, name)
    old, new = form.get_initial_for_field(field, name), decode_json_text(value)
    before, after = sensitive.secrets_in(old), sensitive.secrets_in(new)
    is_opened = column is not None and sensitive.is_opened_field(column)
    if is_opened or not (before or after):
        # A form makes NULL of it and is valid; the page would fail as it saves.
        if new is None and isinstance(column, JSONField) and not column.null:
            raise ModelRetry(
                f"{name!r} cannot be null: give an empty {{}} or [] instead."
            )
        return _prepared(field, value)
    new = deepcopy(new)
    for path, item in after.items():
        if item == sensitive.HIDDEN and path in before:
            parent = new
            for step in path[:-1]:
                parent = parent[step]
            parent[path[-1]] = before[path]
    if sensitive.secrets_in(new) != before:
        raise ModelRetry(
            f"{name!r} has keys that are kept from the assistant, or would get some. "
            "Give the whole value with those that are there as "
            f"{sensitive.HIDDEN!r}, and no others."
        )
    return _prepared(field, new)


def _prepared(field: forms.Field, value: Any) -> Any:
    """
    Return a JSON value as the widget of `field` takes it.

    Times are ISO texts, objects are ids, a JSON field takes anything. A list for a
    text field is written as people write tags.
    """
    if isinstance(field, forms.JSONField):
        return field.prepare_value(decode_json_text(value))
    if isinstance(field, forms.BooleanField | forms.NullBooleanField):
        return boolean_from_words(value)
    if isinstance(field, forms.ModelMultipleChoiceField | forms.MultipleChoiceField):
        items = [] if value is None else value
        if not isinstance(items, list | tuple):
            items = [items]
        return field.prepare_value([_object_id(item) for item in items])
    if isinstance(field, forms.MultiValueField) and isinstance(value, list):
        parts = zip(field.fields, value, strict=False)
        return field.prepare_value([_typed(inner, part) for inner, part in parts])
    prepared = field.prepare_value(_typed(field, _object_id(value)))
    if isinstance(field, forms.CharField) and isinstance(prepared, list):
        return ", ".join(map(_tag, prepared))
    return prepared


def _object_id(value: Any) -> Any:
    """Return the id of an object as a tool that reads returns it."""
    if isinstance(value, dict) and value.keys() & {"id", "pk"}:
        return value.get("id", value.get("pk"))
    return value


def _tag(value: Any) -> str:
    """Return the name of a tag as it stands among others."""
    name = str(value.get("text", "") if isinstance(value, dict) else value)
    return f'"{name}"' if {",", " "} & {*name} else name


def boolean_from_words(value: Any) -> Any:
    """Return True, False or None for the words that models write for them."""
    if not isinstance(value, str):
        return value
    return BOOLEANS.get(value.strip().lower(), value)


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
    Return a number or a time as a Python value, so that its widget can format it.

    In a language with a comma for decimals, "1.5" would be read as 15. Any other
    text is left to the validation of the form.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    text = str(value).strip()
    try:
        for kinds, read in READERS:
            if isinstance(field, kinds):
                return read(text)
    except (ValueError, ArithmeticError):
        pass
    return value
