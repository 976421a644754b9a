"""Changed rows as a person reads them: each with its fields, and all in one line."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ai_assistant.changes.capture.columns import is_sealed
from ai_assistant.changes.display import display_value, with_currency
from ai_assistant.changes.trees import is_place
from ai_assistant.changes.values import (
    CHANGE_KINDS,
    FieldChange,
    ObjectChange,
    Related,
    model_name,
    model_of_label,
)
from ai_assistant.models.change import RowChange
from ai_assistant.safety.site_code import value_or
from ai_assistant.text.direction import isolate
from ai_assistant.text.hidden_characters import mark_hidden_characters
from ai_assistant.tools.data.access.values import object_name

Images = Iterable[tuple[Any, Mapping[str, Any]]]  # a model, and values by attname
MOST_NAMES = 200  # of related objects that are looked up, of each model


class RelatedNames:
    """Names of related objects: one query for each model, however many rows."""

    def __init__(self, images: Images) -> None:
        wanted: dict[Any, set[str]] = defaultdict(set)
        for model, image in images:
            for field in model._meta.concrete_fields:
                value = image.get(field.attname)
                if field.is_relation and _is_key(value):
                    wanted[field.related_model].add(str(value))
        self._names = {
            model: _names(model, sorted(keys)[:MOST_NAMES])
            for model, keys in wanted.items()
        }

    def name(self, model: Any, key: Any) -> str:
        """Return the object's name; its key if it is gone."""
        return self._names.get(model, {}).get(str(key), f"#{key}")


def value_text(field: Any, value: Any, names: RelatedNames) -> str:
    """Return the JSON value of a column as text; empty for NULL."""
    if is_sealed(value):
        return _("hidden")
    if field.is_relation and _is_key(value):
        return names.name(field.related_model, value)
    return display_value(field, value)


def shown_fields(row: RowChange, model: Any) -> list[Any]:
    """Return the fields of a row that show what happened to it."""
    columns = model._meta.concrete_fields
    if row.kind == RowChange.Kind.UPDATE:
        return [field for field in columns if field.attname in row.fields]
    if row.kind != RowChange.Kind.CREATE:
        return []
    after = row.after or {}
    return [
        field
        for field in columns
        if not field.primary_key and after.get(field.attname) not in (None, "")
    ]


def _is_key(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _names(model: Any, keys: list[str]) -> dict[str, str]:
    def read() -> dict[str, str]:
        found = model._base_manager.filter(pk__in=keys)
        return {str(one.pk): object_name(one) for one in found}

    return value_or({}, read)  # its table may be gone


LINKS = (RowChange.Kind.M2M_ADD, RowChange.Kind.M2M_REMOVE)


def readable_rows(rows: Sequence[RowChange]) -> list[ObjectChange]:
    """Return what happened to each row, as a person reads it: nothing sealed."""
    names = names_of_rows(rows)
    return [readable_change(row, names) for row in rows]


def names_of_rows(rows: Iterable[RowChange]) -> RelatedNames:
    """Return the names of all objects that changed rows refer to."""
    return RelatedNames(
        (model, image)
        for row in rows
        if (model := model_of_label(row.model)) is not None
        for image in (row.before or {}, row.after or {})
    )


def readable_change(row: RowChange, names: RelatedNames) -> ObjectChange:
    """Return what happened to one row; `names` are those of all rows."""
    model = model_of_label(row.model)
    is_known = model is not None and row.has_images
    fields = _fields(row, model, names) if is_known else ()
    return ObjectChange(
        kind=CHANGE_KINDS[row.kind],
        model=row.model,
        object_id=row.object_id,
        text=row.text or (f"#{row.object_id}" if row.kind not in LINKS else ""),
        fields=tuple(fields),
    )


def _fields(row: RowChange, model: Any, names: RelatedNames) -> Iterable[FieldChange]:
    before, after = row.before or {}, row.after or {}
    fields = shown_fields(row, model)
    if row.kind in LINKS:
        fields = [one for one in model._meta.concrete_fields if one.is_relation]
    for field in fields:
        old = value_text(field, before.get(field.attname), names)
        new = value_text(field, after.get(field.attname), names)
        yield FieldChange(
            name=field.name,
            label=capfirst(str(field.verbose_name)),
            before=with_currency(old, field, before),
            after=with_currency(new, field, after),
            raw=after.get(field.attname) if field.is_relation else None,
            is_place=is_place(field),
        )


# --- in one line ---

VALUE_CHARS = 40  # of a value that is said
MOST_VALUES = 2  # fields whose values are said
MOST_SUMS = 3

Counts = Mapping[tuple[str, str], int]  # objects, by model and kind of the change


def headline(objects: Sequence[ObjectChange], counts: Counts) -> SafeString:
    """
    Return "Exit interview: status published → archived, +1 updated along".

    What is written first is what it was about. Of several objects of its model it is
    said how many were changed: "16 schedules changed".
    """
    total = sum(counts.values())
    main = next((one for one in objects if one.kind != "link"), None)
    if main is None or _of_model(main.model, counts) > 1:
        return mark_hidden_characters(_sums(counts))
    said = _said(main)
    if total > 1:
        said += ngettext(
            ", +%(count)d updated along", ", +%(count)d updated along", total - 1
        ) % {"count": total - 1}
    return mark_hidden_characters(said)


def _of_model(model: str, counts: Counts) -> int:
    return sum(count for (own, _kind), count in counts.items() if own == model)


def _said(one: ObjectChange) -> str:
    name = one.text or f"{model_name(one.model)} #{one.object_id}"
    if one.kind == "create":
        return _("%(object)s: added") % {"object": name}
    if one.kind == "delete":
        return _("%(object)s: deleted") % {"object": name}
    changed = [one for one in one.fields if one.before != one.after]
    fields = [one for one in changed if not one.is_place]
    if changed and not fields:
        return f"{name}: {_('place in the tree')}"
    short = [
        one for one in fields if max(len(one.before), len(one.after)) <= VALUE_CHARS
    ]
    names = _field_names(one.model)
    values = [
        f"{names.get(field.name, field.label)} "
        f"{field.before or _('empty')} → {field.after or _('empty')}"
        for field in short[:MOST_VALUES]
    ]
    others = [
        names.get(field.name, field.label)
        for field in fields
        if field not in short[:MOST_VALUES]
    ]
    if not values:
        return f"{name}: {', '.join(others) or _('changed')}"
    more = (
        ngettext("%(count)d more field", "%(count)d more fields", len(others))
        % {"count": len(others)}
        if others
        else ""
    )
    return f"{name}: {', '.join(filter(None, [*values, more]))}"


def _field_names(label: str) -> dict[str, str]:
    """Return how a model names its fields within a sentence: "title", but "Titel"."""
    model = model_of_label(label)
    fields = model._meta.concrete_fields if model else ()
    return {field.name: str(field.verbose_name) for field in fields}


def _sums(counts: Counts) -> str:
    """Return "16 schedules changed, 2 questions added"."""
    patterns = {
        "create": _("%(count)d %(name)s added"),
        "change": _("%(count)d %(name)s changed"),
        "delete": _("%(count)d %(name)s deleted"),
        "link": _("%(count)d %(name)s linked"),
    }
    largest = sorted(counts.items(), key=lambda item: -item[1])
    sums = [
        patterns[kind] % {"count": count, "name": model_name(model, plural=count != 1)}
        for (model, kind), count in largest[:MOST_SUMS]
    ]
    more = ["…"] if len(largest) > MOST_SUMS else []
    return ", ".join([*sums, *more])


# --- related objects, which are counted ---


def related_sentence(related: Related, target: str) -> SafeString:
    """Return "3 comments will be deleted", of objects related to one of `target`."""
    count = related.count
    patterns = {
        "delete": ngettext(
            "%(count)d %(label)s will be deleted",
            "%(count)d %(label)s will be deleted",
            count,
        ),
        "create": ngettext(
            "%(count)d %(label)s will be added",
            "%(count)d %(label)s will be added",
            count,
        ),
        "change": ngettext(
            "%(count)d %(label)s will lose its %(target)s",
            "%(count)d %(label)s will lose their %(target)s",
            count,
        )
        if target
        else ngettext(
            "%(count)d %(label)s will be changed",
            "%(count)d %(label)s will be changed",
            count,
        ),
        "link": ngettext(
            "%(count)d link will change: %(label)s",
            "%(count)d links will change: %(label)s",
            count,
        ),
        "action": "%(count)d %(label)s",
    }
    label, target = (
        isolate(mark_hidden_characters(name))
        for name in (related.label, model_name(target))
    )
    pattern = escape(patterns[related.kind])
    return SafeString(pattern % {"count": count, "label": label, "target": target})
