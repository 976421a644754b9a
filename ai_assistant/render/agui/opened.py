"""What of a stream is open: the only safe way to close it."""

from collections.abc import Iterator

from ag_ui.core import (
    BaseEvent,
    ReasoningEndEvent,
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    ReasoningMessageStartEvent,
    ReasoningStartEvent,
    StepFinishedEvent,
    StepStartedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
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

    def end(self) -> Iterator[BaseEvent]:
        """Close the step that is open, if one is."""
        if self.is_open:
            self.is_open = False
            yield StepFinishedEvent(step_name=_step_name(self.newest))


class Text:
    """One text message. `sent` counts its characters; a repeat sends nothing."""

    def __init__(self, message_id: str) -> None:
        self.message_id = message_id
        self.sent = 0
        self.is_open = False
        self.is_over = False

    def start(self) -> Iterator[BaseEvent]:
        """Open it, unless it was opened before."""
        if not self.is_open and not self.is_over:
            self.is_open = True
            yield TextMessageStartEvent(message_id=self.message_id, role="assistant")

    def add(self, delta: str, offset: int) -> Iterator[BaseEvent]:
        """Send what of `delta` has not been sent; nothing after a gap."""
        if self.is_over or not offset <= self.sent < offset + len(delta):
            return
        yield from self.start()
        piece = delta[self.sent - offset :]
        self.sent += len(piece)
        yield TextMessageContentEvent(message_id=self.message_id, delta=piece)

    def stand_at(self, sent: int) -> None:
        """Take `sent` characters as told, in an earlier stream."""
        if sent > self.sent:
            self.sent, self.is_open = sent, True

    def end(self) -> Iterator[BaseEvent]:
        """Close it, if it is open."""
        if self.is_open:
            self.is_open, self.is_over = False, True
            yield TextMessageEndEvent(message_id=self.message_id)


class Reasoning:
    """
    The reasoning of one message: one span, or several with text between them.

    `sent` counts over all spans.
    """

    def __init__(self, message_id: str) -> None:
        self.message_id = message_id
        self.sent = 0
        self.is_open = False
        self._spans = 0

    def add(self, delta: str, offset: int) -> Iterator[BaseEvent]:
        """Send what of `delta` has not been sent; nothing after a gap."""
        if not offset <= self.sent < offset + len(delta):
            return
        if not self.is_open:
            self.is_open = True
            self._spans += 1
            yield ReasoningStartEvent(message_id=self._id)
            yield ReasoningMessageStartEvent(message_id=self._id, role="reasoning")
        piece = delta[self.sent - offset :]
        self.sent += len(piece)
        yield ReasoningMessageContentEvent(message_id=self._id, delta=piece)

    def stand_at(self, sent: int) -> None:
        """Take `sent` characters as told, in an earlier stream."""
        if sent > self.sent:
            self.sent, self.is_open = sent, True
            self._spans = max(self._spans, 1)

    def end(self) -> Iterator[BaseEvent]:
        """Close the span that is open, if one is."""
        if self.is_open:
            self.is_open = False
            yield ReasoningMessageEndEvent(message_id=self._id)
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
