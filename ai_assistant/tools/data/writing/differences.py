"""The changes that a posted page would make, field by field, for the approval card."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model
from django.utils.text import capfirst

from ai_assistant.changes.capture.columns import raw
from ai_assistant.changes.capture.images import is_blank, same_value
from ai_assistant.changes.display import plain_text
from ai_assistant.changes.trees import is_place
from ai_assistant.changes.values import SHOWN, ChangeKind, FieldChange, ObjectChange
from ai_assistant.changes.verify.auto_fields import is_drawn
from ai_assistant.safety.policy.form_limits import (
    form_limits,
    named_among,
    names_value,
)
from ai_assistant.safety.policy.sensitive import HIDDEN, is_sensitive_field
from ai_assistant.tools.data.access.values import names_of, object_name, shown_value
from ai_assistant.tools.data.writing.posting import is_secret
from ai_assistant.tools.data.writing.submission import FormSubmission

MOST_LINKS = 5000  # of one many-to-many field that are compared


def listed_objects(
    label: str, kind: ChangeKind, objects: Sequence[Model]
) -> tuple[ObjectChange, ...]:
    """Return the first SHOWN of the objects of the model `label`, without fields."""
    return tuple(
        ObjectChange(
            kind=kind, model=label, object_id=str(obj.pk), text=object_name(obj)
        )
        for obj in objects[:SHOWN]
    )


def object_changes(submitted: FormSubmission) -> list[ObjectChange]:
    """Return the changes of the object of a valid page, and of its inlines."""
    changes = []
    change = _form_change(submitted.form, submitted.obj)
    if change.fields or submitted.adds:
        changes.append(change)
    for formset in submitted.formsets:
        changes.extend(_inline_changes(formset))
    return changes


def form_changes_object(submitted: FormSubmission) -> bool:
    """Return whether a valid form, its inlines aside, changes anything."""
    form, before = submitted.form, submitted.obj
    after, options = form.instance, form._meta.model._meta
    names = (field.attname for field in options.concrete_fields)
    pairs = ((getattr(before, name), getattr(after, name)) for name in names)
    if any(old != new and not is_blank(old, new) for old, new in pairs):
        return True
    return bool(form.changed_data) and any(True for _ in field_changes(form, before))


def removed_inlines(submitted: FormSubmission) -> list[Model]:
    """Return the rows of inlines that a valid page would delete."""
    return [
        form.instance
        for formset in submitted.formsets
        for form in formset.deleted_forms
        if form.instance.pk is not None
    ]


def form_changes(submitted: FormSubmission) -> list[Model]:
    """Return the existing rows that a valid page would write or delete."""
    rows = [] if submitted.obj is None else [submitted.obj]
    rows += removed_inlines(submitted)
    for formset in submitted.formsets:
        deleted = formset.deleted_forms
        rows += [
            form.instance
            for form in formset.initial_forms
            if form.has_changed() and form not in deleted
        ]
    return rows


def _inline_changes(formset: Any) -> Iterator[ObjectChange]:
    deleted = formset.deleted_forms
    for form in formset.initial_forms:
        if form in deleted:
            yield _object_change(form.instance, "delete")
        elif form.has_changed():
            # The form has changed its instance: read the row again.
            before = formset.model._base_manager.get(pk=form.instance.pk)
            change = _form_change(form, before)
            if change.fields:
                yield change
    for form in formset.extra_forms:
        if form.has_changed() and form not in deleted:
            yield _form_change(form, None)


def _form_change(form: Any, before: Model | None) -> ObjectChange:
    fields = tuple(field_changes(form, before))
    if before is None:
        filled = tuple(change for change in fields if change.after)
        return _object_change(form.instance, "create", filled)
    return _object_change(before, "change", fields)


def _object_change(
    obj: Model, kind: ChangeKind, fields: tuple[FieldChange, ...] = ()
) -> ObjectChange:
    return ObjectChange(
        kind=kind,
        model=obj._meta.label_lower,
        object_id="" if kind == "create" else str(obj.pk),
        text=object_name(obj),
        fields=fields,
    )


def field_changes(
    form: Any, before: Model | None, *, with_texts: bool = True
) -> Iterator[FieldChange]:
    """
    Yield the changes of the form in its order, then those of the site's code.

    Texts take long, and are left out without `with_texts`.
    """
    options = form._meta.model._meta
    for name in form.fields:
        try:
            field = options.get_field(name)
        except FieldDoesNotExist:
            yield from _form_only_change(form, name)
            continue
        if field.many_to_many:
            yield from _link_change(form, field, before, with_texts=with_texts)
        elif field.concrete:
            yield from _column_change(form, field, before, with_texts=with_texts)
    if before is not None:
        for field in options.concrete_fields:
            if field.name not in form.fields:
                yield from _column_change(form, field, before, with_texts=with_texts)


def _column_change(
    form: Any, field: Any, before: Model | None, *, with_texts: bool
) -> Iterator[FieldChange]:
    after = form.instance
    value = getattr(after, field.attname)
    old = None if before is None else getattr(before, field.attname)
    # Most columns are the same object or equal; but True is not 1.
    if before is not None and (
        old is value or (type(old) is type(value) and bool(old == value))
    ):
        return
    new, was = raw(field, value), raw(field, old)
    # NULL and an empty text are one to a person.
    if before is not None and (same_value(new, was) or is_blank(new, was)):
        return
    # A default that differs each time was not approved.
    is_default = before is None and field.name not in form.changed_data
    is_expected = not (is_default and is_drawn(field))
    yield FieldChange(
        name=field.name,
        label=_label(form, field.name, field.verbose_name),
        before=_old_text(form, field, before) if with_texts else "",
        after=shown_value(field, after) if with_texts else "",
        attname=field.attname if is_expected else "",
        raw=new if is_expected else None,
        is_place=field.name not in form.fields and is_place(field),
    )


def _link_change(
    form: Any, field: Any, before: Model | None, *, with_texts: bool
) -> Iterator[FieldChange]:
    if field.name not in form.cleaned_data:
        return
    new = list(form.cleaned_data[field.name] or ())[:MOST_LINKS]
    # A tag field is cleaned to names, some of which may be new.
    are_named = not all(isinstance(item, Model) for item in new)
    old = [] if before is None else list(getattr(before, field.name).all()[:MOST_LINKS])
    if are_named:
        is_same = set(map(str, new)) == {object_name(item) for item in old}
    else:
        is_same = {item.pk for item in new} == {item.pk for item in old}
    if is_same:
        return
    texts = ("", "")
    if is_sensitive_field(field):
        texts = (HIDDEN, HIDDEN)
    elif with_texts:
        names = plain_text(sorted(map(str, new))) if are_named else names_of(new)
        texts = (_old_names(form, field, old), names)
    yield FieldChange(
        name=field.name,
        label=_label(form, field.name, field.verbose_name),
        before=texts[0],
        after=texts[1],
        attname=field.name,
        raw=None if are_named else sorted(str(item.pk) for item in new),
    )


def _old_text(form: Any, field: Any, before: Model | None) -> str:
    """Return the old value; hidden if the form does not offer, and so not name, it."""
    if before is not None and (field.is_relation or field.flatchoices):
        limit = form_limits(form, [field]).get(field.name)
        value = getattr(before, field.attname)
        if limit is not None and value and not names_value(limit, field, value):
            return HIDDEN
    return shown_value(field, before)


def _old_names(form: Any, field: Any, old: list[Model]) -> str:
    """Return the names of the old links; without those that the form does not offer."""
    limit = form_limits(form, [field]).get(field.name)
    if limit is None:
        return names_of(old)
    offered = named_among(limit, [item.pk for item in old])
    named = names_of(item for item in old if item.pk in offered)
    return ", ".join(filter(None, (named, HIDDEN if len(offered) < len(old) else "")))


def _form_only_change(form: Any, name: str) -> Iterator[FieldChange]:
    """Yield the change of a field of the form that the model does not have."""
    if name not in form.changed_data:
        return
    before = after = HIDDEN
    if not is_secret(form, name):
        before = plain_text(form.get_initial_for_field(form.fields[name], name))
        after = plain_text(form.cleaned_data.get(name))
    yield FieldChange(name=name, label=_label(form, name), before=before, after=after)


def _label(form: Any, name: str, verbose_name: Any = "") -> str:
    if name in form.fields:
        return capfirst(str(form.fields[name].label or name.replace("_", " ")))
    return capfirst(str(verbose_name))
