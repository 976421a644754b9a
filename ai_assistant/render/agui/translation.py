"""Our events, stored and live, as events of AG-UI 1.0."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ag_ui.core import (
    BaseEvent,
    CustomEvent,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)

from ai_assistant.engine.eventlog import StoredEvent
from ai_assistant.render.agui.opened import Reasoning, Steps, Text, result_id

# Facts of our own that a client may want to know.
TOLD = ("aia.call", "aia.resumed", "aia.replaced", "aia.stopping", "aia.waiting")


class Translator:
    """
    Translates one run for one client. Both kinds of input may repeat.

    `calls` holds the ids of the calls that the model made itself; those that tools
    make of others are no part of the protocol's conversation.
    """

    def __init__(self, epoch: int = 1) -> None:
        self.seq = 0
        self.epoch = epoch
        self.calls: set[str] = set()
        self._steps = Steps()
        self._texts: dict[str, Text] = {}
        self._reasoning: dict[str, Reasoning] = {}
        self._open_calls: set[str] = set()

    def skip_steps(self, count: int) -> None:
        """Take the first `count` steps as told, in another stream."""
        self._steps.newest = max(self._steps.newest, count - 1)

    @property
    def position(self) -> str:
        """Return where a client stands that has been told all up to now."""
        newest = next(reversed(self._texts), next(reversed(self._reasoning), ""))
        text, reasoning = self._text(newest).sent, self._reason(newest).sent
        return f"{self.seq}.{newest}.{text}.{reasoning}" if newest else f"{self.seq}"

    def stand_at(self, position: str, events: Iterable[StoredEvent]) -> None:
        """
        Go on where a client stands; `events` are those up to there, and perhaps more.

        Raise ValueError if that is no position of this run.
        """
        seq, _dot, rest = position.partition(".")
        last = int(seq)
        for _told in self.stored(one for one in events if one.seq <= last):
            pass  # it has been told
        if rest:
            message_id, text, reasoning = rest.split(".")
            self._text(message_id).stand_at(int(text))
            self._reason(message_id).stand_at(int(reasoning))

    # --- stored ---

    def stored(self, events: Iterable[StoredEvent]) -> Iterator[BaseEvent]:
        """Translate events of the log, in their order."""
        for event in events:
            if event.seq <= self.seq:
                continue
            self.seq = event.seq
            self.epoch = max(self.epoch, event.epoch)
            yield from self._fact(event.type, event.payload)

    def _fact(self, kind: str, fact: Mapping[str, Any]) -> Iterator[BaseEvent]:
        if kind == "STEP_STARTED":
            if fact["index"] > self._steps.newest:
                yield from self._close_messages()
                yield from self._steps.start(fact["index"])
        elif kind == "STEP_FINISHED":
            if fact["index"] == self._steps.newest:
                yield from self._steps.end()
        elif kind.startswith(("TEXT_MESSAGE_", "REASONING_")):
            yield from self._message(kind, fact)
        elif kind.startswith("TOOL_CALL_"):
            yield from self._call(kind, fact)
        elif kind == "CUSTOM":
            yield from self._own(fact["name"], fact["value"])

    def _message(self, kind: str, fact: Mapping[str, Any]) -> Iterator[BaseEvent]:
        name = fact["message_id"]
        if kind == "TEXT_MESSAGE_CONTENT":
            yield from self._reason(name).end()
            yield from self._text(name).add(fact["delta"], fact["offset"])
        elif kind == "TEXT_MESSAGE_END":
            yield from self._text(name).end()
        elif kind == "REASONING_MESSAGE_CONTENT":
            yield from self._reason(name).add(fact["delta"], fact["offset"])
        elif kind == "REASONING_END":
            yield from self._reason(name).end()

    def _call(self, kind: str, fact: Mapping[str, Any]) -> Iterator[BaseEvent]:
        call_id = fact["call_id"]
        if call_id not in self.calls:
            return
        if kind == "TOOL_CALL_START":
            self._open_calls.add(call_id)
            yield ToolCallStartEvent(
                tool_call_id=call_id,
                tool_call_name=fact["name"],
                parent_message_id=fact["message_id"],
            )
        elif kind == "TOOL_CALL_ARGS":
            yield ToolCallArgsEvent(tool_call_id=call_id, delta=fact["delta"])
        elif kind == "TOOL_CALL_END":
            self._open_calls.discard(call_id)
            yield ToolCallEndEvent(tool_call_id=call_id)
        elif kind == "TOOL_CALL_RESULT":
            yield ToolCallResultEvent(
                message_id=result_id(call_id),
                tool_call_id=call_id,
                content=fact["content"],
                role="tool",
            )

    def _own(self, name: str, value: Mapping[str, Any]) -> Iterator[BaseEvent]:
        if name == "aia.replaced":
            yield from self._text(value["message_id"]).end()
            yield from self._reason(value["message_id"]).end()
        if name in TOLD:
            yield CustomEvent(name=name, value=dict(value))

    # --- live ---

    def knows(self, frame: Mapping[str, Any]) -> bool:
        """Tell whether a live frame can be translated, or the rows must come first."""
        if frame["epoch"] > self.epoch:
            return False
        if frame["reasoning"]:
            return frame["message"] in self._reasoning
        # The end of the reasoning may be on its way: only its row is sure.
        is_closed = not self._reason(frame["message"]).is_open
        return is_closed and frame["message"] in self._texts

    def live(self, frame: Mapping[str, Any]) -> Iterator[BaseEvent]:
        """Translate a piece of text that is not stored yet, if it fits."""
        name = frame["message"]
        if "text" not in frame or frame["epoch"] != self.epoch:
            return
        if frame["step"] < self._steps.newest:
            return
        if frame["reasoning"]:
            if not self._text(name).sent:
                yield from self._steps.start(frame["step"])
                yield from self._reason(name).add(frame["text"], frame["offset"])
        elif not self._reason(name).is_open:
            yield from self._steps.start(frame["step"])
            yield from self._text(name).add(frame["text"], frame["offset"])

    # --- the end ---

    def close(self) -> Iterator[BaseEvent]:
        """Close whatever is open."""
        yield from self._close_messages()
        for call_id in sorted(self._open_calls):
            yield ToolCallEndEvent(tool_call_id=call_id)
        self._open_calls.clear()
        yield from self._steps.end()

    def _close_messages(self) -> Iterator[BaseEvent]:
        for reasoning in self._reasoning.values():
            yield from reasoning.end()
        for text in self._texts.values():
            yield from text.end()

    def _text(self, message_id: str) -> Text:
        return self._texts.setdefault(message_id, Text(message_id))

    def _reason(self, message_id: str) -> Reasoning:
        return self._reasoning.setdefault(message_id, Reasoning(message_id))
