"""
The facts of a run: data with a fixed type and no methods.

Types are AG-UI 1.0 names; facts of our own are `CUSTOM` with a name that starts
with `aia.`. A stored event is (run, seq, type, payload), the payload being the
fields of its class. Source: AG-UI 1.0, "Events".
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of all facts; the class of each names its `type`."""

    type: ClassVar[str]

    def __init_subclass__(cls, *, type: str) -> None:
        cls.type = type


@dataclass(frozen=True, kw_only=True)
class RunStarted(Event, type="RUN_STARTED"):
    """The first fact of every run."""


@dataclass(frozen=True, kw_only=True)
class RunFinished(Event, type="RUN_FINISHED"):
    outcome: Literal["success", "cancelled"]


@dataclass(frozen=True, kw_only=True)
class RunError(Event, type="RUN_ERROR"):
    """`state` is the final state of the run: failed, limited or needs_review."""

    code: str
    message: str
    state: str = "failed"


@dataclass(frozen=True, kw_only=True)
class StepStarted(Event, type="STEP_STARTED"):
    index: int


@dataclass(frozen=True, kw_only=True)
class StepFinished(Event, type="STEP_FINISHED"):
    index: int


@dataclass(frozen=True, kw_only=True)
class TextStart(Event, type="TEXT_MESSAGE_START"):
    message_id: str


@dataclass(frozen=True, kw_only=True)
class TextContent(Event, type="TEXT_MESSAGE_CONTENT"):
    """`offset` counts the characters of the message before `delta`."""

    message_id: str
    offset: int
    delta: str


@dataclass(frozen=True, kw_only=True)
class TextEnd(Event, type="TEXT_MESSAGE_END"):
    message_id: str


@dataclass(frozen=True, kw_only=True)
class ReasoningStart(Event, type="REASONING_START"):
    message_id: str


@dataclass(frozen=True, kw_only=True)
class ReasoningContent(Event, type="REASONING_MESSAGE_CONTENT"):
    message_id: str
    offset: int
    delta: str


@dataclass(frozen=True, kw_only=True)
class ReasoningEnd(Event, type="REASONING_END"):
    message_id: str


@dataclass(frozen=True, kw_only=True)
class CallStart(Event, type="TOOL_CALL_START"):
    call_id: str
    name: str
    message_id: str


@dataclass(frozen=True, kw_only=True)
class CallArguments(Event, type="TOOL_CALL_ARGS"):
    call_id: str
    delta: str


@dataclass(frozen=True, kw_only=True)
class CallEnd(Event, type="TOOL_CALL_END"):
    call_id: str


@dataclass(frozen=True, kw_only=True)
class CallResult(Event, type="TOOL_CALL_RESULT"):
    """`content` is what the model reads; `status` one of the call's final ones."""

    call_id: str
    status: str
    content: str


@dataclass(frozen=True, kw_only=True)
class Custom(Event, type="CUSTOM"):
    """
    An event of the assistant's own.

    aia.message {message_id}: the user has said something more
    aia.call {call_id, status}: a call has moved
    aia.progress {call_id}: a call has reported progress
    aia.interrupt {interrupt_id, call_id}: a call waits, or waits no more
    aia.waiting {state}: the run waits; no process holds it
    aia.state {version, values} or {version, delta}: what hooks and tools keep
    aia.fallback {profile, code}: the model of another profile answers, since the error
    aia.resumed {attempt}: another process has taken the run over
    aia.replaced {message_id}: this message was cut off and is sent again
    aia.stopping {}: the person has pressed Stop
    """

    name: str
    value: dict[str, Any]
