"""One request that follows a run, from its beginning or taken up again, to its end or its leaving."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from uuid import UUID

from channels.layers import get_channel_layer
from django.http import HttpRequest
from django.utils.translation import gettext as _

from ai_assistant.engine.queries import active_run
from ai_assistant.engine.service import stop_left
from ai_assistant.engine.storage.eventlog import events_after
from ai_assistant.exceptions import Refused
from ai_assistant.render.agui.segment import Names, Segment
from ai_assistant.safety.identity.tokens import Scope
from ai_assistant.types import UserKey
from ai_assistant.web.agui.stream import Listener, Stream
from ai_assistant.web.agui.threads import find_conversation, no_thread, own_id
from ai_assistant.web.principal import Caller, identify

if TYPE_CHECKING:
    from ai_assistant.models.conversation import Conversation

logger = logging.getLogger("ai_assistant")

ANSWER_S = 0.3  # for those who look on to say so

_left: set[UUID] = set()  # runs whose client has left this process just now

# Work that outlives its request: the reference keeps it from being collected.
_leaving: set[asyncio.Task[None]] = set()


def leave(user_id: UserKey, run_id: UUID, group: str) -> None:
    """Stop the run soon, unless a panel or another stream shows it."""
    task = asyncio.get_running_loop().create_task(_leave(user_id, run_id, group))
    _leaving.add(task)
    task.add_done_callback(_leaving.discard)
    _left.add(run_id)
    task.add_done_callback(lambda _task: _left.discard(run_id))


def is_being_left(user: Any, thread: str) -> bool:
    """Tell whether the run of a thread is about to end. Asks the database."""
    conversation = find_conversation(user, thread)
    if conversation is None:
        return False
    active = active_run(conversation)
    return active is None or active.is_stopping or active.pk in _left


async def _leave(user_id: UserKey, run_id: UUID, group: str) -> None:
    if not await _is_watched(group):
        await stop_left(user_id, run_id)


async def _is_watched(group: str) -> bool:
    """Ask all who look on, in every process, to say so."""
    layer: Any = get_channel_layer()
    try:
        async with asyncio.timeout(ANSWER_S):
            own = await layer.new_channel()
            await layer.group_send(group, {"type": "aia.roll_call", "reply": own})
            await layer.receive(own)
    except TimeoutError:
        return False
    except Exception as error:  # noqa: BLE001 - any layer, any failure
        logger.debug("channel layer failed: %s", error)
        return False
    return True


START_S = 10.0  # in which the server begins to send, or the client has left

# Work that outlives its request: the reference keeps it from being collected.
_ending: set[asyncio.Task[Any]] = set()


class Attendance:
    """
    Sends a stream, and tells `on_left` if its client leaves before it is over.

    A response that is never sent counts as left, too: nobody closes its iterator.
    """

    def __init__(
        self, stream: Stream, listener: Listener, on_left: Callable[[], None]
    ) -> None:
        self._stream = stream
        self._listener = listener
        self._on_left = on_left
        self._began = self._ended = False
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(START_S, self._unless_begun)

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
        """Let go of everything, once."""
        if self._ended:
            return
        self._ended = True
        self._timer.cancel()
        task = asyncio.get_running_loop().create_task(self._listener.stop())
        _ending.add(task)
        task.add_done_callback(_ending.discard)
        if not self._stream.segment.is_over:
            self._on_left()

    def _unless_begun(self) -> None:
        if not self._began:
            self.end()


POSITION_CHARS = 100


def attached(request: HttpRequest) -> tuple[Caller, Segment, UUID]:
    """
    Return who asks, the segment, and its conversation. Asks the database.

    The header Last-Event-ID says where the client stands. Raise Refused: not_found,
    bad_input.
    """
    caller = identify(request, Scope.READ)
    thread, run = (request.GET.get(name, "") for name in ("threadId", "runId"))
    conversation = find_conversation(caller.user, thread)
    if conversation is None:
        raise no_thread(thread)
    is_new = request.GET.get("protocolVersion", "1.0") != ""
    may_answer = caller.may_answer
    names = Names(thread=thread, run=run, is_new=is_new, may_answer=may_answer)
    segment = _segment(conversation, names)
    if position := request.headers.get("Last-Event-ID", ""):
        _stand_at(segment, position)
    return caller, segment, conversation.pk


def _segment(conversation: "Conversation", names: Names) -> Segment:
    known = conversation.client_runs.filter(client_id=names.run).first()
    if known is not None:
        return Segment(known.run_id, names, after=known.after)
    own = own_id(names.run)
    if own is None or not conversation.runs.filter(pk=own).exists():
        raise Refused("not_found", _("There is no run “%(run)s”.") % {"run": names.run})
    return Segment(own, names)


def _stand_at(segment: Segment, position: str) -> None:
    """Let the segment go on where its client stands."""
    told = events_after(segment.run_id, segment.after)
    try:
        segment.stand_at(position[:POSITION_CHARS], told)
    except ValueError as error:
        raise Refused(
            "bad_input", _("“Last-Event-ID” is none that this stream gave.")
        ) from error
