"""
All that the assistant holds of one user, as JSON, a conversation at a time.

Of changes it has the rows and fields; their old and new values belong to the site's
own tables, and may be about other people.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from django.db.models import Model, QuerySet

from ai_assistant.engine import queries
from ai_assistant.models import clock
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.token import AccessToken, Share
from ai_assistant.models.usage import UsageLedger

CONVERSATION = (
    *("id", "title", "parent_call_id", "shown_run_id", "created_at", "updated_at"),
)
SHARE = ("created_at", "expires_at")  # of its link: not the digest
MESSAGE = (
    *("id", "run_id", "position", "role", "origin", "label", "state", "parts"),
    "created_at",
)
RUN = (
    *("id", "after_id", "continues_id", "wish", "state", "error_code", "error_text"),
    *("profile", "agent", "root_id", "module", "channel"),
    *("page_path", "page_title", "context", "look_only", "created_at", "finished_at"),
)
STEP = ("index", "model", "prompt", "created_at")  # its prompt names texts
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
    yield "changes", _changes(queries.left_changes(user.pk))
    feedback = queries.feedback(user.pk).order_by("created_at")
    yield "feedback", feedback.values(*FEEDBACK).iterator()
    for name, model, order, fields in OF_USER:
        rows = model._default_manager.filter(user_id=user.pk).order_by(order)
        yield name, rows.values(*fields).iterator()


def _conversations(user: Any) -> Iterator[dict[str, Any]]:
    own = queries.stored_conversations(user.pk).order_by("created_at")
    asked = queries.conversations_of_agents(user.pk).order_by("created_at")
    for conversation in chain(own.iterator(), asked.iterator()):
        queued = queries.queued_messages(conversation.pk)
        yield {
            **_fields(conversation, CONVERSATION),
            "shared": Share.objects.filter(conversation=conversation)
            .values(*SHARE)
            .first(),
            "messages": list(conversation.messages.values(*MESSAGE)),
            "queued": list(queued.values(*QUEUED)),
            "prompt_texts": dict(_prompt_texts(conversation)),
            "runs": [_run(run) for run in conversation.runs.order_by("created_at")],
        }


def _prompt_texts(conversation: Any) -> Iterable[tuple[str, str]]:
    """Return the words that models were given, by the name that steps have for them."""
    texts: QuerySet[Any] = conversation.prompt_texts.order_by("pk")
    return texts.values_list("digest", "text")


def _run(run: Any) -> dict[str, Any]:
    return {
        **_fields(run, RUN),
        "steps": list(run.steps.values(*STEP)),
        "calls": list(run.calls.values(*CALL)),
        "interrupts": list(run.interrupts.values(*INTERRUPT)),
        "changes": list(_changes(run.change_sets.all())),
    }


def _changes(changes: QuerySet[Any]) -> Iterator[dict[str, Any]]:
    for change in changes.order_by("created_at").iterator():
        yield {**_fields(change, CHANGE), "rows": list(change.rows.values(*ROW))}


def _fields(row: Model, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
