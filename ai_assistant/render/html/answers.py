"""What a tool has asked the person, and what was answered, for the tool's card."""

from typing import Any

from django.db.models import Prefetch, QuerySet

from ai_assistant.engine.questions import options_of
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt

ATTRIBUTE = "answered"  # of a call; in none that was read for another purpose


def with_answers(calls: QuerySet[ToolCall]) -> QuerySet[ToolCall]:
    """Let the answered questions of many calls be read with them, in one query."""
    drawn = ("call", "question", "question_kind", "options", "answer")
    answered = Interrupt.objects.filter(
        kind=Interrupt.Kind.QUESTION, status=Interrupt.Status.ANSWERED
    )
    ordered = answered.order_by("created_at").only(*drawn)
    return calls.prefetch_related(
        Prefetch("interrupts", queryset=ordered, to_attr=ATTRIBUTE)
    )


def answers_of(call: ToolCall) -> list[dict[str, Any]]:
    """Return the questions of a call in order, with the answers in words."""
    return [
        {"question": one.question, "labels": _labels(one)}
        for one in getattr(call, ATTRIBUTE, ())
    ]


def _labels(question: Interrupt) -> list[str]:
    """Return the answer as the person saw it."""
    answer = question.answer
    if isinstance(answer, bool):
        answer = "yes" if answer else "no"
    labels = {one["id"]: one["label"] for one in options_of(question)}
    given = answer if isinstance(answer, list) else [answer]
    return [labels.get(one, one) for one in map(str, given)]
