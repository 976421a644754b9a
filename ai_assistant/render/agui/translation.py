"""Events of the log and live frames, as events of AG-UI 1.0."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from ag_ui.core import (
    BaseEvent,
    CustomEvent,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)

from ai_assistant.engine.storage.delegated import SUBAGENT
from ai_assistant.engine.storage.eventlog import StoredEvent
from ai_assistant.render.agui.state import (
    Reasoning,
    Steps,
    Text,
    result_id,
    state_change,
)
from ai_assistant.render.agui.subagents import Subagents

FIRST_SEQ = 1  # of the event that says that the run has begun
# Facts of our own that a client may want to know.
TOLD = (
    *("aia.call", "aia.fallback", "aia.resumed", "aia.replaced", "aia.stopping"),
    *("aia.waiting", "aia.summing", "aia.summed"),
)


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
        self._agents = Subagents()
        self._stored: set[str] = set()  # messages that the log has
        self._live_epochs: dict[str, int] = {}  # of messages that were sent live
        self._newest = ""  # the message that was sent last
        self._place = ""  # what was sent beyond event `seq`

    def skip_steps(self, count: int) -> None:
        """Treat the first `count` steps as sent by an earlier stream."""
        self._steps.newest = max(self._steps.newest, count - 1)

    @property
    def position(self) -> str:
        """Return the position of a client that has received the last event."""
        return f"{self.seq}.{self._place}" if self._place else f"{self.seq}"

    def stand_at(self, position: str, events: Iterable[StoredEvent]) -> None:
        """
        Restore the position of a client; `events` are those up to it, perhaps more.

        Raise ValueError if it is not a position of this run.
        """
        seq, _dot, place = position.partition(".")
        stored, last = list(events), int(seq)
        newest = stored[-1].seq if stored else self.seq
        if not self.seq <= last <= newest:
            raise ValueError(position)
        for _sent in self.stored(event for event in stored if event.seq <= last):
            pass  # it has been sent
        if place:
            self._restore_place(place)

    def _restore_place(self, place: str) -> None:
        step, message_id, text, reasoning, epoch = place.split(".")
        self._steps.stand_at(step)
        if message_id:
            self._text(message_id).stand_at(text)
            self._reason(message_id).stand_at(reasoning)
            self._newest = message_id
            self._live_epochs[message_id] = int(epoch)
            if int(epoch) < self.epoch:
                # It was dropped already, before the output of the newer process.
                self._stored.add(message_id)
        self._place = self._current_place()

    def _current_place(self) -> str:
        name = self._newest
        text = self._texts.get(name) or Text(name)
        reasoning = self._reasoning.get(name) or Reasoning(name)
        epoch = self._live_epochs.get(name, self.epoch)
        return f"{self._steps.place}.{name}.{text.place}.{reasoning.place}.{epoch}"

    def _numbered(
        self, events: Iterator[BaseEvent], seq: int | None = None
    ) -> Iterator[BaseEvent]:
        """
        Yield events with their positions; the last one completes stored event `seq`.

        A client before that position gets event `seq` again: what was sent of it then
        yields nothing.
        """
        event = next(events, None)
        while event is not None:
            position = self._current_place()
            following = next(events, None)
            if following is None and seq is not None:
                self.seq = seq
            self._place = position
            yield event
            event = following
        if seq is not None:
            self.seq = seq

    @property
    def is_blank(self) -> bool:
        """Return whether no output of the model has been sent."""
        return not self._newest and not self._open_calls and self.seq <= FIRST_SEQ

    # --- stored ---

    def stored(
        self,
        events: Iterable[StoredEvent],
        beside: Mapping[int, Iterable[BaseEvent]] | None = None,
    ) -> Iterator[BaseEvent]:
        """Translate events of the log, in their order, each with what is `beside` it."""
        for event in events:
            if event.seq <= self.seq:
                continue
            self.epoch = max(self.epoch, event.epoch)
            translated = self._fact(event.type, event.payload)
            extra = (beside or {}).get(event.seq, ())
            yield from self._numbered(chain(translated, extra), event.seq)

    def orphans(self, events: Sequence[StoredEvent], epoch: int) -> set[str]:
        """
        Return the messages that only live frames had, of a process that is gone.

        `events` are to be sent next, `epoch` is the run's by now.
        """
        messages = {name for name, since in self._live_epochs.items() if since < epoch}
        coming = {event.payload.get("message_id") for event in events}
        return messages - self._stored - coming

    def drop(
        self, messages: Collection[str], snapshots: Iterable[BaseEvent] = ()
    ) -> Iterator[BaseEvent]:
        """Close messages that no longer count, then send `snapshots`."""
        self._stored.update(messages)
        closed = chain.from_iterable(
            chain(self._reason(name).end(), self._text(name).end()) for name in messages
        )
        yield from self._numbered(chain(closed, snapshots))

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
        self._newest = name = fact["message_id"]
        self._stored.add(name)
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
            # The reply is stored: what a process that has lost the run still says of
            # it comes too late, for a message that its calls have named.
            yield from self._text(fact["message_id"]).close()
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
        if name == "aia.state":
            yield state_change(value)
        if name == SUBAGENT:
            yield from self._agents.tell(value)
        if name in TOLD:
            yield CustomEvent(name=name, value=dict(value))

    # --- live ---

    def knows(self, frame: Mapping[str, Any]) -> bool:
        """Return whether a live frame can be translated; if not, rows come first."""
        if frame["epoch"] > self.epoch:
            return False
        if frame["reasoning"]:
            return frame["message"] in self._reasoning
        # The end of the reasoning may be on its way: only its row is sure.
        is_closed = not self._reason(frame["message"]).is_open
        return is_closed and frame["message"] in self._texts

    def live(self, frame: Mapping[str, Any]) -> Iterator[BaseEvent]:
        """Translate a piece of text that is not stored yet, if it fits."""
        if "text" not in frame or frame["epoch"] != self.epoch:
            return
        if not self._steps.is_sent(frame["step"]):
            yield from self._numbered(self._live(frame))

    def _live(self, frame: Mapping[str, Any]) -> Iterator[BaseEvent]:
        name = frame["message"]
        if frame["reasoning"]:
            if self._text(name).sent:
                return
            part: Text | Reasoning = self._reason(name)
        elif self._reason(name).is_open:
            return
        else:
            part = self._text(name)
        if not part.lacks(frame["text"], frame["offset"]):
            return
        self._newest, self._live_epochs[name] = name, self.epoch
        yield from self._steps.start(frame["step"])
        yield from part.add(frame["text"], frame["offset"])

    # --- the end ---

    def close(self, *, ended: bool = True) -> Iterator[BaseEvent]:
        """Close whatever is open. Of a run that has not `ended`, agents wait."""
        yield from self._numbered(self._close(ended=ended))

    def _close(self, *, ended: bool) -> Iterator[BaseEvent]:
        yield from self._close_messages()
        for call_id in sorted(self._open_calls):
            yield ToolCallEndEvent(tool_call_id=call_id)
        self._open_calls.clear()
        yield from self._agents.close(ended=ended)
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
