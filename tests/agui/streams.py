"""Streams made by hand: good ones, of which the checker's tests break a piece."""

import json
from typing import Any

from tests.agui.framing import parse
from tests.agui.order import Known, Order
from tests.agui.shapes import shape_faults

THREAD, RUN = "t", "r"
Event = dict[str, Any]


def event(kind: str, **members: Any) -> Event:
    return {"type": kind, **members}


def started(**more: Any) -> Event:
    names = {"threadId": THREAD, "runId": RUN, "protocolVersion": "1.0"}
    return event("RUN_STARTED", **{**names, **more})


def finished(**more: Any) -> Event:
    return event("RUN_FINISHED", **{"threadId": THREAD, "runId": RUN, **more})


def said(message: str = "m", *pieces: str) -> list[Event]:
    return [
        event("TEXT_MESSAGE_START", messageId=message, role="assistant"),
        *(event("TEXT_MESSAGE_CONTENT", messageId=message, delta=p) for p in pieces),
        event("TEXT_MESSAGE_END", messageId=message),
    ]


def thought(message: str = "th", span: str = "th") -> list[Event]:
    return [
        event("REASONING_START", messageId=span),
        event("REASONING_MESSAGE_START", messageId=message, role="reasoning"),
        event("REASONING_MESSAGE_CONTENT", messageId=message, delta="hm"),
        event("REASONING_MESSAGE_END", messageId=message),
        event("REASONING_END", messageId=span),
    ]


def made(call: str = "c", name: str = "echo", parent: str = "m") -> list[Event]:
    return [
        event(
            "TOOL_CALL_START",
            toolCallId=call,
            toolCallName=name,
            parentMessageId=parent,
        ),
        event("TOOL_CALL_ARGS", toolCallId=call, delta="{}"),
        event("TOOL_CALL_END", toolCallId=call),
    ]


def result(call: str = "c", message: str = "", content: Any = "done") -> Event:
    return event(
        "TOOL_CALL_RESULT",
        messageId=message or f"{call}-result",
        toolCallId=call,
        content=content,
        role="tool",
    )


def step(name: str = "step 1", *inside: Event) -> list[Event]:
    return [
        event("STEP_STARTED", stepName=name),
        *inside,
        event("STEP_FINISHED", stepName=name),
    ]


def interrupt(call: str = "c", **more: Any) -> Event:
    own = {"id": "i", "reason": "tool_call", "toolCallId": call}
    return finished(outcome={"type": "interrupt", "interrupts": [{**own, **more}]})


def body(*events: Event) -> bytes:
    return "".join(f"data: {json.dumps(one)}\n\n" for one in events).encode()


def faults_of(
    *events: Event, is_new: bool = True, known: Known | None = None, **options: Any
) -> list[str]:
    """Return all that the checker says of a stream, as if it came over the wire."""
    framing = parse(body(*events))
    order = Order(thread=THREAD, run=RUN, known=known or Known(), **options)
    found = list(framing.faults)
    for frame in framing.frames:
        found += shape_faults(frame.event, is_new=is_new)
        if not found:
            order.take(frame.event)
    order.end()
    return found + order.faults
