"""Who may undo, and which changes an undo is about."""

from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from ai_assistant.changes.undo.values import (
    UndoTarget,
)
from ai_assistant.engine.queries import UNDO_OTHERS, calls, changes, get_or_404, runs
from ai_assistant.exceptions import Refused
from ai_assistant.models.change import ChangeSet
from ai_assistant.safety.identity.permissions import fresh_user, may_use
from ai_assistant.types import UserKey


def checked_user(user_id: UserKey) -> Any:
    """Return the user. Raise Refused permission for one who may not use the assistant."""
    user = fresh_user(user_id)
    if user is None or not may_use(user):
        raise Refused("permission", _("You may not use the assistant."))
    return user


def change_sets(user: Any, target: UndoTarget) -> list[ChangeSet]:
    """Return the changes, oldest first. Raise Refused not_found if they are others'."""
    sees_all = user.has_perm(UNDO_OTHERS)
    visible: QuerySet[ChangeSet] = (
        ChangeSet.objects.all() if sees_all else changes(user.pk)
    )
    visible = visible.select_related("run")
    if target.kind == "since":
        found = list(_since(user, visible, target.id))
    elif target.kind == "change":
        found = list(visible.filter(pk=target.id))
    else:
        kept = Q(run__conversation__deleted_at=None, kind=ChangeSet.Kind.CALL)
        found = list(visible.filter(kept, **{target.kind: target.id}))
    if not found and not _is_own(user, target):
        raise Refused("not_found", _("These changes do not exist."))
    return sorted(found, key=lambda one: (one.created_at, one.pk))


def _since(
    user: Any, visible: QuerySet[ChangeSet], run_id: UUID
) -> QuerySet[ChangeSet]:
    """Return what was changed in a conversation of the user from a run on."""
    run = get_or_404(runs(user.pk), run_id, _("These changes do not exist."))
    return visible.filter(
        kind=ChangeSet.Kind.CALL,
        run__conversation=run.conversation_id,
        run__created_at__gte=run.created_at,
    )


def _is_own(user: Any, target: UndoTarget) -> bool:
    rows: Any = {"run": runs, "since": runs, "call": calls}.get(target.kind)
    return bool(rows and rows(user.pk).filter(pk=target.id).exists())
