"""Entries in the history of the admin, for what a person has undone."""

from typing import Any

from django.conf import settings
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.utils.translation import gettext as _
from django.utils.translation import override

from ai_assistant.changes.undo.links import owner_of
from ai_assistant.changes.undo.values import DOES, UndoRow
from ai_assistant.changes.values import concrete, model_of_label
from ai_assistant.models.run import Run

FLAGS = {"create": ADDITION, "delete": DELETION}


def write_history(rows: list[UndoRow], user: Any, run: Run | None) -> None:
    """Write the history of the admin, as for what the assistant changes."""
    with override(settings.LANGUAGE_CODE):
        entries = [entry for row in rows if (entry := _entry(row, user, run))]
    LogEntry.objects.bulk_create(entries, batch_size=200)


def _entry(row: UndoRow, user: Any, run: Run | None) -> LogEntry | None:
    target = _logged(row)
    if target is None:
        return None
    model, key, text, flag = target
    return LogEntry(
        user_id=user.pk,
        content_type=ContentType.objects.get_for_model(model),
        object_id=key,
        object_repr=text[:200],
        action_flag=flag,
        change_message=_message(row, run),
    )


def _logged(row: UndoRow) -> tuple[Any, str, str, int] | None:
    if row.obj is None:
        model = model_of_label(row.model) if row.rollback else None
        return None if model is None else (model, row.object_id, row.text, CHANGE)
    first = row.obj.row
    if not first.is_link:
        flag = FLAGS.get(row.action, CHANGE)
        return concrete(first.model), row.object_id, row.text, flag
    found = owner_of(first.model, first.before or first.after or {}, first.alias)
    if found is None:
        return None
    _field, owner, _other = found
    return concrete(type(owner)), str(owner.pk), row.text, CHANGE


def _message(row: UndoRow, run: Run | None) -> str:
    labels = [one.label for one in row.fields if one.outcome in DOES]
    said = _("Undone: %(fields)s.") % {"fields": ", ".join(labels)}
    signature = _("(Assistant, run %(run)s)") % {"run": str(run.pk)[:8]} if run else ""
    return f"{said if labels else _('Undone.')} {signature}".strip()
