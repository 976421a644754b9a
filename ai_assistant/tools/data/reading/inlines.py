"""The inlines on the page of an object, their rows, and the rows within these."""

from copy import copy
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, prefetch_related_objects

from ai_assistant.safety.policy.form_limits import (
    Limits,
    form_limits,
    may_limit,
    values_of_form,
)
from ai_assistant.safety.policy.nested_inlines import (
    MOST_LEVELS,
    nested_formsets,
    nested_inlines,
)
from ai_assistant.safety.site_code import value_or
from ai_assistant.text.unicode import short_value
from ai_assistant.tools.data.access.form_classes import row_forms
from ai_assistant.tools.data.access.model_admin import AdminAccess, is_closed_inline
from ai_assistant.tools.data.access.values import object_text, value_of
from ai_assistant.tools.data.access.visibility import inline_fields
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.reading.inline_rows import InlineRows, Told, read_rows

INLINE_CHARS = 500
MOST_NESTED_ROWS = 200  # of a page, within the rows of its inlines

Pairs = list[tuple[Any, Any]]  # formset classes with their inlines


# --- which there are ---


def open_inlines(access: AdminAccess, obj: Model | None) -> Pairs:
    """
    Return the inlines of the page of `obj` that a tool may show.

    Each with its formset class, as the page has them: the site may hide some.
    """
    return [
        (formset, inline)
        for formset, inline in access.model_admin.get_formsets_with_inlines(
            access.request, obj
        )
        if not is_closed_inline(access.site, inline)
    ]


def open_nested(page: AdminAccess, inline: Any, owner: Any) -> Pairs:
    """Return the inlines in a new row of an inline that a tool may show."""
    pairs = nested_formsets(page.model_admin, inline, page.request, owner)
    return [pair for pair in pairs if not is_closed_inline(page.site, pair[1])]


def inlines_at_any_level(access: AdminAccess, obj: Model | None) -> Pairs:
    """Return the inlines of the page of `obj`, and those in their rows."""
    level = [(obj, *pair) for pair in open_inlines(access, obj)]
    found: Pairs = []
    for _depth in range(MOST_LEVELS + 1):
        found += [(formset, inline) for _owner, formset, inline in level]
        level = [
            (inline.model(), *pair)
            for owner, _formset, inline in level
            for pair in open_nested(access, inline, owner)
        ]
    return found


# --- their rows ---

# What an inline within rows is in: the row, what is told of it, and the inline there.
Owners = list[tuple[Model, Told, Any]]


def inlines_of(page: AdminAccess, obj: Model) -> list[Told]:
    """Return what the page of `obj` shows in inlines, down to the rows within rows."""
    told: list[Told] = []
    level: list[Owners] = []
    for formset, inline in open_inlines(page, obj):
        found = _rows_of_page(page, obj, formset, inline)
        may_change = page.model_admin.has_change_permission(page.request, obj)
        (own,) = _tell(page, [found], may_change=may_change)
        told.append({**own, "label": str(inline.verbose_name_plural)})
        level += _below(page, [found])
    room = MOST_NESTED_ROWS
    for _depth in range(MOST_LEVELS):
        deeper: list[Owners] = []
        for owners in level:
            every = _nested_rows(page, owners, room)
            room -= sum(len(one.rows) for one in every)
            for one, own in zip(every, _tell(page, every), strict=True):
                one.told_in.setdefault("inlines", []).append(own)
            deeper += _below(page, every)
        level = deeper
    return told


def _rows_of_page(
    page: AdminAccess, obj: Model, formset: Any, inline: Any
) -> InlineRows:
    kwargs = page.model_admin.get_formset_kwargs(
        page.request, obj, inline, formset.get_default_prefix()
    )
    queryset = formset(**kwargs).get_queryset()
    found = InlineRows(owner=obj, inline=inline, formset=formset, queryset=queryset)
    found.read()
    return found


def _below(page: AdminAccess, every: list[InlineRows]) -> list[Owners]:
    """Return where the inlines in rows are, for each class of them."""
    found: dict[Any, Owners] = {}
    admin, request = page.model_admin, page.request
    for one in every:
        for nested in nested_inlines(admin, one.inline, request, one.owner):
            if is_closed_inline(page.site, nested):
                continue
            found.setdefault(type(nested), []).extend(
                (row, told, nested)
                for row, told in one.told_rows
                if isinstance(row, nested.parent_model)  # not of another child model
            )
    return list(found.values())


def _nested_rows(page: AdminAccess, owners: Owners, room: int) -> list[InlineRows]:
    """Return the rows of an inline by the row in which they are; `room` at most."""
    request = page.request
    every: list[InlineRows] = []
    for owner, told, inline in owners:
        if not inline.has_view_or_change_permission(request, owner):
            continue
        formset = inline.get_formset(request, owner)
        made = formset(
            instance=owner,
            prefix=formset.get_default_prefix(),
            queryset=inline.get_queryset(request),
        )
        found = InlineRows(
            owner=owner,
            inline=inline,
            formset=formset,
            queryset=made.get_queryset(),
            told_in=told,
        )
        every.append(found)
    with wrong_values():
        read_rows(request, every, room)
    return [one for one in every if one.total]


# --- as they are told ---


@dataclass(frozen=True, slots=True)
class _RowKind:
    """What a page shows of the rows of an inline that are of one class."""

    form_class: Any
    fields: list[Any]
    limited: list[Any]  # of which the form names not all values
    form_only: list[str]  # that the model does not have


Kinds = dict[Any, _RowKind | None]  # by class; None of one that is closed


def _tell(
    page: AdminAccess, every: list[InlineRows], *, may_change: bool = True
) -> list[Told]:
    """Return what is told of the rows of an inline, object by object."""
    kinds = [_kinds(page, one, may_change=may_change) for one in every]
    names: dict[str, None] = {}
    for one, own in zip(every, kinds, strict=True):
        usual = own.get(one.inline.model)
        fields = usual.fields if usual else []
        names |= dict.fromkeys(field.name for field in fields if field.is_relation)
    with wrong_values():
        rows = [row for one in every for row in one.rows]
        prefetch_related_objects(rows, *names)
    return [_told(one, own) for one, own in zip(every, kinds, strict=True)]


def _kinds(page: AdminAccess, found: InlineRows, *, may_change: bool) -> Kinds:
    """Return what is shown of the rows that are there, by their class."""
    if not found.rows:
        return {}
    # What may not be changed the page shows as a text, whatever the form offers.
    may_change &= found.inline.has_change_permission(page.request, found.owner)
    kinds: Kinds = {}
    for model, (form_class, own) in row_forms(found.formset, found.inline).items():
        if is_closed_inline(page.site, own):
            kinds[model] = None
            continue
        fields, form_only = inline_fields(own, page, found.owner, found.formset)
        limited = [field for field in fields if may_change and may_limit(own, field)]
        inputs = form_only if may_change else []
        kinds[model] = _RowKind(form_class, fields, limited, inputs)
    return kinds


def _told(found: InlineRows, kinds: Kinds) -> Told:
    inline = found.inline
    usual = kinds.get(inline.model)
    told_rows = []
    for row in found.rows:
        kind = kinds.get(type(row), usual)
        told_rows.append(_told_row(row, inline, kind))
        if kind is not None:
            found.told_rows.append((row, told_rows[-1]))
    return {
        "name": found.formset.get_default_prefix(),
        "model": inline.opts.label_lower,
        "total": found.total,
        "rows": told_rows,
    }


def _told_row(row: Model, inline: Any, kind: _RowKind | None) -> Told:
    limits: Limits = {}
    only_shown: dict[str, Any] = {}
    if kind is not None and (kind.limited or kind.form_only):
        form = value_or(
            None,
            lambda: kind.form_class(instance=copy(row)),
            "the form of %r could not be made",
            inline,
        )
        limits = form_limits(form, kind.limited)
        only_shown = {} if form is None else values_of_form(form, kind.form_only)
    is_other = type(row)._meta.concrete_model is not inline.opts.concrete_model
    return {
        "id": row.pk,
        **({"model": row._meta.label_lower} if is_other else {}),
        **({"text": object_text(row)} if kind else {}),
        "fields": {
            **{
                field.name: value_of(field, row, INLINE_CHARS, limits)
                for field in (kind.fields if kind else ())
            },
            **{
                name: short_value(value, INLINE_CHARS)
                for name, value in only_shown.items()
            },
        },
    }
