"""What a call has set out to do, if it says so before it does it."""

from typing import Any

from ai_assistant.models.call import CallStatus, ToolCall

MOST_STEPS = 50


def plan_of(call: ToolCall) -> list[dict[str, Any]]:
    """
    Return the plan in the call's newest partial result, a list under `plan`.

    Of each step its `text` and `status`, pending if it says none that exists.
    """
    told = call.partial.get("plan") if isinstance(call.partial, dict) else None
    steps = told if isinstance(told, list) else []
    return [
        {"text": str(step["text"]), "status": _status(step)}
        for step in steps[:MOST_STEPS]
        if isinstance(step, dict) and step.get("text")
    ]


def done_of(plan: list[dict[str, Any]]) -> int:
    """Return how many steps of a plan are done."""
    return sum(step["status"] == CallStatus.COMPLETE for step in plan)


def _status(step: dict[str, Any]) -> str:
    status = step.get("status")
    return str(status) if status in CallStatus.values else str(CallStatus.PENDING)
