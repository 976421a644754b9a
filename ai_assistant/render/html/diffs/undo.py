"""The plan of an undo, as its card draws it."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.formats import date_format
from django.utils.timezone import is_aware, localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ai_assistant.changes.display import sentences_of_gaps
from ai_assistant.changes.trees import is_place
from ai_assistant.changes.undo.groups import PIECE_ROWS
from ai_assistant.changes.undo.values import (
    DOES,
    Outcome,
    UndoField,
    UndoPlan,
    UndoRow,
)
from ai_assistant.changes.values import FieldChange, model_name, model_of_label
from ai_assistant.render.html.diffs.differences import (
    Entry,
    field_entry,
    tell_apart,
    with_places_folded,
)
from ai_assistant.text.hidden_characters import mark_hidden_characters

MOST_SHOWN = 200
VALUE_CHARS = 60
KINDS = {"create": "create", "delete": "delete"}


def plan_entry(
    plan: UndoPlan, named: Mapping[str, Any], url: str, only: str = ""
) -> Entry:
    """
    Return what `undo_plan.html` draws; `named` is the target, as {"run": its id}.

    With the key of an object as `only`, that one alone is ticked.
    """
    ((kind, own),) = named.items()
    shown = plan.rows[:MOST_SHOWN]
    count = sum(row.does_something for row in plan.rows)
    among = sum(len(row.fields) for row in shown)
    rows = [_row(row, among) for row in shown]
    tell_apart(rows)
    has_only = any(row["key"] == only for row in rows)
    for row in rows:
        row["is_ticked"] = not has_only or row["key"] == only
    entry = {
        "kind": kind,
        "id": str(own),
        "url": url,
        "digest": plan.digest,
        "title": plan.title(count),
        "verb": plan.verb,
        "does_something": plan.does_something,
        "conflicts": any(row.outcome == Outcome.CONFLICT for row in plan.rows),
        "gaps": sentences_of_gaps(plan.gaps),
        "rows": rows,
        "more": len(plan.rows) - len(shown),
        "is_long": count > PIECE_ROWS,
        "takes_more": not has_only,
        "has_moved": False,
    }
    return _going_back(entry) if kind == "since" else entry


def report_entry(
    undone: Sequence[int], failed: Sequence[UndoRow], reason: str, urls: tuple[str, str]
) -> Entry:
    """
    Return what `undo_report.html` draws of an undo that ended before its end.

    `undone`: how many rows are done, and how many untouched; `urls` lead to the plan of
    the rest, and to that of taking back what is done, if anything is.
    """
    done, left = undone
    total = done + len(failed) + left
    title = ngettext(
        "%(count)d of %(total)d change undone",
        "%(count)d of %(total)d changes undone",
        total,
    )
    rest = ngettext(
        "%(count)d more is as it was.", "%(count)d more are as they were.", left
    )
    on, back = urls
    return {
        "title": title % {"count": done, "total": total},
        "reason": reason,
        "failed": [_row(row, 0) for row in failed[:MOST_SHOWN]],
        "left": rest % {"count": left} if left else "",
        "url": on,
        "redo": back,
    }


def _going_back(entry: Entry) -> Entry:
    """Return the plan of an undo with which the conversation goes back too."""
    entry["verb"] = _("Go back")
    entry["title"] = _("Go back to before this message")
    entry["goes_back"] = True
    return entry


def _row(row: UndoRow, among: int) -> Entry:
    fields = row.shown_fields
    return {
        "key": row.key,
        "id": row.object_id,
        "model": row.model,
        "action": row.action,
        "kind": KINDS.get(row.action, "change"),
        "outcome": str(row.outcome),
        "text": mark_hidden_characters(row.text),
        "word": _word(row),
        "reason": row.reason,
        "chooses": row.does_something or row.can_overrule,
        "fields": with_places_folded(
            [_field(one, among) for one in fields],
            [_is_place(row, one) for one in fields],
        ),
        "is_conflict": row.outcome in (Outcome.CONFLICT, Outcome.GONE),
        "can_overrule": row.can_overrule,
        "since": _since(row),
        "keeps": _keeps(row),
        "overrules": _overrules(row),
    }


def _is_place(row: UndoRow, field: UndoField) -> bool:
    """Return whether a field only says where the object stands in a tree, and goes back."""
    model = model_of_label(row.model)
    # What comes back as a whole has no fields of its model, but parts of any.
    if model is None or row.rollback or field.outcome not in DOES:
        return False
    return is_place(model._meta.get_field(field.name))


def _field(field: UndoField, among: int) -> Entry:
    change = FieldChange(
        name=field.name, label=field.label, before=field.now, after=field.restored
    )
    entry = field_entry(change, "change", among)
    entry["outcome"] = str(field.outcome)
    entry["reason"] = field.reason
    entry["kept"] = mark_hidden_characters(field.now)
    if field.outcome == Outcome.MERGE:
        entry["reason"] = _("What was written since stays in the text.")
    return entry


def _word(row: UndoRow) -> str:
    """Return the model, and what happens to the object."""
    name = model_name(row.model)
    words = {
        Outcome.SAME: _("is as before already"),
        Outcome.GONE: _("has been deleted"),
        Outcome.BLOCKED: _("cannot be restored"),
    }
    word = words.get(row.outcome) or {
        "create": _("comes back"),
        "delete": _("is deleted"),
        "link": _("is linked again"),
        "unlink": _("is unlinked"),
    }.get(row.action, "")
    if row.text == name:  # it has no name of its own
        return word
    return f"{name}, {word}" if word else name


def _since(row: UndoRow) -> str:
    if row.changed_at is None:
        return _("Changed since")
    moment = localtime(row.changed_at) if is_aware(row.changed_at) else row.changed_at
    when = date_format(moment, "DATETIME_FORMAT")
    if not row.changed_by:
        return _("Changed since, %(when)s") % {"when": when}
    values = {"user": row.changed_by, "when": when}
    return _("Changed since by %(user)s, %(when)s") % values


def _keeps(row: UndoRow) -> str:
    if row.action == "delete":
        return _("Keep it")
    values = ", ".join(_quoted(one.now) for one in _conflicts(row))
    return _("Keep %(values)s") % {"values": values}


def _overrules(row: UndoRow) -> str:
    if row.action == "delete":
        return _("Delete it all the same")
    values = ", ".join(_quoted(one.restored) for one in _conflicts(row))
    return _("Restore %(values)s") % {"values": values}


def _conflicts(row: UndoRow) -> list[UndoField]:
    return [one for one in row.fields if one.outcome == Outcome.CONFLICT]


def _quoted(text: str) -> str:
    if not text:
        return _("empty")
    short = text if len(text) <= VALUE_CHARS else f"{text[:VALUE_CHARS]}…"
    return f"“{mark_hidden_characters(short)}”"
