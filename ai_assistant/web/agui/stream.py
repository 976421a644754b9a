"""Follow a segment of a run: rows and live text in, server-sent events out."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from typing import Any

from ag_ui.core import BaseEvent
from django.db import Error as DatabaseFailure
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.engine.storage.listeners import listeners
from ai_assistant.engine.storage.units import in_db
from ai_assistant.render.agui.segment import Segment, SegmentUpdate
from ai_assistant.web.realtime.follower import Follower

CONTENT_TYPE = "text/event-stream"
KEEPALIVE = b": still here\n\n"


def frame(event: BaseEvent, event_id: str = "") -> bytes:
    """Return the frame of an event. `event_id` is for clients that attach again."""
    name = f"id: {event_id}\n" if event_id else ""
    return f"{name}data: {event.model_dump_json(by_alias=True)}\n\n".encode()


def stream_response(
    request: HttpRequest, frames: AsyncIterator[bytes]
) -> StreamingHttpResponse:
    """Return the response that sends `frames` as they come."""
    # A middleware that compresses would hold small pieces back.
    request.META["HTTP_ACCEPT_ENCODING"] = "identity"
    response = StreamingHttpResponse(frames, content_type=CONTENT_TYPE)
    response["Cache-Control"] = "private, no-store, no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


logger = logging.getLogger("ai_assistant")

QUIET_POLLS = 4  # a waiting run is polled this many times less often
FAILED_AGAIN = 3  # reads, after which the client gets an error


class Listener(Follower):
    """Follows a conversation for a stream, which takes stored events as they are."""

    takes_events = True

    def __init__(self, group: str) -> None:
        super().__init__()
        self.group = group

    async def start(self) -> None:
        """Begin to listen; with a layer that is away, to this process alone."""
        await listeners().join(self.group, self)

    async def stop(self) -> None:
        """Listen no more."""
        await listeners().leave(self.group, self)


class Stream:
    """Sends one segment to one client, until it is over."""

    def __init__(
        self, segment: Segment, listener: Listener, first: Iterable[BaseEvent] = ()
    ) -> None:
        self.segment = segment
        self.listener = listener
        self._first = first
        self._run = str(segment.run_id)
        self._is_quiet = False

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """Yield what is to be sent. Ends with the terminal event, always."""
        for event in (*self.segment.start(), *self._first):
            yield frame(event)
        try:
            async for piece in self._follow():
                yield piece
        except Exception:
            logger.exception("the stream of run %s failed", self._run)
            for event in self._failure():
                yield frame(event)

    async def _follow(self) -> AsyncIterator[bytes]:
        silent_s = 0.0
        while True:
            sent = False
            async for event in self._collect():
                sent = True
                yield frame(event, self.segment.translator.position)
            silent_s = 0.0 if sent else silent_s
            if self.segment.is_over:
                return
            silent_s += await self._wait()
            if silent_s >= conf.AGUI_KEEPALIVE_S:
                silent_s = 0.0
                yield KEEPALIVE

    async def _collect(self) -> AsyncIterator[BaseEvent]:
        frames = [
            live_frame
            for live_frame in self.listener.take()
            if live_frame["run"] == self._run and "text" in live_frame
        ]
        for event in self._heard():
            yield event
        translator = self.segment.translator
        is_known = all(map(translator.knows, frames)) or self._begins_with(frames)
        if not self.segment.is_over and (self.listener.look or not is_known):
            self.listener.look = False
            update = await self._read()
            for event in self.segment.translate(update):
                yield event
        if not self.segment.is_over:
            for live_frame in frames:
                for event in translator.live(live_frame):
                    yield event

    def _heard(self) -> Iterator[BaseEvent]:
        """Yield what events say that were stored here, or see to it that rows are read."""
        for message in self.listener.take_stored():
            if message["run"] != self._run:
                continue
            update = None if self.listener.look else self.segment.heard(message)
            if update is None:
                self.listener.look = True
                return
            yield from self.segment.translate(update)

    def _begins_with(self, frames: list[dict[str, Any]]) -> bool:
        """Return whether `frames` begin a run whose rows have nothing to send yet."""
        is_first = self.segment.is_fresh and self.segment.translator.is_blank
        # Where reasoning ends, and text begins, only the rows show.
        is_one = len({live_frame["reasoning"] for live_frame in frames}) == 1
        in_first = all(
            not live_frame["step"] and live_frame["epoch"] == 1 for live_frame in frames
        )
        return is_first and is_one and in_first

    async def _read(self) -> SegmentUpdate:
        failed = 0
        while True:
            try:
                update = await in_db(self.segment.read)
            except DatabaseFailure as error:
                failed += 1
                if failed == FAILED_AGAIN:
                    raise
                logger.warning("a stream waits for the database: %s", error)
                await asyncio.sleep(float(conf.get("POLL_S")))
            else:
                self._is_quiet = update.is_quiet
                return update

    async def _wait(self) -> float:
        """Wait for a notification, or for the next poll; return the seconds."""
        poll_s = float(conf.get("POLL_S")) * (QUIET_POLLS if self._is_quiet else 1)
        loop = asyncio.get_running_loop()
        since = loop.time()
        await self.listener.wait(min(poll_s, conf.AGUI_KEEPALIVE_S))
        return loop.time() - since

    def _failure(self) -> Iterator[BaseEvent]:
        sentence = _(
            "The rest of the answer cannot be shown here. It is kept; ask for the "
            "history of the thread."
        )
        return self.segment.failed("stream_failed", sentence)
