"""What a posted page would change, field by field, for the card that asks."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model
from django.utils.text import capfirst

from ai_assistant.changes.capture.images import raw, same_value
from ai_assistant.changes.values import ChangeKind, FieldChange, ObjectChange
from ai_assistant.changes.verify.auto_fields import is_drawn
from ai_assistant.safety.policy.sensitive import HIDDEN, is_sensitive_field
from ai_assistant.tools.data.access.values import (
    names_of,
    object_name,
    plain_text,
    shown_value,
)
from ai_assistant.tools.data.writing.posting import is_secret
from ai_assistant.tools.data.writing.submission import FormSubmission

MOST_LINKS = 5000  # of one many-to-many field that are compared


def object_changes(submitted: FormSubmission) -> list[ObjectChange]:
    """Return the object of a valid page and its inlines, as far as they change."""
    found = []
    own = _change(submitted.form, submitted.obj)
    if own.fields or submitted.adds:
        found.append(own)
    for formset in submitted.formsets:
        found.extend(_inline_changes(formset))
    return found


def row_changes(submitted: FormSubmission) -> list[FieldChange]:
    """Return what changes in the object itself, without texts, which take long."""
    return list(_field_changes(submitted.form, submitted.obj, shows=False))


def form_changes_object(submitted: FormSubmission) -> bool:
    """Tell whether a valid page of an object, without inlines, changes anything."""
    form, before = submitted.form, submitted.obj
    after, options = form.instance, form._meta.model._meta
    names = (field.attname for field in options.concrete_fields)
    if any(getattr(before, name) != getattr(after, name) for name in names):
        return True
    return bool(form.changed_data) and any(True for _ in _field_changes(form, before))


def removed_inlines(submitted: FormSubmission) -> list[Model]:
    """Return the rows of inlines that a valid page would delete."""
    return [
        form.instance
        for formset in submitted.formsets
        for form in _deleted(formset)
        if form.instance.pk is not None
    ]


def form_changes(submitted: FormSubmission) -> list[Model]:
    """Return the rows that are there and that a valid page would write or delete."""
    rows = [] if submitted.obj is None else [submitted.obj]
    rows += removed_inlines(submitted)
    for formset in submitted.formsets:
        gone = _deleted(formset)
        rows += [
            form.instance
            for form in formset.initial_forms
            if form.has_changed() and form not in gone
        ]
    return rows


def _inline_changes(formset: Any) -> Iterator[ObjectChange]:
    gone = _deleted(formset)
    for form in formset.initial_forms:
        if form in gone:
            yield _object(form.instance, "delete", ())
        elif form.has_changed():
            changed = _change(form, _as_it_is(formset, form))
            if changed.fields:
                yield changed
    for form in formset.extra_forms:
        if form.has_changed() and form not in gone:
            yield _change(form, None)


def _deleted(formset: Any) -> list[Any]:
    return list(formset.deleted_forms) if formset.can_delete else []


def _as_it_is(formset: Any, form: Any) -> Model:
    """Return the row of an inline afresh: its form has changed the instance."""
    return formset.model._base_manager.get(pk=form.instance.pk)  # type: ignore[no-any-return]


def _change(form: Any, before: Model | None) -> ObjectChange:
    fields = tuple(
        change
        for change in _field_changes(form, before)
        if before is not None or change.after
    )
    return _object(before or form.instance, "change" if before else "create", fields)


def _object(
    obj: Model, kind: ChangeKind, fields: tuple[FieldChange, ...]
) -> ObjectChange:
    return ObjectChange(
        kind=kind,
        model=obj._meta.label_lower,
        object_id="" if kind == "create" else str(obj.pk),
        text=object_name(obj),
        fields=fields,
    )


def _field_changes(
    form: Any,
    before: Model | None,
    *,
    shows: bool = True,
) -> Iterator[FieldChange]:
    """Yield what differs: of the form in its order, then what the site's code set."""
    options = form._meta.model._meta
    seen = set()
    for name in form.fields:
        seen.add(name)
        try:
            field = options.get_field(name)
        except FieldDoesNotExist:
            yield from _of_the_form_alone(form, name)
            continue
        if field.many_to_many:
            yield from _links(form, field, before, shows=shows)
        elif field.concrete:
            yield from _column(form, field, before, shows=shows)
    if before is not None:
        for field in options.concrete_fields:
            if field.name not in seen:
                yield from _column(form, field, before, shows=shows)


def _column(
    form: Any,
    field: Any,
    before: Model | None,
    *,
    shows: bool,
) -> Iterator[FieldChange]:
    after = form.instance
    if before is not None and _is_kept(field, before, after):
        return
    new = raw(field, getattr(after, field.attname))
    if before is not None and same_value(
        new, raw(field, getattr(before, field.attname))
    ):
        return
    # Nobody has asked for a default that is another one each time.
    is_left = before is None and field.name not in form.changed_data
    is_known = not (is_left and is_drawn(field))
    yield FieldChange(
        name=field.name,
        label=_label(form, field),
        before=shown_value(field, before) if shows else "",
        after=shown_value(field, after) if shows else "",
        attname=field.attname if is_known else "",
        raw=new if is_known else None,
    )


def _is_kept(field: Any, before: Model, after: Model) -> bool:
    """Tell at once of most columns that they stay; True and 1 are not the same."""
    old, new = getattr(before, field.attname), getattr(after, field.attname)
    return old is new or (type(old) is type(new) and bool(old == new))


def _links(
    form: Any,
    field: Any,
    before: Model | None,
    *,
    shows: bool,
) -> Iterator[FieldChange]:
    if field.name not in form.cleaned_data:
        return
    chosen = list(form.cleaned_data[field.name] or ())[:MOST_LINKS]
    # A field of tags is cleaned to their names: some of them may be new.
    are_named = not all(isinstance(one, Model) for one in chosen)
    old = [] if before is None else list(getattr(before, field.name).all()[:MOST_LINKS])
    if are_named:
        is_same = set(map(str, chosen)) == {object_name(one) for one in old}
    else:
        is_same = {one.pk for one in chosen} == {one.pk for one in old}
    if is_same:
        return
    hidden = is_sensitive_field(field)
    names = plain_text(sorted(map(str, chosen))) if are_named else names_of(chosen)
    yield FieldChange(
        name=field.name,
        label=_label(form, field),
        before=HIDDEN if hidden else names_of(old) if shows else "",
        after=HIDDEN if hidden else names if shows else "",
        attname=field.name,
        raw=None if are_named else sorted(str(one.pk) for one in chosen),
    )


def _of_the_form_alone(form: Any, name: str) -> Iterator[FieldChange]:
    """Yield a field that the form has beside those of the model, if it was filled."""
    if name not in form.changed_data:
        return
    hidden = is_secret(form, name)
    yield FieldChange(
        name=name,
        label=_named(form, name),
        before=HIDDEN
        if hidden
        else plain_text(form.get_initial_for_field(form.fields[name], name)),
        after=HIDDEN if hidden else plain_text(form.cleaned_data.get(name)),
    )


def _label(form: Any, field: Any) -> str:
    if field.name in form.fields:
        return _named(form, field.name)
    return capfirst(str(field.verbose_name))


def _named(form: Any, name: str) -> str:
    return capfirst(str(form.fields[name].label or name.replace("_", " ")))
