"""
Call the hooks of a point: in order, within their time, isolated from each other.

Never on an event loop: in a thread of their own, or in one that is lent to them if they
take long; see `lending`.
"""

import asyncio
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from ai_assistant.hooks.outcomes import Outcome
from ai_assistant.hooks.passes import AskedHooks, Asking, Pass, begun
from ai_assistant.hooks.threads import HookThreads
from ai_assistant.registry import registry
from ai_assistant.request_context import Place
from ai_assistant.types.hook import Hook, Point

T = TypeVar("T")
Value = TypeVar("Value")

# Work that asks hooks on its way: it yields what it asks, and gets what came out.
Asks = Generator[Sequence[AskedHooks], list[Outcome[Any]], T]

_hooks = HookThreads(64, "aia-hook")


def hooks_of(
    point: Point, module: str = "", tool: str = "", agent: str = ""
) -> tuple[Hook, ...]:
    """Return the hooks of a point in their order: for a run's module and agent, a tool."""
    found = registry.hooks_at(point)
    if not found:
        return ()
    return tuple([hook for hook in found if hook.is_for(module, tool, agent)])


def ask(hooks: Sequence[Hook], asking: Asking[Value]) -> Outcome[Value]:
    """Call `hooks` one after another, and wait; for a thread."""
    (outcome,) = ask_each([(hooks, asking)])
    return outcome


async def aask(hooks: Sequence[Hook], asking: Asking[Value]) -> Outcome[Value]:
    """Do as `ask` does, for a caller on an event loop."""
    (outcome,) = await aask_each([(hooks, asking)])
    return outcome


def ask_each(asked: Sequence[AskedHooks]) -> list[Outcome[Any]]:
    """
    Ask about several values, one after another; return what came out of each.

    One thread calls all of their hooks, with the context of the first value: to hand
    over to a thread takes longer than most hooks.
    """
    outcomes, one = begun(asked)
    while one is not None:
        over = threading.Lock()  # held until the thread is done
        over.acquire()
        _hand_over(one, Place.here(), over.release)
        while not (over.acquire(timeout=one.wait_s()) or one.is_given_up):
            one.give_up_if_late()
        one = one.rest()
    return outcomes


async def aask_each(asked: Sequence[AskedHooks]) -> list[Outcome[Any]]:
    """Do as `ask_each` does, for a caller on an event loop."""
    outcomes, one = begun(asked)
    await call_rest(one, Place.here())
    return outcomes


def answered(asks: Asks[T]) -> T:
    """Do work that asks hooks to its end, in this thread; return its result."""
    outcomes: Any = None
    while True:
        try:
            asked = asks.send(outcomes)
        except StopIteration as end:
            result: T = end.value
            return result
        outcomes = ask_each(asked)


async def aanswered(asks: Asks[T]) -> T:
    """Do as `answered` does, on an event loop."""
    outcomes: Any = None
    while True:
        try:
            asked = asks.send(outcomes)
        except StopIteration as end:
            result: T = end.value
            return result
        outcomes = await aask_each(asked)


async def call_rest(one: Pass | None, place: Place) -> None:
    """Call hooks, and those behind each that is given up, in threads of their own."""
    while one is not None:
        await wait_for(one, partial(_hand_over, one, place))
        one = one.rest()


def _hand_over(one: Pass, place: Place, end: Callable[[], object]) -> None:
    one.begin()
    _hooks.submit(place.carry(partial(one.work, end)))


def in_hook_thread(work: Callable[[], object]) -> None:
    """Have `work` done by a thread for hooks; nobody waits."""
    _hooks.submit(work)


async def wait_for(one: Pass, begin: Callable[[Callable[[], object]], object]) -> None:
    """
    Wait until nobody waits for the thread of a pass any more.

    `begin` gets what that thread calls at its end. Whoever waits may be cancelled: a
    hook that hangs is given up nevertheless, and counted.
    """
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    timer: asyncio.TimerHandle

    def end() -> None:
        timer.cancel()
        if not over.done():
            over.set_result(None)

    def look() -> None:
        nonlocal timer
        one.give_up_if_late()
        if one.is_given_up:
            end()
        else:
            timer = loop.call_later(one.wait_s(), look)

    timer = loop.call_later(one.wait_s(), look)
    begin(partial(_tell, loop, end))
    await over


def _tell(loop: asyncio.AbstractEventLoop, end: Callable[[], None]) -> None:
    """Call `end` on the loop, unless that was closed since: then nobody waits."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(end)
