"""The part of a run that one stream sends: from an event on, to its end."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from ag_ui.core import (
    PROTOCOL_VERSION,
    ActivitySnapshotEvent,
    BaseEvent,
    MessagesSnapshotEvent,
    RunErrorEvent,
    RunFinishedCancelledOutcome,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    RunFinishedSuccessOutcome,
    RunStartedEvent,
)
from django.utils.translation import gettext as _

from ai_assistant.engine.interrupts.browser import open_requests
from ai_assistant.engine.queries import waits_for_person
from ai_assistant.engine.storage.eventlog import StoredEvent, events_after, steps_until
from ai_assistant.models.call import ToolCall
from ai_assistant.models.conversation import Message
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import WAITING_FOR_PERSON, Run, RunState
from ai_assistant.render.agui.interrupts import open_interrupts, pending_calls
from ai_assistant.render.agui.messages import messages_of, sums_of, usage_of
from ai_assistant.render.agui.translation import FIRST_SEQ, Translator

QUIET = (*WAITING_FOR_PERSON, RunState.WAITING_TASK, RunState.WAITING_BROWSER)
LAST = ("RUN_FINISHED", "RUN_ERROR")
PLAIN = ("RUN_STARTED", "STEP_", "TEXT_MESSAGE_", "REASONING_")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientIds:
    """The client's names for thread and run, and the protocol it speaks."""

    thread: str
    run: str
    is_new: bool = True  # 1.0 and later; older clients know fewer shapes
    may_answer: bool = True  # what waits for a person


@dataclass(kw_only=True, slots=True)
class SegmentUpdate:
    """What the rows hold for the client: events to translate, and the end, if it is there."""

    events: list[StoredEvent] = field(default_factory=list)
    calls: set[str] = field(default_factory=set)  # of the model, among the events
    # What is sent along with an event: progress, the conversation again.
    alongside: dict[int, list[BaseEvent]] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)  # sent live, and never stored
    # The conversation, sent after what was dropped.
    snapshots: list[BaseEvent] = field(default_factory=list)
    last: list[BaseEvent] = field(default_factory=list)
    is_end: bool = False  # of the run, not only of this stream
    epoch: int = 0
    is_quiet: bool = False  # nothing will happen soon


class Segment:
    """
    Streams the run `run_id` to one client, from the event after `after` on.

    `read` runs in a thread, all else on the loop, one after another.
    """

    def __init__(self, run_id: UUID, names: ClientIds, *, after: int = 0) -> None:
        self.run_id = run_id
        self.names = names
        self.after = after
        self.translator = Translator()
        self.translator.seq = after
        self.is_over = False
        self.has_ended = False  # the run, which the stream has sent to its end
        self.is_fresh = False  # the run has begun just now, and here
        self._is_begun = False
        self._has_read = False
        self._first_step = -1 if after else 0

    def stand_at(self, position: str, events: Iterable[StoredEvent]) -> None:
        """Restore the position of a client. Raise ValueError. Asks the database."""
        stored = list(events)
        self._begin()
        self.translator.calls |= _of_the_model(stored)
        self.translator.stand_at(position, stored)
        self._is_begun = True

    def start(self) -> Iterator[BaseEvent]:
        """Yield the start of the stream; a continued one has begun already."""
        if self._is_begun:
            return
        yield RunStartedEvent(
            thread_id=self.names.thread,
            run_id=self.names.run,
            protocol_version=PROTOCOL_VERSION,
        )

    # --- in a thread ---

    def read(self) -> SegmentUpdate:
        """Return what the client has not received yet."""
        # Read the row first: the events are then at least as new.
        run = Run.objects.select_related("conversation").get(pk=self.run_id)
        self._begin()
        events = events_after(self.run_id, self.translator.seq)
        update = SegmentUpdate(
            events=events, epoch=run.epoch, is_quiet=run.state in QUIET
        )
        update.calls = _of_the_model(events)
        for seq, progress in _progress(events):
            update.alongside.setdefault(seq, []).append(progress)
        self._take_back(run, events, update)
        last = events[-1].seq if events else self.translator.seq
        self._has_read = True
        if ended := self._ended(run, events):
            update.last, update.is_end = [self._end(run, ended)], True
        elif last == run.next_seq - 1:
            update.last = self._pause(run)
        return update

    def _ended(self, run: Run, events: list[StoredEvent]) -> StoredEvent | None:
        """Return the end of the run; its client may be past it already."""
        if run.is_final and not events:
            events = events_after(self.run_id, run.next_seq - 2)
        return next((event for event in events if event.type in LAST), None)

    def _take_back(
        self, run: Run, events: list[StoredEvent], update: SegmentUpdate
    ) -> None:
        """Send the conversation again, if one of its messages no longer counts."""
        replaced = [
            index
            for index, event in enumerate(events)
            if event.type == "CUSTOM" and event.payload["name"] == "aia.replaced"
        ]
        # Text that only live frames had is lost with the process that sent it.
        update.dropped = self.translator.orphans(events, run.epoch)
        if update.dropped:
            update.snapshots.append(_snapshot(run, self.translator.seq))
        if replaced:
            seq = events[replaced[-1]].seq
            update.alongside.setdefault(seq, []).append(_snapshot(run, seq))

    def _begin(self) -> None:
        if self._first_step < 0:
            self._first_step = steps_until(self.run_id, self.after)
            self.translator.skip_steps(self._first_step)

    def _end(self, run: Run, event: StoredEvent) -> BaseEvent:
        usage = usage_of(run, self._first_step) or None
        if event.type == "RUN_ERROR":
            payload = event.payload
            return RunErrorEvent(
                message=payload["message"], code=payload["code"], usage=usage
            )
        if event.payload["outcome"] == "cancelled":
            return self._cancelled(run, usage)
        return self._finished(RunFinishedSuccessOutcome(type="success"), usage)

    def _cancelled(self, run: Run, usage: Any) -> BaseEvent:
        if self.names.is_new:
            return self._finished(RunFinishedCancelledOutcome(type="cancelled"), usage)
        message = run.error_text or _("Stopped.")
        return RunErrorEvent(message=message, code="cancelled", usage=usage)

    def _finished(self, outcome: Any, usage: Any) -> BaseEvent:
        is_plain = isinstance(outcome, RunFinishedSuccessOutcome)
        return RunFinishedEvent(
            thread_id=self.names.thread,
            run_id=self.names.run,
            outcome=None if is_plain and not self.names.is_new else outcome,
            usage=usage,
        )

    def _pause(self, run: Run) -> list[BaseEvent]:
        """Return the end of the stream if the run waits for its reader."""
        usage = usage_of(run, self._first_step) or None
        if waits_for_person(run):
            outcome = RunFinishedInterruptOutcome(
                type="interrupt",
                interrupts=open_interrupts(run, may_answer=self.names.may_answer),
            )
            return [self._finished(outcome, usage)]
        if (
            run.state == RunState.WAITING_BROWSER
            and open_requests(run, of_client=True).exists()
        ):
            pending = pending_calls(run) if self.names.is_new else None
            success = RunFinishedSuccessOutcome(
                type="success", pending_tool_call_ids=pending
            )
            return [self._finished(success, usage)]
        return []

    # --- on the loop ---

    def heard(self, message: Mapping[str, Any]) -> SegmentUpdate | None:
        """
        Return what follows from events that this process has just stored.

        None if the rows have to be read for it: something is missing before them,
        or they are of a kind that is told with what other rows say.
        """
        if not (self.is_fresh or self._has_read):
            return None
        # The first event of a run says nothing more.
        known = self.translator.seq or (FIRST_SEQ if self.is_fresh else 0)
        events = [one for one in message["events"] if one.seq > known]
        if not events:
            return SegmentUpdate()
        is_next = events[0].seq == known + 1
        is_same = events[-1].epoch == self.translator.epoch  # of the same process
        if not is_next or not is_same or any(map(_needs_rows, events)):
            return None
        update = SegmentUpdate(events=events, epoch=events[-1].epoch)
        if events[-1].type in LAST:
            if self._first_step or "usage" not in message:
                return None
            success = RunFinishedSuccessOutcome(type="success")
            usage = sums_of(message["usage"]) or None
            update.last, update.is_end = [self._finished(success, usage)], True
        return update

    def translate(self, update: SegmentUpdate) -> Iterator[BaseEvent]:
        """Return the events for the client."""
        self.translator.calls |= update.calls
        self.translator.epoch = max(self.translator.epoch, update.epoch)
        yield from self.translator.drop(update.dropped, update.snapshots)
        yield from self.translator.stored(update.events, update.alongside)
        if update.last:
            self.is_over, self.has_ended = True, update.is_end
            yield from self.translator.close(ended=update.is_end)
            yield from update.last

    def failed(self, code: str, message: str) -> Iterator[BaseEvent]:
        """Yield the events that end the stream after an error."""
        self.is_over = True
        yield from self.translator.close()
        yield RunErrorEvent(message=message, code=code)


def _needs_rows(event: StoredEvent) -> bool:
    """Return whether what a client is told of an event is not all in the event."""
    if event.type == "RUN_FINISHED":
        return bool(event.payload["outcome"] != "success")
    return not event.type.startswith(PLAIN)


def _snapshot(run: Run, seq: int) -> BaseEvent:
    """Return the conversation without what the events after `seq` will send."""
    return MessagesSnapshotEvent(
        messages=messages_of(
            run.conversation,
            run=run,
            without=lambda: set(map(_subject_id, events_after(run.pk, seq))),
        )
    )


def _subject_id(event: StoredEvent) -> str:
    """Return the id of the message that an event is about; of a result, its call's."""
    name = "call_id" if event.type == "TOOL_CALL_RESULT" else "message_id"
    return str(event.payload.get(name, ""))


def before(run: Run) -> MessagesSnapshotEvent:
    """Return the conversation as it was when `run` began, with its question."""
    ids = run.messages.filter(role=Message.Role.ASSISTANT).values_list("pk", flat=True)
    return MessagesSnapshotEvent(
        messages=messages_of(
            run.conversation, run=run, without=lambda: set(map(str, ids))
        )
    )


def _of_the_model(events: Iterable[StoredEvent]) -> set[str]:
    """Return the ids of calls in `events` that the model made itself."""
    mentioned, started = set(), set()
    for event in events:
        if event.type.startswith("TOOL_CALL_"):
            mentioned.add(event.payload["call_id"])
        if event.type == "TOOL_CALL_START":
            started.add(event.payload["call_id"])
    if not mentioned:
        return set()
    calls = ToolCall.objects.filter(pk__in=filter(_is_id, mentioned), parent=None)
    call_ids = {str(pk) for pk in calls.values_list("pk", flat=True)}
    return call_ids - _answered_by_client(call_ids - started)


def _answered_by_client(calls: set[str]) -> set[str]:
    """Return those that the client has answered itself: it holds their results."""
    rows = Interrupt.objects.filter(
        call__in=[UUID(call_id) for call_id in calls],
        is_of_client=True,
        status=Interrupt.Status.DONE,
    )
    return {str(pk) for pk in rows.values_list("call", flat=True)} if calls else set()


def _is_id(name: str) -> bool:
    try:
        UUID(name)
    except ValueError:
        return False
    return True


def _progress(events: Iterable[StoredEvent]) -> Iterator[tuple[int, BaseEvent]]:
    """Return how far calls have come, each beside the last event about it."""
    seq_by_call = {
        event.payload["value"]["call_id"]: event.seq
        for event in events
        if event.type == "CUSTOM" and event.payload["name"] == "aia.progress"
    }
    calls = ToolCall.objects.filter(pk__in=seq_by_call) if seq_by_call else ()
    for call in calls:
        content = {
            "toolCallId": str(call.pk),
            "tool": call.name,
            "label": call.label,
            "progress": call.progress,
            "text": call.progress_text,
            "steps": call.steps,
        }
        yield (
            seq_by_call[str(call.pk)],
            ActivitySnapshotEvent(
                message_id=f"{call.pk}-progress",
                activity_type="aia.progress",
                content={key: value for key, value in content.items() if value},
            ),
        )
