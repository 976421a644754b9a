"""The difference of a stored change as a table: what a row was, and what it became."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from ai_assistant.models.change import RowChange
from ai_assistant.render.html.hidden import visible
from ai_assistant.safety.sensitive import is_sensitive_field, is_sensitive_model

VALUE_CHARS = 300


def difference(row: RowChange) -> SafeString:
    """Return the fields that differ, old values struck out and new ones marked."""
    model = _model(row.model)
    if model is not None and is_sensitive_model(model):
        return format_html("<p>{}</p>", _("The values of this table are not shown."))
    before, after = _image(row.before), _image(row.after)
    lines = format_html_join(
        "",
        '<tr><th scope="row">{}</th><td>{}</td></tr>',
        (
            (_label(model, name), _values(model, name, before, after))
            for name in _names(row, before, after)
        ),
    )
    return format_html("<table><tbody>{}</tbody></table>", lines)


def _names(
    row: RowChange, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[str]:
    if row.kind == RowChange.Kind.UPDATE and row.fields:
        yield from row.fields
        return
    # Of a row that came or went, all that is not empty.
    for name in dict.fromkeys([*before, *after]):
        if before.get(name, after.get(name)) not in (None, ""):
            yield name


def _values(
    model: type[Model] | None,
    name: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> SafeString:
    if _is_secret(model, name, before.get(name), after.get(name)):
        return format_html("<em>{}</em>", _("not shown"))
    old = _marked("del", before, name)
    new = _marked("ins", after, name)
    return format_html("{} {}", old, new)


def _marked(tag: str, image: Mapping[str, Any], name: str) -> SafeString:
    if name not in image:
        return SafeString("")
    text = str(image[name]) if image[name] is not None else _("nothing")
    short = text if len(text) <= VALUE_CHARS else f"{text[:VALUE_CHARS]} …"
    shown = visible(short)
    if tag == "del":
        return format_html("<del>{}</del>", shown)
    return format_html("<ins>{}</ins>", shown)


def _is_secret(model: type[Model] | None, name: str, *values: object) -> bool:
    # A table that is gone has no fields that could say what is secret.
    sealed = any(isinstance(value, dict) and "$sealed" in value for value in values)
    field = _field(model, name)
    return sealed or (field is not None and is_sensitive_field(field))


def _label(model: type[Model] | None, name: str) -> str:
    field = _field(model, name)
    return str(getattr(field, "verbose_name", "") or name)


def _field(model: type[Model] | None, name: str) -> Any:  # noqa: ANN401 - a field
    if model is None:
        return None
    try:
        return model._meta.get_field(name)  # noqa: SLF001 - Django's public Meta API
    except FieldDoesNotExist:
        by_attname = model._meta.concrete_fields  # noqa: SLF001
        return next((one for one in by_attname if one.attname == name), None)


def _model(label: str) -> type[Model] | None:
    try:
        return apps.get_model(label)
    except (LookupError, ValueError):
        return None


def _image(stored: object) -> Mapping[str, Any]:
    return stored if isinstance(stored, dict) else {}
