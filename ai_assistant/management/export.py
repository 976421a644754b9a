"""
All that the assistant holds of one user, as JSON, a conversation at a time.

Of changes it has the rows and fields; their old and new values belong to the site's
own tables, and may be about other people.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Model, QuerySet

from ai_assistant.models import clock
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import ChangeSet, RowChange
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
CHANGE = ("id", "call_id", "tool", "is_partial", "created_at")
ROW = ("order", "kind", "model", "object_id", "text", "fields")

# Lists of rows that name the user: name, model, order, fields.
OF_USER: tuple[tuple[str, type[Model], str, tuple[str, ...]], ...] = (
    ("feedback", Feedback, "created_at", FEEDBACK),
    ("usage", UsageLedger, "created_at", USAGE),
    ("tokens", AccessToken, "created_at", TOKEN),
    ("audit", AuditEntry, "id", AUDIT),
)


def head(user: Any) -> dict[str, Any]:
    """Return whose data follow, and as of when."""
    return {
        "user": {"id": str(user.pk), "name": user.get_username()},
        "exported_at": clock.now(),
    }


def parts(user: Any) -> Iterator[tuple[str, Iterable[dict[str, Any]]]]:
    """Yield the lists of the export, each with its name."""
    yield "conversations", _conversations(user)
    # Those of existing conversations are exported with their runs.
    yield "changes", _changes(ChangeSet.objects.filter(user_id=user.pk, run=None))
    for name, model, order, fields in OF_USER:
        rows = model._default_manager.filter(user_id=user.pk).order_by(order)
        yield name, rows.values(*fields).iterator()


def _conversations(user: Any) -> Iterator[dict[str, Any]]:
    own = Conversation.objects.filter(owner_id=user.pk).order_by("created_at")
    for conversation in own.values(*CONVERSATION).iterator():
        of_it = {"conversation_id": conversation["id"]}
        queued = QueuedMessage.objects.filter(**of_it, dropped_at=None)
        runs = Run.objects.filter(**of_it).order_by("created_at")
        yield {
            **conversation,
            "messages": list(Message.objects.filter(**of_it).values(*MESSAGE)),
            "queued": list(queued.values(*QUEUED)),
            "runs": [_with_calls(run) for run in runs.values(*RUN)],
        }


def _with_calls(run: dict[str, Any]) -> dict[str, Any]:
    of_it = {"run_id": run["id"]}
    return {
        **run,
        "calls": list(ToolCall.objects.filter(**of_it).values(*CALL)),
        "interrupts": list(Interrupt.objects.filter(**of_it).values(*INTERRUPT)),
        "changes": list(_changes(ChangeSet.objects.filter(**of_it))),
    }


def _changes(changes: QuerySet[ChangeSet]) -> Iterator[dict[str, Any]]:
    for change in changes.order_by("created_at").values(*CHANGE).iterator():
        rows = RowChange.objects.filter(change_set_id=change["id"])
        yield {**change, "rows": list(rows.values(*ROW))}
