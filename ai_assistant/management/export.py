"""
All that the assistant holds of one user, as JSON, a conversation at a time.

Of changes it tells which rows and fields; their old and new values belong to the
site's own tables, and may be about other people.
"""

from collections.abc import Iterator
from typing import Any

from django.db.models import Model

from ai_assistant.models import clock
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.conversation import (
    Conversation,
    Feedback,
    Message,
    QueuedMessage,
)
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from ai_assistant.models.token import AccessToken
from ai_assistant.models.usage import UsageLedger

CONVERSATION = ("id", "title", "shown_run_id", "created_at", "updated_at")
MESSAGE = ("id", "run_id", "position", "role", "state", "parts", "created_at")
RUN = (
    *("id", "after_id", "continues_id", "wish", "state", "error_code", "error_text"),
    *("profile", "module"),
    *("page_path", "page_title", "context", "look_only", "created_at", "finished_at"),
)
QUEUED = ("id", "text", "page_path", "page_title", "context", "created_at")
CALL = (
    *("id", "parent_id", "name", "label", "effect", "arguments", "arguments_text"),
    *("approved", "status", "reason", "result", "error", "created_at"),
    *("started_at", "finished_at"),
)
INTERRUPT = (
    *("id", "call_id", "kind", "status", "question", "options", "answer", "proposal"),
    *("decided_at", "created_at"),
)
USAGE = (
    *("id", "run_id", "profile", "model", "state", "input_tokens", "output_tokens"),
    *("cached_tokens", "reasoning_tokens", "cost_usd", "created_at"),
)
TOKEN = (  # neither the secret, which nobody has, nor its digest
    *("id", "name", "prefix", "scopes", "created_at", "expires_at", "last_used_at"),
    *("refused_at", "revoked_at"),
)
AUDIT = (
    *("n", "created_at", "user_name", "action", "tool", "run_id", "call_id"),
    *("details", "ip"),
)
FEEDBACK = ("run_id", "value", "reasons", "text", "created_at")
ROW = ("order", "kind", "model", "object_id", "text", "fields")


def head(user: Any) -> dict[str, Any]:
    """Return whose data follow, and as of when."""
    return {
        "user": {"id": str(user.pk), "name": user.get_username()},
        "exported_at": clock.now(),
    }


def parts(user: Any) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    """Yield the lists of the export, each with its name."""
    yield "conversations", _conversations(user)
    # Those of conversations that are there are told with their runs.
    left = ChangeSet.objects.filter(user_id=user.pk, run=None).order_by("created_at")
    yield "changes", (_change(one) for one in left.prefetch_related("rows"))
    feedback = Feedback.objects.filter(user_id=user.pk).order_by("created_at")
    yield "feedback", (_fields(row, FEEDBACK) for row in feedback.iterator())
    usage = UsageLedger.objects.filter(user_id=user.pk).order_by("created_at")
    yield "usage", (_fields(row, USAGE) for row in usage.iterator())
    tokens = AccessToken.objects.filter(user_id=user.pk).order_by("created_at")
    yield "tokens", (_fields(row, TOKEN) for row in tokens.iterator())
    audit = AuditEntry.objects.filter(user_id=user.pk).order_by("id")
    yield "audit", (_fields(row, AUDIT) for row in audit.iterator())


def _conversations(user: Any) -> Iterator[dict[str, Any]]:
    own = Conversation.objects.filter(owner_id=user.pk).order_by("created_at")
    for conversation in own.iterator():
        messages = Message.objects.filter(conversation=conversation)
        runs = Run.objects.filter(conversation=conversation).order_by("created_at")
        queued = QueuedMessage.objects.filter(
            conversation=conversation, dropped_at=None
        )
        yield {
            **_fields(conversation, CONVERSATION),
            "messages": [_fields(one, MESSAGE) for one in messages],
            "queued": [_fields(one, QUEUED) for one in queued],
            "runs": [_run(run) for run in runs],
        }


def _run(run: Run) -> dict[str, Any]:
    calls = ToolCall.objects.filter(run=run)
    waits = Interrupt.objects.filter(run=run)
    changes = ChangeSet.objects.filter(run=run).prefetch_related("rows")
    return {
        **_fields(run, RUN),
        "calls": [_fields(call, CALL) for call in calls],
        "interrupts": [_fields(wait, INTERRUPT) for wait in waits],
        "changes": [_change(change) for change in changes],
    }


def _change(change: ChangeSet) -> dict[str, Any]:
    return {
        **_fields(change, ("id", "call_id", "tool", "is_partial", "created_at")),
        "rows": [_fields(row, ROW) for row in change.rows.all()],
    }


def _fields(row: Model, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
