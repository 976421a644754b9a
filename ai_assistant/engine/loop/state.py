"""Where a run stands, what bounds it, and how a stretch of it can end."""

from dataclasses import dataclass, field
from typing import Literal

from ai_assistant.events import (
    ReasoningContent,
    ReasoningEnd,
    ReasoningStart,
    StepFinished,
    StepStarted,
    TextContent,
    TextEnd,
    TextStart,
)
from ai_assistant.types import ModelReply


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What bounds one run."""

    steps: int  # model calls
    calls: int  # tool calls of one step
    same_failures: int  # identical failing calls in a row
    running_s: float  # seconds of running, waits for a person not counted


@dataclass(kw_only=True, slots=True)
class LoopState:
    """The durable point from which a run goes on."""

    step_index: int = 0  # of the next model call
    calls_open: bool = False  # the step before it has calls without a result
    call_count: int = 0  # of that step
    answered: bool = False  # it asked for nothing: it was the answer
    failures: dict[str, int] = field(default_factory=dict)  # by fingerprint
    cut: bool = False  # the model ran out of room in the middle of its answer
    running_s: float = 0.0  # of the stretches before this one


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """The run waits for a person or a task. Nothing is held meanwhile."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """The run is over; `limit` names the limit that ended it, if one did."""

    outcome: Literal["succeeded", "limited"]
    limit: Literal["", "steps", "calls", "same_failures", "running_s", "length"] = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CallDraft:
    """
    A call whose arguments the model is writing; only to be shown, never stored.

    `arguments` is the JSON text from its beginning, as far as it is shown.
    `position` tells the calls of one message apart.
    """

    message_id: str
    position: int
    name: str
    arguments: str


LoopItem = (
    StepStarted
    | StepFinished
    | TextStart
    | TextContent
    | TextEnd
    | ReasoningStart
    | ReasoningContent
    | ReasoningEnd
    | CallDraft
    | ModelReply
    | Waiting
    | Finished
)
