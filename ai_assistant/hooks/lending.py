"""
Work in a thread of a pool that asks hooks on its way, and calls them itself.

To hand over to another thread takes longer than most hooks. Where they take long, the
thread is lent to them: its pool begins another one, in which the work goes on. Hooks
that took long the last time have threads of their own from the beginning.
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Any, Generic, Protocol, TypeVar

from ai_assistant.hooks.passes import Pass, begun
from ai_assistant.hooks.running import Asks, call_rest, in_hook_thread, wait_for
from ai_assistant.hooks.threads import Connections
from ai_assistant.request_context import Place, outliving

logger = logging.getLogger("ai_assistant")

R = TypeVar("R")
T = TypeVar("T")

LONG_S = 0.05  # for which hooks may keep a thread of a pool
Submit = Callable[[Callable[[], Any]], "asyncio.Future[Any]"]

_WAITS: Any = object()  # in place of a result: hooks are called elsewhere


class HooksTakeLong(Exception):
    """The work goes on once they were called: see `Work.hooks_called`."""


class Lender(Protocol):
    """A pool that begins another thread in place of one that is lent."""

    def lend(self, thread: int) -> None:
        """Let a thread be another's until it ends."""


class Work(Generic[T]):
    """Work that asks hooks on its way. Without a `lender` these are called elsewhere."""

    def __init__(self, asks: Asks[T], lender: Lender | None) -> None:
        self._asks = asks
        self._lender = lender
        self._place = Place.here()
        self._outcomes: Any = None
        self._call: _Call | None = None
        self._is_left = self._is_over = False
        self._result: Any = None

    # --- in a thread of the pool ---

    def _go_on(self) -> T:
        """Return the result, once it is there; else go on, and perhaps return _WAITS."""
        context = copy_context()
        while not self._is_over:
            try:
                asked = context.run(self._asks.send, self._outcomes)
            except StopIteration as end:
                if self._is_left:  # it was given up
                    return _WAITS  # type: ignore[no-any-return]
                self._result, self._is_over = end.value, True
                break
            self._outcomes, one = begun(asked)
            if one is not None:
                self._place = context.run(Place.here)
                call = self._call = _Call(one, self._lender)
                if not call.work(context, lambda: self._is_left):
                    return _WAITS  # type: ignore[no-any-return]
        result: T = self._result
        return result

    # --- on the event loop ---

    async def carried_on(self, submit: Submit, then: Callable[[T], R]) -> R:
        """
        Go on in a thread of `submit`; return what `then` makes there of the result.

        Raise HooksTakeLong if the work waits for hooks.
        """
        loop = asyncio.get_running_loop()
        woken = loop.create_future()

        def work() -> object:
            found = self._go_on()
            return _WAITS if found is _WAITS else then(found)

        def wake(_future: object = None) -> None:
            if not woken.done():
                woken.set_result(None)

        timer: asyncio.TimerHandle

        def look() -> None:
            nonlocal timer
            if self._call is not None and self._call.is_lent_after(LONG_S):
                wake()
            else:
                timer = loop.call_later(LONG_S, look)

        timer = loop.call_later(LONG_S, look)
        future = submit(self._place.carry(work))
        future.add_done_callback(wake)
        try:
            await woken
            result: Any = future.result() if future.done() else _WAITS
        finally:
            timer.cancel()
            future.cancel()  # what comes later is ignored
        if result is _WAITS:
            raise HooksTakeLong
        made: R = result
        return made

    async def hooks_called(self) -> None:
        """Wait until the hooks that take long were called."""
        call = self._call
        if call is None:
            return
        one: Pass | None = call.one
        if call.is_lent:
            one = await call.over()
        await call_rest(one, self._place)
        self._call = None

    def close(self) -> None:
        """
        Let nobody wait for the work any more. Call this at its end, however that comes.

        Hooks that have begun are still given up if they hang.
        """
        if self._is_over:
            return
        self._is_left = True
        if self._call is not None and self._call.is_lent_after(0):
            outliving(self._call.over())
        with suppress(ValueError):  # a thread is at it
            # It may set back what belongs to its thread, and not to this one.
            Context().run(self._asks.close)


class _Call:
    """A pass in the thread of the work that asks."""

    def __init__(self, one: Pass, lender: Lender | None) -> None:
        self.one = one
        self.is_lent = False
        self._lender = lender
        self._lock = threading.Lock()
        self._thread = 0  # at work
        self._ends: list[Callable[[], object]] = []
        self._connections = Connections()

    def work(self, context: Context, is_left: Callable[[], bool]) -> bool:
        """
        Call the hooks, in a copy of `context`; return whether the work goes on here.

        Call none if these take long, or if nobody waits for the work any more.
        """
        if self._lender is None or self.one.expected_s > LONG_S:
            return False
        with self._lock:
            if is_left():
                return False
            self.one.begin()
            self._thread = threading.get_ident()
        try:
            with self._connections.aside():
                context.copy().run(self.one.work, _nothing)
        except BaseException:  # the work, and the event loop, are not theirs to end
            logger.exception("a thread could not be cleared up after its hooks")
        with self._lock:
            self._thread = 0
            is_lent = self.is_lent
        for end in self._ends:
            end()
        return not is_lent

    def is_lent_after(self, long_s: float) -> bool:
        """Lend the thread to hooks that have been at work for so long; return if it is."""
        with self._lock:
            if not self._thread or self._lender is None:
                return False
            if not self.is_lent and self.one.worked_s >= long_s:
                self.is_lent = True
                self._lender.lend(self._thread)
            return self.is_lent

    async def over(self) -> Pass | None:
        """Wait until the thread is not waited for; return the pass for the other hooks."""
        await wait_for(self.one, self._tell_end)
        if self.one.is_given_up:
            in_hook_thread(self._connections.close)
        return self.one.rest()

    def _tell_end(self, end: Callable[[], object]) -> None:
        with self._lock:
            if self._thread:
                self._ends.append(end)
                return
        end()


def _nothing() -> None:
    return None
