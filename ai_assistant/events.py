"""
The facts of a run: data with a literal type and no methods.

Types are AG-UI 1.0 names; facts of our own are `CUSTOM` with a name that starts
with `aia.`. A stored event is (run, seq, type, payload), the payload being the
fields below. Source: AG-UI 1.0, "Events".
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStarted:
    type: Literal["RUN_STARTED"] = "RUN_STARTED"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunFinished:
    outcome: Literal["success", "cancelled"]
    type: Literal["RUN_FINISHED"] = "RUN_FINISHED"


@dataclass(frozen=True, kw_only=True, slots=True)
class RunError:
    """`state` is the final state of the run: failed, limited or needs_review."""

    code: str
    message: str
    state: str = "failed"
    type: Literal["RUN_ERROR"] = "RUN_ERROR"


@dataclass(frozen=True, kw_only=True, slots=True)
class StepStarted:
    index: int
    type: Literal["STEP_STARTED"] = "STEP_STARTED"


@dataclass(frozen=True, kw_only=True, slots=True)
class StepFinished:
    index: int
    type: Literal["STEP_FINISHED"] = "STEP_FINISHED"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextStart:
    message_id: str
    type: Literal["TEXT_MESSAGE_START"] = "TEXT_MESSAGE_START"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextContent:
    """`offset` counts the characters of the message before `delta`."""

    message_id: str
    offset: int
    delta: str
    type: Literal["TEXT_MESSAGE_CONTENT"] = "TEXT_MESSAGE_CONTENT"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextEnd:
    message_id: str
    type: Literal["TEXT_MESSAGE_END"] = "TEXT_MESSAGE_END"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReasoningStart:
    message_id: str
    type: Literal["REASONING_START"] = "REASONING_START"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReasoningContent:
    message_id: str
    offset: int
    delta: str
    type: Literal["REASONING_MESSAGE_CONTENT"] = "REASONING_MESSAGE_CONTENT"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReasoningEnd:
    message_id: str
    type: Literal["REASONING_END"] = "REASONING_END"


@dataclass(frozen=True, kw_only=True, slots=True)
class CallStart:
    call_id: str
    name: str
    message_id: str
    type: Literal["TOOL_CALL_START"] = "TOOL_CALL_START"


@dataclass(frozen=True, kw_only=True, slots=True)
class CallArguments:
    call_id: str
    delta: str
    type: Literal["TOOL_CALL_ARGS"] = "TOOL_CALL_ARGS"


@dataclass(frozen=True, kw_only=True, slots=True)
class CallEnd:
    call_id: str
    type: Literal["TOOL_CALL_END"] = "TOOL_CALL_END"


@dataclass(frozen=True, kw_only=True, slots=True)
class CallResult:
    """`content` is what the model reads; `status` one of the call's final ones."""

    call_id: str
    status: str
    content: str
    type: Literal["TOOL_CALL_RESULT"] = "TOOL_CALL_RESULT"


@dataclass(frozen=True, kw_only=True, slots=True)
class Custom:
    """
    A fact of our own.

    aia.message {message_id}: the user has said something more
    aia.call {call_id, status}: a call has moved
    aia.progress {call_id}: a call has told of its work
    aia.interrupt {interrupt_id, call_id}: a call waits, or waits no more
    aia.waiting {state}: the run waits; no process holds it
    aia.resumed {attempt}: another process has taken the run over
    aia.replaced {message_id}: this message was cut off and is told anew
    aia.stopping {}: the person has pressed Stop
    """

    name: str
    value: dict[str, Any]
    type: Literal["CUSTOM"] = "CUSTOM"


Event = (
    RunStarted
    | RunFinished
    | RunError
    | StepStarted
    | StepFinished
    | TextStart
    | TextContent
    | TextEnd
    | ReasoningStart
    | ReasoningContent
    | ReasoningEnd
    | CallStart
    | CallArguments
    | CallEnd
    | CallResult
    | Custom
)


def payload(event: Event) -> dict[str, Any]:
    """Return the fields of `event` but its type, as they are stored."""
    fields = asdict(event)
    del fields["type"]
    return fields
