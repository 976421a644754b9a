"""The AG-UI endpoint: starts, continues or attaches to a run. Needs the extra `agui`."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ag_ui.core import BaseEvent, CustomEvent, RunAgentInput, RunFinishedEvent
from channels.layers import get_channel_layer
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from ai_assistant.engine.queries import active_run
from ai_assistant.engine.service import (
    Accepted,
    Stored,
    go_on,
    launch,
    note_end,
    send,
    stop,
    stop_left,
    store,
)
from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.eventlog import events_after
from ai_assistant.engine.storage.listeners import has_others, listeners
from ai_assistant.engine.storage.pool import Stage
from ai_assistant.engine.storage.units import in_db
from ai_assistant.exceptions import Refused
from ai_assistant.render.agui.segment import ClientIds, Segment
from ai_assistant.render.agui.state import capabilities
from ai_assistant.request_context import outliving, to_the_end
from ai_assistant.safety.identity.tokens import Scope
from ai_assistant.types import UserKey
from ai_assistant.web.agui.acts import Act
from ai_assistant.web.agui.input import check_type, read_input
from ai_assistant.web.agui.planning import (
    GoOn,
    Plan,
    ShowHistory,
    Start,
    Tell,
    keeps,
    plan,
)
from ai_assistant.web.agui.stream import Listener, Stream, frame, stream_response
from ai_assistant.web.agui.threads import (
    find_thread,
    history_events,
    no_thread,
    own_id,
    whole_history,
)
from ai_assistant.web.principal import Caller, identify

if TYPE_CHECKING:
    from ai_assistant.engine.queries import Conversation

logger = logging.getLogger("ai_assistant")

ANSWER_S = 0.3  # for other followers to answer

_left: set[UUID] = set()  # runs whose client has left this process just now


def leave(user_id: UserKey, run_id: UUID, group: str) -> None:
    """Stop the run soon, unless a panel or another stream shows it."""
    _left.add(run_id)
    task = outliving(_leave(user_id, run_id, group))
    task.add_done_callback(lambda _task: _left.discard(run_id))


def is_being_left(user: Any, thread: str) -> bool:
    """Return whether the run of a thread is about to end. Asks the database."""
    conversation = find_thread(user, thread)
    if conversation is None:
        return False
    active = active_run(conversation)
    return active is None or active.is_stopping or active.pk in _left


async def _leave(user_id: UserKey, run_id: UUID, group: str) -> None:
    if not await _is_watched(group):
        await stop_left(user_id, run_id)


async def _is_watched(group: str) -> bool:
    """Return whether anybody follows here, or answers in another process."""
    layer: Any = get_channel_layer()
    if listeners().has(group) or not has_others(layer):
        return listeners().has(group)
    try:
        async with asyncio.timeout(ANSWER_S):
            reply = await layer.new_channel()
            await layer.group_send(group, {"type": "aia.roll_call", "reply": reply})
            await layer.receive(reply)
    except TimeoutError:
        return False
    except Exception as error:  # noqa: BLE001 - any layer, any failure
        logger.debug("channel layer failed: %s", error)
        return False
    return True


START_S = 10.0  # in which the server begins to send, or the client has left


class Attendance:
    """
    Sends a stream, and calls `on_left` if its client leaves before it is over.

    A response that is never sent counts as left, too: its iterator is never closed.
    """

    def __init__(
        self, stream: Stream, on_left: Callable[[], None] | None = None
    ) -> None:
        self._stream = stream
        self._on_left = on_left
        self._began = self._ended = False
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(START_S, self._end_unless_begun)

    async def frames(self) -> AsyncIterator[bytes]:
        """Yield what is to be sent."""
        self._began = True
        self._timer.cancel()
        try:
            async with aclosing(self._stream.frames()) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            self.end()

    def end(self) -> None:
        """Release everything, once."""
        if self._ended:
            return
        self._ended = True
        self._timer.cancel()
        outliving(self._stream.listener.stop())
        if self._on_left and not self._stream.segment.is_over:
            self._on_left()

    def _end_unless_begun(self) -> None:
        if not self._began:
            self.end()


POSITION_CHARS = 100


def attached(request: HttpRequest) -> tuple[Caller, Segment, UUID]:
    """
    Return the caller, the segment, and its conversation. Asks the database.

    The header Last-Event-ID gives the client's position. Raise Refused: not_found,
    bad_input.
    """
    caller, thread, conversation = _named_thread(request)
    names = ClientIds(
        thread=thread,
        run=request.GET.get("runId", ""),
        is_new=request.GET.get("protocolVersion", "1.0") != "",
        may_answer=caller.may_answer,
    )
    segment = _attached_segment(conversation, names)
    if position := request.headers.get("Last-Event-ID", ""):
        _restore_position(segment, position)
    return caller, segment, conversation.pk


def _named_thread(request: HttpRequest) -> "tuple[Caller, str, Conversation]":
    caller = identify(request, Scope.READ)
    thread = request.GET.get("threadId", "")
    conversation = find_thread(caller.user, thread)
    if conversation is None:
        raise no_thread(thread)
    return caller, thread, conversation


def _attached_segment(conversation: "Conversation", names: ClientIds) -> Segment:
    client_run = conversation.client_runs.filter(client_id=names.run).first()
    if client_run is not None:
        return Segment(client_run.run_id, names, after=client_run.after)
    run_id = own_id(names.run)
    if run_id is None or not conversation.runs.filter(pk=run_id).exists():
        raise Refused("not_found", _("There is no run “%(run)s”.") % {"run": names.run})
    return Segment(run_id, names)


def _restore_position(segment: Segment, position: str) -> None:
    """Let the segment continue at the position of its client."""
    events = events_after(segment.run_id, segment.after)
    try:
        segment.stand_at(position[:POSITION_CHARS], events)
    except ValueError as error:
        raise Refused(
            "bad_input", _("“Last-Event-ID” is not an event ID of this stream.")
        ) from error


BUSY_S, BUSY_STEP_S = 3.0, 0.05  # a run that is being stopped is waited for


async def run_view(request: HttpRequest) -> HttpResponseBase:
    """Answer a RunAgentInput by the events of its run."""
    return await to_the_end(_run_view(request))


async def _run_view(request: HttpRequest) -> HttpResponseBase:
    asked = await in_db(_read, request, stage=Stage.ASK)
    planned = asked.plan or await _planned_later(asked.caller, asked.body)
    if isinstance(planned, ShowHistory):
        return await _history(request, asked, planned)
    if isinstance(planned, Tell):
        return await _tell(request, asked, planned)
    if isinstance(planned, Act):
        return stream_response(request, _at_once(asked.names, await planned.events()))
    return await _run(request, asked, planned)


async def history_view(request: HttpRequest) -> HttpResponseBase:
    """Return the messages of a thread, and what is open in it."""
    return JsonResponse(await in_db(_whole_history, request))


async def stream_view(request: HttpRequest) -> HttpResponseBase:
    """Attach to a run, from its beginning or from the client's position."""
    caller, segment, conversation_id = await in_db(attached, request)
    return await _watched(request, caller, conversation_id, segment)


async def capabilities_view(request: HttpRequest) -> HttpResponseBase:
    """Return what this server can do."""
    await in_db(identify, request, Scope.READ)
    return JsonResponse(await in_db(capabilities))


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """
    What a client asks for; without a plan while a run ends that it has left.

    A message is stored as soon as it was read, in the same thread: on a busy server
    each change of threads waits its turn.
    """

    caller: Caller
    body: RunAgentInput
    plan: Plan | None
    stored: Stored | None = None

    @property
    def names(self) -> ClientIds:
        return ClientIds(
            thread=self.body.thread_id,
            run=self.body.run_id,
            is_new=self.body.protocol_version is not None,
            may_answer=self.caller.may_answer,
        )


def _read(request: HttpRequest) -> Asked:
    check_type(request)  # before the CSRF check, which would parse a form
    caller = identify(request, Scope.RUN)
    body = read_input(request)
    planned = _plan(caller, body)
    stored = None
    if isinstance(planned, Start) and planned.is_stored_at_once:
        stored = store(planned.submission)
    return Asked(caller=caller, body=body, plan=planned, stored=stored)


def _plan(caller: Caller, body: RunAgentInput) -> Plan | None:
    try:
        return plan(caller, body)
    except Refused as refused:
        if refused.code != "busy" or not is_being_left(caller.user, body.thread_id):
            raise
    return None


async def _planned_later(caller: Caller, body: RunAgentInput) -> Plan:
    """Wait for the end of a run that its client has just left."""
    loop = asyncio.get_running_loop()
    until = loop.time() + BUSY_S
    while loop.time() < until:
        await asyncio.sleep(BUSY_STEP_S)
        if planned := await in_db(_plan, caller, body):
            return planned
    return await in_db(plan, caller, body)


async def _run(
    request: HttpRequest, asked: Asked, planned: Start | GoOn
) -> HttpResponseBase:
    user_id = asked.caller.user.pk
    group = notifications.group_name(user_id, planned.conversation_id)
    listener = Listener(group)
    try:
        await listener.start()  # before it runs here: nothing is missed then
        segment = await _segment(asked, planned)
    except BaseException:
        await listener.stop()
        raise
    # A run that begins now has nothing in the rows yet, and a read would delay it.
    listener.look = not segment.is_fresh
    keep, leaving = keeps(asked.body), partial(leave, user_id, segment.run_id, group)
    attendance = Attendance(Stream(segment, listener), None if keep else leaving)
    return stream_response(request, _with_receipt(attendance, segment))


async def _segment(asked: Asked, planned: Start | GoOn) -> Segment:
    """Carry out the plan; return the segment that follows."""
    if isinstance(planned, GoOn):
        after = await go_on(planned.client, planned.run_id, planned.given)
        return Segment(planned.run_id, asked.names, after=after)
    if planned.instead_of is not None:
        await stop(planned.submission.user_id, planned.instead_of)
    accepted = await _accepted(planned, asked.stored)
    segment = Segment(accepted.run_id, asked.names)
    segment.is_fresh = accepted.hold is not None and _is_bare(accepted)
    return segment


def _is_bare(accepted: Accepted) -> bool:
    """Return whether the first events of a new run say nothing: it has no state yet."""
    return accepted.rows is None or len(accepted.rows.events) == 1


async def _accepted(planned: Start, stored: Stored | None) -> Accepted:
    if stored is None:
        return await send(planned.submission)
    launch(planned.submission.user_id, stored)
    return stored.accepted


async def _with_receipt(
    attendance: Attendance, segment: Segment
) -> AsyncIterator[bytes]:
    """Note up to which event the client has received a run that will continue."""
    async for piece in attendance.frames():
        yield piece
    if segment.is_over and not segment.has_ended:
        await in_db(note_end, segment.run_id, segment.names.run, segment.translator.seq)


async def _history(
    request: HttpRequest, asked: Asked, planned: ShowHistory
) -> HttpResponseBase:
    conversation, run = planned.conversation, planned.run
    first = await in_db(history_events, conversation, run, asked.body.state)
    if run is None:
        return stream_response(request, _at_once(asked.names, first))
    segment = Segment(run.pk, asked.names)
    return await _watched(request, asked.caller, conversation.pk, segment, first)


async def _tell(request: HttpRequest, asked: Asked, planned: Tell) -> HttpResponseBase:
    """Answer at once what has become of a message; its run has a stream of its own."""
    accepted = await send(planned.submission)
    value = {"run": str(accepted.run_id), "message": str(accepted.queued or "")}
    name = "aia.told" if planned.submission.steers else "aia.queued"
    told = CustomEvent(name=name, value=value)
    return stream_response(request, _at_once(asked.names, [told]))


async def _watched(
    request: HttpRequest,
    caller: Caller,
    conversation_id: UUID,
    segment: Segment,
    first: Iterable[BaseEvent] = (),
) -> HttpResponseBase:
    """Stream a run to a client; the run continues when it leaves."""
    listener = Listener(notifications.group_name(caller.user.pk, conversation_id))
    await listener.start()
    stream = Stream(segment, listener, first)
    return stream_response(request, Attendance(stream).frames())


async def _at_once(names: ClientIds, events: list[BaseEvent]) -> AsyncIterator[bytes]:
    end = RunFinishedEvent(thread_id=names.thread, run_id=names.run)
    for event in (*Segment(UUID(int=0), names).start(), *events, end):
        yield frame(event)


def _whole_history(request: HttpRequest) -> dict[str, Any]:
    caller, thread, conversation = _named_thread(request)
    may_answer = caller.may_answer
    return {"threadId": thread, **whole_history(conversation, may_answer=may_answer)}
