"""The ports of the loop, and the state that it keeps between steps."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Literal, Protocol

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
from ai_assistant.types import ModelChunk, ModelReply


@dataclass(frozen=True, kw_only=True, slots=True)
class CallOutcome:
    """The outcome of one call. `fingerprint` is the same for the same call again."""

    fingerprint: str
    failed: bool


class Model(Protocol):
    """The port to the model: builds the request and streams the reply."""

    def stream(self, step_index: int) -> AsyncGenerator[ModelChunk, None]:
        """Yield the chunks of one reply. Raise ModelError if there is none."""
        ...


class Calls(Protocol):
    """The port to the tools."""

    async def run(self, step_index: int) -> list[CallOutcome] | None:
        """
        Execute the open calls of a stored step; None if one has to wait.

        When it returns a list, every call of the step has its one result.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The limits of one run."""

    steps: int  # model calls
    calls: int  # tool calls of one step
    same_failures: int  # identical failing calls in a row
    running_s: float  # seconds of running, waits for a person not counted


@dataclass(kw_only=True, slots=True)
class LoopState:
    """The durable point from which a run continues."""

    step_index: int = 0  # of the next model call
    calls_open: bool = False  # the step before it has calls without a result
    call_count: int = 0  # of that step
    answered: bool = False  # it was the answer: the model is not asked again
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
    `position` identifies a call within its message.
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
