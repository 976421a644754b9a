"""Purge old conversations, with all that belongs to them."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from ai_assistant.changes.capture.store import forget_images
from ai_assistant.engine.queries import (
    changes_with_images,
    left_changes,
    unused_conversations,
)
from ai_assistant.engine.service import purge_unused
from ai_assistant.models import clock
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.token import AccessToken
from ai_assistant.safety.audit import forget_before, record, seal_all, verify
from ai_assistant.types import UserKey


def days_ago(days: int) -> datetime:
    """Return the moment `days` before now."""
    return clock.now() - timedelta(days=days)


def purge_conversations(before: datetime, user_id: UserKey | None = None) -> int:
    """
    Delete the old conversations; return how many.

    Runs, events, messages, calls and changes go with them; usage and audit stay.
    """
    rows = unused_conversations(before, user_id).order_by("updated_at")
    keys = list(rows.values_list("pk", flat=True).distinct())
    count = sum(purge_unused(pk, before) for pk in keys)
    _record("conversations", count, before, user_id)
    return count


def old_changes(before: datetime, user_id: UserKey | None = None) -> QuerySet[Any]:
    """Return the changes from before `before` whose conversations are deleted."""
    return left_changes(user_id).filter(created_at__lt=before)


def purge_changes(before: datetime, user_id: UserKey | None = None) -> int:
    """Delete the old changes of deleted conversations; return how many."""
    old = old_changes(before, user_id)
    keys = list(old.values_list("pk", flat=True))
    for pk in keys:  # each may have very many rows
        with transaction.atomic():
            old.filter(pk=pk).delete()
    _record("changes", len(keys), before, user_id)
    return len(keys)


def purge_images(before: datetime, user_id: UserKey | None = None) -> int:
    """Delete the images of old changes, with the old files; return of how many."""
    keys = list(changes_with_images(before, user_id).values_list("pk", flat=True))
    for pk in keys:
        forget_images(pk)
    _record("images", len(keys), before, user_id)
    return len(keys)


def dead_tokens(
    before: datetime, user_id: UserKey | None = None
) -> QuerySet[AccessToken]:
    """Return the access tokens that were revoked, or have expired, before `before`."""
    dead = AccessToken.objects.filter(
        Q(revoked_at__lt=before) | Q(expires_at__lt=before)
    )
    return dead if user_id is None else dead.filter(user_id=user_id)


def purge_tokens(before: datetime, user_id: UserKey | None = None) -> int:
    """Delete the dead access tokens; return how many."""
    with transaction.atomic():
        count, _ = dead_tokens(before, user_id).delete()
        _record("tokens", count, before, user_id)
    return count


def old_entries(before: datetime) -> QuerySet[AuditEntry]:
    """Return the audit entries from before `before`."""
    return AuditEntry.objects.filter(created_at__lt=before)


def purge_audit(before: datetime) -> int:
    """
    Delete audit entries from the start of the log up to `before`; return how many.

    Raise ValueError if the log is not intact: the evidence must stay.
    """
    seal_all()
    result = verify()
    if result.findings:
        raise ValueError(result.findings[0].text)
    return forget_before(before)


def _record(kind: str, count: int, before: datetime, user_id: UserKey | None) -> None:
    if count:
        details = {kind: count, "before": before.isoformat()}
        record(f"{kind}.purged", user=user_id, details=details)
