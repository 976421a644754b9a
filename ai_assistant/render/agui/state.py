"""The capabilities of this server, and the state of a stream."""

from collections.abc import Iterator, Mapping
from typing import Any

from ag_ui.core import (
    PROTOCOL_VERSION,
    AgentCapabilities,
    BaseEvent,
    ReasoningEndEvent,
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    ReasoningMessageStartEvent,
    ReasoningStartEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    StepFinishedEvent,
    StepStartedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
)

from ai_assistant import __version__, conf
from ai_assistant.configuration.setup import has_agents
from ai_assistant.hooks.state import CLIENT, of_site

MS = 1000


def capabilities() -> dict[str, Any]:
    """Return the AgentCapabilities of this site, as JSON."""
    agent_capabilities = AgentCapabilities.model_validate(
        {
            "identity": {
                "name": "ai_assistant",
                "type": "django",
                "version": __version__,
                "description": "An assistant that acts as the signed-in user.",
            },
            "transport": {
                "streaming": True,
                "websocket": False,
                "httpBinary": False,
                "resumable": True,
            },
            "tools": {
                "supported": True,
                "parallelCalls": True,
                "clientProvided": bool(conf.get("CLIENT_TOOLS")),
            },
            "state": {
                "snapshots": True,
                "deltas": True,
                "memory": False,
                "persistentState": True,
            },
            "multiAgent": {"supported": has_agents(), "delegation": has_agents()},
            "reasoning": {"supported": True, "streaming": True, "encrypted": False},
            "execution": {
                "codeExecution": False,
                "maxIterations": int(conf.get("LIMITS", "STEPS")),
                "maxExecutionTime": int(conf.get("LIMITS", "RUN_S") * MS),
            },
            "humanInTheLoop": {
                "supported": True,
                "approvals": True,
                "interrupts": True,
                "approveWithEdits": False,
                "feedback": False,
            },
            "custom": {"protocolVersion": PROTOCOL_VERSION},
        }
    )
    return agent_capabilities.model_dump(by_alias=True, mode="json")


SITE, KEPT = "aia", "state"  # the keys of what the site's own code keeps, by app


def state_change(value: Mapping[str, Any]) -> BaseEvent:
    """Return the event for `aia.state`: the whole state, or what has changed in it."""
    if "values" in value:
        return StateSnapshotEvent(snapshot=client_state(value["values"]))
    delta = [{**one, "path": _client_path(one["path"])} for one in value["delta"]]
    return StateDeltaEvent.model_validate({"delta": delta})


def client_state(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state as a client has it: its own, and below one key the site's."""
    return {**values.get(CLIENT, {}), SITE: {KEPT: of_site(values)}}


def _client_path(path: str) -> str:
    own = f"/{CLIENT}/"
    return (
        f"/{path.removeprefix(own)}"
        if path.startswith(own)
        else f"/{SITE}/{KEPT}{path}"
    )


NOT_OPEN = -1


class Steps:
    """The steps of a stream; one is open at a time."""

    def __init__(self) -> None:
        self.newest = NOT_OPEN
        self.is_open = False

    def start(self, index: int) -> Iterator[BaseEvent]:
        """Open step `index`, unless it was opened before."""
        if index > self.newest:
            yield from self.end()
            self.newest, self.is_open = index, True
            yield StepStartedEvent(step_name=_step_name(index))

    def is_sent(self, index: int) -> bool:
        """Whether the end of step `index` was sent, in this stream or before."""
        return index < self.newest or (index == self.newest and not self.is_open)

    @property
    def place(self) -> str:
        """How far the steps were sent, for `stand_at`."""
        return f"{self.newest + 1}-{int(self.is_open)}"

    def stand_at(self, place: str) -> None:
        """Restore the position of an earlier stream. Raise ValueError if malformed."""
        count, is_open = map(int, place.split("-"))
        self.newest, self.is_open = count - 1, bool(is_open)

    def end(self) -> Iterator[BaseEvent]:
        """Close the step that is open, if one is."""
        if self.is_open:
            self.is_open = False
            yield StepFinishedEvent(step_name=_step_name(self.newest))


class GrowingText:
    """A text that grows. `sent` counts its characters; a repeat sends nothing."""

    def __init__(self, message_id: str) -> None:
        self.message_id = message_id
        self.sent = 0

    def lacks(self, delta: str, offset: int) -> bool:
        """Whether a piece continues the text sent so far: no repeat, no gap."""
        return offset <= self.sent < offset + len(delta)


class Text(GrowingText):
    """One text message."""

    def __init__(self, message_id: str) -> None:
        super().__init__(message_id)
        self.is_open = False
        self.is_over = False

    def start(self) -> Iterator[BaseEvent]:
        """Open it, unless it was opened before."""
        if not self.is_open and not self.is_over:
            self.is_open = True
            yield TextMessageStartEvent(message_id=self.message_id, role="assistant")

    def add(self, delta: str, offset: int) -> Iterator[BaseEvent]:
        """Send what of `delta` has not been sent; nothing after a gap."""
        if self.is_over or not self.lacks(delta, offset):
            return
        yield from self.start()
        piece = delta[self.sent - offset :]
        self.sent += len(piece)
        yield TextMessageContentEvent(message_id=self.message_id, delta=piece)

    @property
    def place(self) -> str:
        """How far it was sent, for `stand_at`."""
        return f"{self.sent}-{int(self.is_open)}-{int(self.is_over)}"

    def stand_at(self, place: str) -> None:
        """Restore the position of an earlier stream. Raise ValueError if malformed."""
        sent, is_open, is_over = map(int, place.split("-"))
        self.sent, self.is_open, self.is_over = sent, bool(is_open), bool(is_over)

    def end(self) -> Iterator[BaseEvent]:
        """Close it, if it is open."""
        if self.is_open:
            self.is_open, self.is_over = False, True
            yield TextMessageEndEvent(message_id=self.message_id)

    def close(self) -> Iterator[BaseEvent]:
        """Close it for good, also if it was never opened."""
        yield from self.end()
        self.is_over = True


class Reasoning(GrowingText):
    """
    The reasoning of one message: one span, or several with text between them.

    `sent` counts over all spans.
    """

    def __init__(self, message_id: str) -> None:
        super().__init__(message_id)
        self._depth = 0  # 1: the span is open, 2: its message too
        self._spans = 0

    @property
    def is_open(self) -> bool:
        """Whether its span, or the message in it, is open."""
        return self._depth > 0

    def add(self, delta: str, offset: int) -> Iterator[BaseEvent]:
        """Send what of `delta` has not been sent; nothing after a gap."""
        if not self.lacks(delta, offset):
            return
        if self._depth == 0:
            self._depth = 1
            self._spans += 1
            yield ReasoningStartEvent(message_id=self._id)
        if self._depth == 1:
            self._depth = 2
            yield ReasoningMessageStartEvent(message_id=self._id, role="reasoning")
        piece = delta[self.sent - offset :]
        self.sent += len(piece)
        yield ReasoningMessageContentEvent(message_id=self._id, delta=piece)

    @property
    def place(self) -> str:
        """How far it was sent, for `stand_at`."""
        return f"{self.sent}-{self._depth}-{self._spans}"

    def stand_at(self, place: str) -> None:
        """Restore the position of an earlier stream. Raise ValueError if malformed."""
        self.sent, self._depth, self._spans = map(int, place.split("-"))

    def end(self) -> Iterator[BaseEvent]:
        """Close the span that is open, if one is."""
        if self._depth == 2:
            self._depth = 1
            yield ReasoningMessageEndEvent(message_id=self._id)
        if self._depth == 1:
            self._depth = 0
            yield ReasoningEndEvent(message_id=self._id)

    @property
    def _id(self) -> str:
        name = reasoning_id(self.message_id)
        return name if self._spans == 1 else f"{name}-{self._spans}"


def reasoning_id(message_id: str) -> str:
    """Return the id of the reasoning that belongs to a message."""
    return f"{message_id}-reasoning"


def result_id(call_id: str) -> str:
    """Return the id of the message that holds the result of a call."""
    return f"{call_id}-result"


def _step_name(index: int) -> str:
    return f"step {index + 1}"
