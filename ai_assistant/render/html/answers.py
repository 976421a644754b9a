"""What a tool has asked the person, and what was answered, for the tool's card."""

from typing import Any

from ai_assistant.engine.questions import options_of
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.render.html.closed import closed_of


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
