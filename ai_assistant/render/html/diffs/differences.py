"""From what a call would change to what the templates of its card draw."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ai_assistant.changes.values import (
    Changes,
    FieldChange,
    ObjectChange,
    Related,
    model_name,
    model_of_label,
)
from ai_assistant.render.html.diffs.rows import related_sentence
from ai_assistant.text.direction import QUOTES
from ai_assistant.text.hidden_characters import looks_like, mark_hidden_characters
from ai_assistant.text.word_diff import (
    LONG_CHARS,
    MarkedDiff,
    diff_words,
    mark_lone_value,
    marked_diff,
    more_sentence,
)

Entry = dict[str, Any]
MOST_COLUMNS = 2  # of a table of rows; with more, the fields stand below each other


def difference_entry(changes: Changes, at: str = "") -> Entry:
    """Return the context of `approval_diff.html`; `at` identifies its row in URLs."""
    among = sum(len(one.fields) for one in changes.objects)
    objects = [
        object_entry(one, among=among, at=f"{at}&row={number}" if at else "")
        for number, one in enumerate(changes.objects)
    ]
    tell_apart(objects)
    columns = _columns(objects)
    # Of several models only the rows of the call's own can be chosen.
    row_ids = [changes.row_id(one) for one in changes.objects]
    targets = [one is not None for one in row_ids]
    chooses = bool(changes.rows_argument) and sum(targets) > 1
    for entry, row_id in zip(objects, row_ids, strict=True):
        entry["row_id"] = row_id
        entry["chooses"] = chooses and row_id is not None and bool(entry["id"])
    return {
        **_title(changes),
        "count": 0 if _main(changes) else max(changes.total, len(objects)),
        "total": changes.total,
        "objects": objects,
        "is_many": len(objects) > 1 or changes.total > 1,
        "columns": columns,
        "chooses": chooses,
        "rest": max(0, changes.total - (sum(targets) or len(objects))),
        "can_show_all": chooses and bool(changes.versions) and not changes.plan,
        "related": [_related(one, changes.model) for one in changes.related],
        "warnings": [mark_hidden_characters(one) for one in changes.warnings],
        "undoable": changes.undoable,
        "undo_limits": [mark_hidden_characters(one) for one in changes.undo_limits],
        "is_undo": bool(changes.plan),
        # A warning may be about something that cannot be shown.
        "is_empty": changes.is_empty and not changes.warnings,
    }


def object_entry(change: ObjectChange, *, among: int = 1, at: str = "") -> Entry:
    """Return what is drawn of one object, with `among` fields in all."""
    model = model_of_label(change.model)
    fields = [field_entry(one, change.kind, among, model) for one in change.fields]
    for number, one in enumerate(fields):
        one["at"] = f"{at}&field={number}" if at else ""
    places = [one.is_place for one in change.fields]
    return {
        "kind": change.kind,
        "word": _word(change.kind),
        "id": change.object_id,
        "model": model_name(change.model),
        "label": change.model,
        "text": mark_hidden_characters(change.text)
        or mark_hidden_characters(_numbered(change)),
        "number": "",
        "fields": with_places_folded(fields, places),
    }


def with_places_folded(fields: list[Entry], places: Sequence[bool]) -> list[Entry]:
    """Return the drawn fields, those that keep the place in a tree as the last one."""
    pairs = list(zip(fields, places, strict=True))
    folded = [one for one, is_place in pairs if is_place]
    shown = [one for one, is_place in pairs if not is_place]
    return [*shown, _place_entry(folded)] if folded else shown


def _place_entry(folded: list[Entry]) -> Entry:
    summary = ngettext("Show %(count)d value", "Show %(count)d values", len(folded))
    return {
        "label": mark_hidden_characters(_("Place in the tree")),
        "summary": summary % {"count": len(folded)},
        "folded": folded,
    }


def tell_apart(objects: Sequence[Entry]) -> None:
    """Add the id to each entry that another object of this model is called like."""
    ids: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in objects:
        ids[one["model"], one["text"]].add(one["id"])
    for one in objects:
        is_known = len(ids[one["model"], one["text"]]) == 1
        one["number"] = (
            "" if is_known or not one["id"] else mark_hidden_characters(f"#{one['id']}")
        )


def field_entry(field: FieldChange, kind: str, among: int, model: Any = None) -> Entry:
    """
    Return what is drawn of one field: its label, and both values.

    They stand beside each other, unless they have so much in common that one text with
    marks says more. `model` is that of the object, if it is known.
    """
    alike = looks_like(field.before, field.after)
    shown = _shown(field, kind, among, alike=alike)
    return {
        "pair": _pair(field, alike=alike) if kind == "change" else None,
        "link": _linked(field, model),
        "label": mark_hidden_characters(field.label),
        "brief": shown.brief,
        "whole": shown.whole,
        "more": more_sentence(shown.more),
        "is_empty": not field.after and kind != "delete",
        "note": _note(field, kind, alike=alike),
    }


def _pair(field: FieldChange, *, alike: bool) -> Entry | None:
    """Return the old and the new value; None if one text with marks says more."""
    before, after = field.before, field.after
    if before == after or max(len(before), len(after)) > LONG_CHARS:
        return None
    same = (one for one in diff_words(before, after) if one.kind == "same")
    if 2 * sum(len(one.text) for one in same) > max(len(before), len(after)):
        return None
    old, new = (mark_hidden_characters(one, strict=alike) for one in (before, after))
    return {"old": old, "new": new}


def _linked(field: FieldChange, model: Any) -> Entry | None:
    """Return which object the new value of a relation is."""
    key = field.raw
    if model is None or not isinstance(key, int | str) or isinstance(key, bool):
        return None
    column = next(
        (one for one in model._meta.concrete_fields if one.name == field.name), None
    )
    related = getattr(column, "related_model", None)
    return {"label": related._meta.label_lower, "id": str(key)} if related else None


def _shown(field: FieldChange, kind: str, among: int, *, alike: bool) -> MarkedDiff:
    if kind == "delete":
        return mark_lone_value(field.before or field.after, among=among)
    if kind == "create" or field.before == field.after:
        return mark_lone_value(field.after, among=among)
    return marked_diff(field.before, field.after, strict=alike, among=among)


def _note(field: FieldChange, kind: str, *, alike: bool) -> str:
    if kind in ("create", "delete"):
        return ""
    if field.before == field.after:
        return _("It changes, but the values are not shown.") if field.after else ""
    return _("Both look the same, but their characters differ.") if alike else ""


def _title(changes: Changes) -> Entry:
    """
    Return the title of a card, with the place of the object's name in it.

    It is `name`, between `title` and `after`. The one object that is changed is named
    behind a title that does not do so.
    """
    title, one = changes.title, _main(changes)
    places = [_place(title, other) for other in changes.objects]
    named: Entry = {"title": mark_hidden_characters(title), "name": "", "after": ""}
    if one is None:
        return {**named, "is_named": all(places)}
    start, end = places[0] or (0, 0)
    before, after = title[:start], title[end:]
    if not end:
        is_said = not one.text or one.text in title
        if one.kind != "change" or not one.fields or is_said:
            return {**named, "is_named": False}
        before, after = f"{title}: ", ""
    return {
        "title": mark_hidden_characters(before, edges=False),
        "name": mark_hidden_characters(one.text),
        "after": mark_hidden_characters(after, edges=False),
        "label": one.model,
        "id": one.object_id,
        "is_named": True,
    }


def _main(changes: Changes) -> ObjectChange | None:
    """Return the object that it is about; None of many. Others may go along."""
    first = next(iter(changes.objects), None)
    if first is None or changes.total > len(changes.objects):
        return None
    others = changes.objects[1:]
    is_alone = all(one.model != first.model for one in others)
    return first if is_alone and not (others and changes.rows_argument) else None


def _place(title: str, change: ObjectChange) -> tuple[int, int] | None:
    """Return where a title has the name of the object between quotation marks."""
    name = re.escape(change.text)
    quote = f"[{QUOTES}\"']"
    found = name and re.search(f"{quote}\\s?({name})\\s?{quote}", title)
    return found.span(1) if found else None


def _numbered(change: ObjectChange) -> str:
    """Return what an object without a text is called."""
    has_id = change.object_id and change.kind != "link"
    return f"#{change.object_id}" if has_id else ""


def _columns(objects: Sequence[Entry]) -> list[SafeString]:
    """Return the labels that all objects share, if they are few enough."""
    named = {tuple(field["label"] for field in one["fields"]) for one in objects}
    kinds = {(one["kind"], one["label"]) for one in objects}
    if len(named) != 1 or len(kinds) != 1:
        return []
    (labels,) = named
    return list(labels) if len(labels) <= MOST_COLUMNS else []


def _word(kind: str) -> str:
    return {
        "create": _("new"),
        "delete": _("deleted"),
        "change": _("changed"),
        "link": _("linked"),
        "action": "",
    }[kind]


def _related(related: Related, target: str) -> Entry:
    more = related.count - len(related.texts)
    return {
        "sentence": related_sentence(related, target),
        "kind": related.kind,
        "texts": [mark_hidden_characters(text) for text in related.texts],
        "more": max(0, more) if related.texts else 0,
    }
