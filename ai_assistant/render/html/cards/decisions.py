"""What persons have answered and decided about calls, for their cards."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Prefetch, Q, QuerySet
from django.utils.translation import gettext as _

from ai_assistant.changes.values import readable
from ai_assistant.engine.lifecycle.questions import options_of
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.render.html.diffs.differences import Entry, difference_entry


def answers_of(call: ToolCall) -> list[dict[str, Any]]:
    """Return the questions of a call in order, with the answers in words."""
    return [
        {"question": one.question, "labels": _labels(one)}
        for one in closed_of(call, Interrupt.Kind.QUESTION)
    ]


def _labels(question: Interrupt) -> list[str]:
    """Return the answer as the person saw it."""
    answer = question.answer
    if isinstance(answer, bool):
        answer = "yes" if answer else "no"
    labels = {one["id"]: one["label"] for one in options_of(question)}
    given = answer if isinstance(answer, list) else [answer]
    return [labels.get(one, one) for one in map(str, given)]


def decision_of(call: ToolCall) -> Entry | None:
    """Return what `approval_done.html` draws of the last decision, None without."""
    closed = closed_of(call, Interrupt.Kind.APPROVAL)
    if not closed:
        return None
    last = max(closed, key=lambda one: one.decided_at or one.created_at)
    changes = readable(last.proposal)
    return {
        "id": str(call.pk),
        "sentence": _sentence(last),
        "reason": last.answer if _has_reason(last) else "",
        "diff": difference_entry(changes, f"interrupt={last.pk}") if changes else None,
    }


def _has_reason(decided: Interrupt) -> bool:
    is_denied = decided.status == Interrupt.Status.DENIED
    return is_denied and isinstance(decided.answer, str)


def _sentence(decided: Interrupt) -> str:
    named = {"name": decided.decided_by.get_username() if decided.decided_by else ""}
    if decided.status == Interrupt.Status.EXPIRED:
        return _("Nobody decided in time")
    if decided.status == Interrupt.Status.DENIED:
        return _("Denied by %(name)s") % named if named["name"] else _("Denied")
    return _approved(decided.answer) % named if named["name"] else _("Approved")


def _approved(said: Any) -> str:
    said = said if isinstance(said, dict) else {}
    if said.get("granted"):
        return _("Allowed by %(name)s for this answer")
    if said.get("edited"):
        return _("Edited and approved by %(name)s")
    if said.get("rows") is not None:
        return _("Approved by %(name)s, for chosen rows")
    return _("Approved by %(name)s")


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
