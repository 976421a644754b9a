"""Fields of a form that a recorded change has written since it was opened."""

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.text import capfirst

from ai_assistant.changes.capture.columns import raw
from ai_assistant.changes.capture.images import object_id, same_value
from ai_assistant.changes.display import plain_text
from ai_assistant.changes.staleness import Part, generic_parts
from ai_assistant.changes.values import concrete, label, meta
from ai_assistant.models.change import RowChange
from ai_assistant.safety.policy.form_limits import form_limits, named_among
from ai_assistant.safety.policy.sensitive import HIDDEN, is_sensitive_field
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.values import names_of, object_name, shown_value
from ai_assistant.tools.data.writing.posting import is_secret
from ai_assistant.web.save_guard.digest import (
    Opened,
    field_names,
    held_value,
    model_field,
    posted_value,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflict:
    """A field that the assistant has changed and that the post would change back."""

    name: str  # in the page
    label: str
    theirs: str
    mine: str
    at: datetime
    by: str  # for whom the assistant did it
    is_touched: bool  # the person has changed it, too
    is_file: bool  # it was uploaded, and has to be chosen again


def conflicts_of(
    page_forms: Iterable[Any], rows: Iterable[RowChange], opened: Opened
) -> Iterator[Conflict]:
    """
    Yield the fields on which the person has to decide.

    `rows` is what runs have recorded since the forms were opened. A field counts if
    it still holds what was written then, and was opened with something else.
    """
    recorded = Recorded(rows, opened)
    for place, form in enumerate(page_forms):
        for name in field_names(form):
            change = _conflict(form, name, recorded, opened)
            if change is not None:
                yield _build_conflict(
                    form, name, change, opened, is_own=bool(opened.key) and place == 0
                )


class Recorded:
    """The last recorded change of each column, by row."""

    def __init__(self, rows: Iterable[RowChange], opened: Opened) -> None:
        self.rows = list(rows)
        self.opened = opened
        self.columns: dict[tuple[str, str, str], RowChange] = {}
        for row in self.rows:
            for attname in row.fields if row.after is not None else ():
                self.columns[row.model, row.object_id, attname] = row

    def of_field(self, form: Any, name: str) -> RowChange | None:
        """Return the change whose value the field still holds."""
        field = model_field(form, name)
        if field is None:
            return self._of_the_form_alone(form, name)
        if field.many_to_many:
            return self._of_links(form, name, field)
        return self._of_column(form, name, field)

    def _of_column(self, form: Any, name: str, field: Any) -> RowChange | None:
        change = self.columns.get((*_key(form.instance, field.model), field.attname))
        if change is None or not _holds(form, name, field, change.after):
            return None
        is_newer = change.change_set.created_at >= self.opened.at
        # One from just before was not seen if the form had the value before that.
        was_before = is_newer or self.opened.had(
            form, name, _form_value(form, name, field, change.before)
        )
        return change if was_before else None

    def _of_links(self, form: Any, name: str, field: Any) -> RowChange | None:
        """Return the newest link made or removed that the post would take back."""
        current = {
            str(getattr(linked, "pk", linked)) for linked in form[name].initial or ()
        }
        posted = set(map(str, posted_value(form, name) or ()))
        newest = self._links(form.instance, field)
        lost = [
            row
            for target, row in newest.items()
            if (row.after is not None) == (target in current)  # as the run left it
            and (target in current) != (target in posted)
        ]
        return lost[-1] if lost else None

    def _links(self, row: Any, field: Any) -> dict[str, RowChange]:
        through = field.remote_field.through
        source, target = (
            meta(through).get_field(name).attname
            for name in (field.m2m_field_name(), field.m2m_reverse_field_name())
        )
        newest: dict[str, RowChange] = {}
        for change in self.rows:
            image = change.after or change.before or {}
            if change.model == label(through) and str(image.get(source)) == str(row.pk):
                key = str(image.get(target))
                newest.pop(key, None)
                newest[key] = change
        return newest

    def _of_the_form_alone(self, form: Any, name: str) -> RowChange | None:
        """Return the newest change of the row, or of one that points to it."""
        if callable(form.fields[name].initial):
            return None  # it is another one each time
        keys = _keys(form.instance)
        rows = [row for row in self.rows if (row.model, row.object_id) in keys]
        return rows[-1] if rows else self._pointing_change(form.instance)

    def _pointing_change(self, row: Any) -> RowChange | None:
        pointing = [
            Part(label(relation.related_model), relation.field.attname)
            for relation in meta(row).get_fields(include_hidden=True)
            if relation.one_to_many or relation.one_to_one
            if relation.auto_created and not relation.concrete
            if not meta(relation.related_model).auto_created
        ]
        parts = {part.table: part for part in (*pointing, *generic_parts(type(row)))}
        rows = [
            change
            for change in self.rows
            if (part := parts.get(change.model))
            and part.names(change.after or change.before or {}, str(row.pk))
        ]
        return rows[-1] if rows else None


def _key(row: Any, model: Any) -> tuple[str, str]:
    """Return table and id of the row that an object has in the table of `model`."""
    link = meta(row).get_ancestor_link(concrete(model))
    key = row.pk if link is None else getattr(row, link.attname)
    return label(model), object_id(model, key)


def _keys(row: Any) -> set[tuple[str, str]]:
    return {_key(row, model) for model in (type(row), *meta(row).all_parents)}


def _holds(form: Any, name: str, field: Any, image: Any) -> bool:
    """Return whether the row still has the image's value, or a form's version."""
    current = raw(field, getattr(form.instance, field.attname))
    if same_value(current, (image or {}).get(field.attname)):
        return True
    return bool(_form_value(form, name, field, image) == held_value(form, name))


def _form_value(form: Any, name: str, field: Any, image: Any) -> Any:
    """Return the form's value if the row had the values of an image."""
    row = copy(form.instance)
    stored = (image or {}).get(field.attname)
    setattr(row, field.attname, value_or(stored, lambda: field.to_python(stored)))
    return value_or(None, lambda: held_value(form, name, row))


def _conflict(
    form: Any,
    name: str,
    recorded: Recorded,
    opened: Opened,
) -> RowChange | None:
    if not _would_change(form, name):
        return None
    if opened.had(form, name, held_value(form, name)):
        return None
    return recorded.of_field(form, name)


def _would_change(form: Any, name: str) -> bool:
    """Return whether the post would change the stored value."""
    bound, field = form[name], model_field(form, name)
    if not bound.field.has_changed(bound.initial, bound.data):
        return False
    if isinstance(bound.field, forms.FileField):
        return True
    if field is not None and not field.many_to_many and field.has_default():
        widget = bound.field.widget
        if widget.value_omitted_from_data(form.data, form.files, bound.html_name):
            return False  # a form of the model leaves it as it is
    return bool(posted_value(form, name) != held_value(form, name))


def _build_conflict(
    form: Any,
    name: str,
    row: RowChange,
    opened: Opened,
    *,
    is_own: bool,
) -> Conflict:
    bound = form[name]
    text = capfirst(str(bound.label))
    owner = meta(form.instance).verbose_name
    user = row.change_set.user
    return Conflict(
        name=bound.html_name,
        label=text if is_own else f"{text} ({owner} “{object_name(form.instance)}”)",
        theirs=_stored_text(form, name),
        mine=_posted_text(form, name),
        at=row.change_set.created_at,
        by="" if user is None else user.get_username(),
        is_touched=not opened.had(form, name, posted_value(form, name)),
        is_file=isinstance(bound.data, UploadedFile),
    )


def _stored_text(form: Any, name: str) -> str:
    field = model_field(form, name)
    if _is_hidden(form, name):
        return HIDDEN
    if field is None:
        return plain_text(form[name].initial)
    limit = form_limits(form, [field]).get(name) if field.is_relation else None
    if field.many_to_many:
        return names_of(_offered(form[name].initial or (), limit))
    value = field.value_from_object(form.instance)
    is_readable = limit is None or value is None
    if not is_readable and not named_among(limit, [value], field.target_field.name):
        return HIDDEN  # what the form does not offer it does not name
    return shown_value(field, form.instance)


def _offered(linked: Iterable[Any], limit: Any) -> list[Any]:
    """Return the linked objects that the form offers."""
    linked = list(linked)
    if limit is None:
        return linked
    offered = named_among(limit, [obj.pk for obj in linked])
    return [obj for obj in linked if obj.pk in offered]


def _posted_text(form: Any, name: str) -> str:
    field, bound = model_field(form, name), form[name]
    if _is_hidden(form, name):
        return HIDDEN
    try:
        value = _cleaned(bound)
    except ValidationError:
        return plain_text(bound.data)
    if field is None or isinstance(bound.field, forms.FileField):
        return plain_text(getattr(value, "name", value) or "")
    if field.many_to_many:
        return names_of(value)
    posted = copy(form.instance)
    field.save_form_data(posted, value)
    return shown_value(field, posted)


def _cleaned(bound: Any) -> Any:
    if isinstance(bound.field, forms.FileField):
        return bound.field.clean(bound.data, bound.initial)
    return bound.field.clean(bound.data)


def _is_hidden(form: Any, name: str) -> bool:
    field = model_field(form, name)
    if field is None:
        return is_secret(form, name)
    return is_sensitive_field(field)
