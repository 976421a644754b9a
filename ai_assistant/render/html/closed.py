"""What persons have said about many calls, read with the calls."""

from collections.abc import Sequence

from django.contrib.auth import get_user_model
from django.db.models import Prefetch, Q, QuerySet

from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt

ATTRIBUTE = "closed"  # of a call; in none that was read for another purpose
DRAWN = (
    *("call", "kind", "status", "question", "question_kind", "options", "answer"),
    *("proposal", "decided_at", "created_at"),
)
DECIDED = (
    *(Interrupt.Status.APPROVED, Interrupt.Status.DENIED),
    Interrupt.Status.EXPIRED,
)


def with_closed(calls: QuerySet[ToolCall]) -> QuerySet[ToolCall]:
    """Let answers and decisions be read with many calls, in one query."""
    kinds = Interrupt.Kind
    answered = Q(kind=kinds.QUESTION, status=Interrupt.Status.ANSWERED)
    decided = Q(kind=kinds.APPROVAL, status__in=DECIDED)
    found = Interrupt.objects.filter(answered | decided).select_related("decided_by")
    name = f"decided_by__{get_user_model().USERNAME_FIELD}"
    drawn = found.order_by("created_at").only(*DRAWN, name)
    return calls.prefetch_related(
        Prefetch("interrupts", queryset=drawn, to_attr=ATTRIBUTE)
    )


def closed_of(call: ToolCall, kind: str) -> Sequence[Interrupt]:
    """Return what was answered or decided about a call, in the order it was asked."""
    return [one for one in getattr(call, ATTRIBUTE, ()) if one.kind == kind]
