import time
from typing import Any

import ai_assistant
from ai_assistant import ModelRetry, RunContext
from project.conformance.models import WrittenRow

PIECE_S = 0.5
MAX_S = 500


@ai_assistant.tool(effect="read")
def echo(text: str) -> str:
    """Return the text unchanged."""
    return text


@ai_assistant.tool(effect="read")
def fail() -> None:
    """Raise an error, always."""
    raise RuntimeError("fail() was called.")


@ai_assistant.tool(effect="write")
def needs_approval(text: str) -> str:
    """Return the text, once a person has approved the call."""
    return f"Approved: {text}"


@ai_assistant.tool(effect="read", background=True, resumable=True, timeout_s=MAX_S + 60)
def slow(context: RunContext, seconds: float) -> dict[str, float]:
    """Take so many seconds and report progress meanwhile."""
    _check(seconds)
    waited = float(context.mark or 0)
    while waited < seconds:
        piece = min(PIECE_S, seconds - waited)
        time.sleep(piece)
        waited += piece
        with context.transaction(mark=waited):
            pass  # commits the mark alone: after a crash, the rest is waited
        context.progress(waited / seconds, f"{waited:g} of {seconds:g} s")
    return {"seconds": seconds}


def wait(context: RunContext, seconds: float, text: str) -> None:
    """Wait before the transaction of `slow_write` opens."""
    _check(seconds)
    time.sleep(seconds)


@ai_assistant.tool(
    effect="write",
    policy="allow",
    takes_data=True,  # outside suites give it any text, on any page
    prepare=wait,
    timeout_s=MAX_S + 60,
)
def slow_write(context: RunContext, seconds: float, text: str) -> dict[str, Any]:
    """Take so many seconds, then write one row with the text."""
    row = WrittenRow.objects.create(text=text, run_id=context.run_id)
    return {"row": row.pk, "text": text}


def _check(seconds: float) -> None:
    if not 0 <= seconds <= MAX_S:
        raise ModelRetry(
            f"seconds {seconds!r} is out of range (0 to {MAX_S}). "
            "Call again with a number in it."
        )
