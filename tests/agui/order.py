"""
The order of a stream, and what it must not do to a client that holds a thread.

Also what the stock client accepts in silence: a stream without an end, another run's
name, two results for one call, an id told twice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Event = Mapping[str, Any]
LAST = ("RUN_FINISHED", "RUN_ERROR")
# Pairs of START and END, and what may stand between; each family has its own ids.
FAMILIES = {
    "TEXT_MESSAGE": ("START", "CONTENT", "END"),
    "TOOL_CALL": ("START", "ARGS", "END"),
    "REASONING_MESSAGE": ("START", "CONTENT", "END"),
    "REASONING": ("START", "", "END"),
    "STEP": ("STARTED", "", "FINISHED"),
}
IDS = {"TOOL_CALL": "toolCallId", "STEP": "stepName"}
# Kinds of messages that a START makes; calls have ids of their own.
MINTS = {"TEXT_MESSAGE": "assistant", "REASONING_MESSAGE": "reasoning"}
UNFINISHED = "stream_failed"  # a stream that gives up: its run may go on


@dataclass
class Known:
    """
    What a client holds of a thread when a stream begins, and then as it goes on.

    `messages` are kinds by id, `calls` names by id in the order made; `answered` are
    ids of calls; `runs` the names of runs that were used.
    """

    messages: dict[str, str] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    runs: set[str] = field(default_factory=set)

    @property
    def unanswered(self) -> list[str]:
        return [one for one in self.calls if one not in self.answered]


@dataclass(kw_only=True)
class Order:
    """
    Takes the events of one stream; `faults` says what is wrong with it.

    `mine` are names of tools that the client carries out, `may_wait` of those whose
    result may come in a later stream.
    """

    thread: str
    run: str
    known: Known = field(default_factory=Known)
    mine: Iterable[str] = ()
    may_wait: Iterable[str] = ()
    faults: list[str] = field(default_factory=list)
    ended: str = ""
    _count: int = 0
    _open: dict[str, dict[str, Event]] = field(default_factory=dict)
    _agents: dict[str, bool] = field(default_factory=dict)  # whether each is open

    def take(self, event: Event) -> None:
        """Take the next event."""
        kind = str(event["type"])
        if self.ended:
            self._say(event, f"comes after {self.ended}")
        if (self._count == 0) != (kind == "RUN_STARTED") and not (
            self._count == 0 and kind == "RUN_ERROR"
        ):
            self._say(event, "is first" if self._count == 0 else "starts a second run")
        self._count += 1
        family, _line, part = kind.rpartition("_")
        if kind in OTHERS:
            OTHERS[kind](self, event)
        elif family in FAMILIES and part in FAMILIES[family]:
            self._of_family(event, family, FAMILIES[family].index(part))

    def end(self, *, is_cut: bool = False) -> None:
        """Note that the stream is over; `is_cut`: the client has left it."""
        if not self.ended and not is_cut:
            self.faults.append("the stream ends without RUN_FINISHED or RUN_ERROR")

    # --- what opens and closes ---

    def _of_family(self, event: Event, family: str, part: int) -> None:
        own = event[IDS.get(family, "messageId")]
        open_ones = self._open.setdefault(family, {})
        if part > 0 and own not in open_ones:
            self._say(event, f"“{own}” is not open")
        elif part == 2:
            del open_ones[own]
        elif part == 0:
            if own in open_ones:
                self._say(event, f"“{own}” is open already")
            open_ones[own] = event
            self._opened(event, family, own)

    def _opened(self, event: Event, family: str, own: str) -> None:
        if family in MINTS:
            self._mint(event, own, MINTS[family])
        if family == "TOOL_CALL":
            if own in self.known.calls:
                self._say(event, f"the call “{own}” was made before")
            self.known.calls[own] = event["toolCallName"]
            self._parent(event, event.get("parentMessageId", own))

    def _mint(self, event: Event, own: str, kind: str, *, again: bool = False) -> None:
        held = self.known.messages.get(own)
        if held is not None and not (again and held == kind):
            self._say(event, f"“{own}” is fresh no more: it names a message ({held})")
        self.known.messages[own] = kind

    def _parent(self, event: Event, parent: str) -> None:
        """A call hangs on the assistant's message, or makes one with that id."""
        kind = self.known.messages.setdefault(parent, "assistant")
        if kind != "assistant":
            self._say(event, f"hangs on “{parent}”, which is no answer but {kind}")

    # --- the rest ---

    def _started(self, event: Event) -> None:
        self._names(event)
        if event.get("protocolVersion") != "1.0":
            self._say(event, "does not say that 1.0 is spoken")
        if event.get("input") is not None:
            self._say(event, "echoes the input, which adds messages to the client's")

    def _result(self, event: Event) -> None:
        call = event["toolCallId"]
        self._mint(event, event["messageId"], "tool")
        if call not in self.known.calls:
            self._say(event, f"answers the call “{call}”, which nobody made")
        if call in self._open.get("TOOL_CALL", {}):
            self._say(event, f"answers the call “{call}”, which is open")
        if call in self.known.answered:
            self._say(event, f"answers the call “{call}” a second time")
        self.known.answered.add(call)

    def _activity(self, event: Event) -> None:
        self._mint(event, event["messageId"], "activity", again=True)

    def _activity_delta(self, event: Event) -> None:
        if self.known.messages.get(event["messageId"]) != "activity":
            self._say(event, "changes an activity that nobody told of")

    def _custom(self, event: Event) -> None:
        if not event["name"].startswith("aia."):
            self._say(event, "has a name that is not ours")

    def _snapshot(self, event: Event) -> None:
        """The conversation is told anew: what the client held of it is gone."""
        if self._open.get("TEXT_MESSAGE") or self._open.get("TOOL_CALL"):
            self._say(event, "comes while a message or a call is open")
        kept = ("activity", "reasoning")
        held = {k: v for k, v in self.known.messages.items() if v in kept}
        told = event["messages"]
        roles = {one["role"] for one in told}
        self.known.messages = {k: v for k, v in held.items() if v not in roles}
        self.known.calls, self.known.answered = {}, set()
        ids = [one["id"] for one in told]
        if len(set(ids)) < len(ids):
            self._say(event, "holds two messages of one id")
        for one in told:
            self._told(event, one)

    def _told(self, event: Event, message: Event) -> None:
        self.known.messages[message["id"]] = message["role"]
        if message["role"] == "assistant":
            calls = message.get("toolCalls", [])
            if not message.get("content") and not calls:
                self._say(event, f"has an empty answer “{message['id']}”")
            for call in calls:
                if call["id"] in self.known.calls:
                    self._say(event, f"tells the call “{call['id']}” twice")
                self.known.calls[call["id"]] = call["function"]["name"]
        if message["role"] == "tool":
            call_id = message["toolCallId"]
            if call_id not in self.known.calls or call_id in self.known.answered:
                self._say(event, f"has a result too many, for “{call_id}”")
            self.known.answered.add(call_id)

    def _agent_begins(self, event: Event) -> None:
        own, above = event["subagentRunId"], event.get("parentSubagentRunId")
        if own in self._agents:
            self._say(event, f"“{own}” was begun before")
        if above is not None and not self._agents.get(above):
            self._say(event, f"hangs on “{above}”, which is not open")
        if event.get("parentToolCallId") not in {None, *self.known.unanswered}:
            self._say(event, "hangs on a call that is not open")
        self._agents[own] = True

    def _agent_ends(self, event: Event) -> None:
        own = event["subagentRunId"]
        if not self._agents.get(own):
            self._say(event, f"“{own}” is not open")
        self._agents[own] = False

    # --- ends ---

    def _finished(self, event: Event) -> None:
        self._names(event)
        self._closed(event)
        self._usage(event)
        outcome = event.get("outcome") or {"type": "success"}
        left = self.known.unanswered
        if outcome["type"] == "success":
            self._pending(event, outcome.get("pendingToolCallIds"), left)
        elif outcome["type"] == "interrupt":
            self._interrupts(event, outcome["interrupts"], left)
        elif left:
            self._say(event, f"leaves {left} without a result")

    def _pending(self, event: Event, told: Any, left: list[str]) -> None:
        if told is not None and told != left:
            self._say(event, f"names {told} as pending, unanswered are {left}")
        for call in left:
            if self.known.calls[call] not in self.mine:
                self._say(event, f"leaves “{call}”, which is not the client's")

    def _interrupts(
        self, event: Event, interrupts: list[dict[str, Any]], left: list[str]
    ) -> None:
        ids = [one["id"] for one in interrupts]
        if len(set(ids)) < len(ids):
            self._say(event, "has two interrupts of one id")
        named = {one.get("toolCallId") for one in interrupts}
        if strange := named - {None, *left}:
            self._say(event, f"waits for {strange}, which are no open calls")
        for call in left:
            may_wait = {*self.mine, *self.may_wait}
            if call not in named and self.known.calls[call] not in may_wait:
                self._say(event, f"leaves “{call}” without an interrupt")

    def _error(self, event: Event) -> None:
        self._closed(event)
        self._usage(event)
        left = self.known.unanswered
        if left and event.get("code") != UNFINISHED:
            self._say(event, f"leaves {left} without a result")

    def _closed(self, event: Event) -> None:
        self.ended = str(event["type"])
        for family, ones in self._open.items():
            if ones:
                self._say(event, f"leaves open: {family} {[*ones]}")
        for own, is_open in self._agents.items():
            if is_open:
                self._say(event, f"leaves the subagent “{own}” open")

    def _usage(self, event: Event) -> None:
        for entry in event.get("usage", ()):
            told_in, told_out = (
                entry.get(f"{one}Tokens") for one in ("input", "output")
            )
            if entry.get("totalTokens", 0) != (told_in or 0) + (told_out or 0):
                self._say(event, f"counts wrong: {entry}")
            parts = ("cachedInputTokens", "cacheWriteInputTokens")
            is_more = any(entry.get(part, 0) > (told_in or 0) for part in parts)
            if is_more or entry.get("reasoningTokens", 0) > (told_out or 0):
                self._say(event, f"has a part that is more than the whole: {entry}")
            if not told_in and not told_out:
                self._say(event, "tells 0 for what is not known")

    def _names(self, event: Event) -> None:
        if (event["threadId"], event["runId"]) != (self.thread, self.run):
            self._say(event, f"names {event['threadId']!r} {event['runId']!r}")

    def _say(self, event: Event, fault: str) -> None:
        self.faults.append(f"event {self._count} ({event['type']}): {fault}")


def outline(events: Iterable[Event]) -> str:
    """Return the types of a stream in short: A, B x12, C."""

    def counted() -> Iterator[str]:
        last, times = "", 0
        for kind in [*(str(one["type"]) for one in events), ""]:
            if kind == last:
                times += 1
                continue
            if last:
                yield f"{last} x{times}" if times > 1 else last
            last, times = kind, 1

    return ", ".join(counted())


OTHERS: dict[str, Callable[[Order, Event], None]] = {
    "RUN_STARTED": Order._started,
    "RUN_FINISHED": Order._finished,
    "RUN_ERROR": Order._error,
    "TOOL_CALL_RESULT": Order._result,
    "ACTIVITY_SNAPSHOT": Order._activity,
    "ACTIVITY_DELTA": Order._activity_delta,
    "SUBAGENT_STARTED": Order._agent_begins,
    "SUBAGENT_FINISHED": Order._agent_ends,
    "SUBAGENT_ERROR": Order._agent_ends,
    "CUSTOM": Order._custom,
    "MESSAGES_SNAPSHOT": Order._snapshot,
}
