"""Code that hangs costs a bounded number of threads, and only its own askers time."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ai_assistant.safety.bulkhead import (
    AT_ONCE,
    HANGING,
    Bulkhead,
    BulkheadFull,
    CodeTimedOut,
)

SOON_S, LONG_S = 0.02, 30.0


class Slow:
    """Code that returns when it is let go; `begun` counts its calls."""

    def __init__(self):
        self.begun = 0
        self.go_on = threading.Event()

    def __call__(self):
        self.begun += 1
        self.go_on.wait(60)
        return "done"


@pytest.fixture
def slow():
    slow = Slow()
    yield slow
    slow.go_on.set()


@pytest.fixture
def ask():
    """Ask in threads: `ask(work, key=..., timeout_s=...)`."""
    bulkhead, pool = Bulkhead(), ThreadPoolExecutor(max_workers=64)

    def asked(work, *, key="a", timeout_s=LONG_S):
        return bulkhead.ask(pool, key, work, timeout_s=timeout_s)

    asked.hangs = bulkhead.hangs
    yield asked
    pool.shutdown(wait=False)


def give_up(ask, slow):
    """Ask until as many calls hang as may."""
    while slow.begun < HANGING:
        with pytest.raises(CodeTimedOut):
            ask(slow, timeout_s=SOON_S)


def test_returns_and_raises_what_the_code_does(ask):
    assert ask(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        ask(lambda: 1 / 0)
    assert not ask.hangs("a")


def test_timeout_of_the_code_itself_is_its_error(ask):
    def away():
        raise TimeoutError("of the code")

    with pytest.raises(TimeoutError, match="of the code"):
        ask(away)


def test_no_time_begins_nothing(ask, slow):
    with pytest.raises(CodeTimedOut):
        ask(slow, timeout_s=0)

    assert slow.begun == 0


def test_one_that_hangs_is_not_begun_again(ask, slow):
    give_up(ask, slow)

    with pytest.raises(BulkheadFull):
        ask(slow)
    assert (slow.begun, ask.hangs("a")) == (HANGING, True)
    assert ask(lambda: 7, key="b") == 7


def test_is_begun_again_when_it_has_returned(ask, slow):
    give_up(ask, slow)
    slow.go_on.set()

    while ask.hangs("a"):
        pass

    assert ask(slow) == "done"


def test_many_at_once_cost_a_bounded_number_of_threads(ask, slow):
    def one(_):
        with pytest.raises((CodeTimedOut, BulkheadFull)):
            ask(slow, timeout_s=SOON_S)

    with ThreadPoolExecutor(max_workers=32) as askers:
        list(askers.map(one, range(200)))

    assert 1 <= slow.begun <= AT_ONCE


class TestOnAnEventLoop:
    @pytest.fixture
    def aask(self):
        bulkhead, pool = Bulkhead(), ThreadPoolExecutor(max_workers=64)

        def asked(work, *, key="a", timeout_s=LONG_S):
            return bulkhead.aask(pool, key, work, timeout_s=timeout_s)

        asked.hangs = bulkhead.hangs
        yield asked
        pool.shutdown(wait=False)

    def test_on_an_event_loop_returns_and_raises_what_the_code_does(self, aask):
        def away():
            raise TimeoutError("of the code")

        assert asyncio.run(aask(lambda: 7)) == 7
        with pytest.raises(TimeoutError, match="of the code"):
            asyncio.run(aask(away))

    def test_one_that_hangs_is_not_begun_again(self, aask, slow):
        async def all_of_them():
            while slow.begun < HANGING:  # a thread may not have begun so soon
                with pytest.raises(CodeTimedOut):
                    await aask(slow, timeout_s=SOON_S)
            with pytest.raises(BulkheadFull):
                await aask(slow)
            return await aask(lambda: 7, key="b")

        assert asyncio.run(all_of_them()) == 7
        assert (slow.begun, aask.hangs("a")) == (HANGING, True)

    def test_many_at_once_cost_a_bounded_number_of_threads(self, aask, slow):
        async def many():
            asked = [aask(slow, timeout_s=0.5) for _ in range(100)]
            return await asyncio.gather(*asked, return_exceptions=True)

        found = asyncio.run(many())

        assert {type(one) for one in found} <= {CodeTimedOut, BulkheadFull}
        assert 1 <= slow.begun <= AT_ONCE

    def test_no_time_begins_nothing(self, aask, slow):
        with pytest.raises(CodeTimedOut):
            asyncio.run(aask(slow, timeout_s=0))
        assert slow.begun == 0

    def test_on_an_event_loop_that_is_left_counts_as_hanging(self, aask, slow):
        async def left():
            task = asyncio.create_task(aask(slow))
            while not slow.begun:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(left())

        assert aask.hangs("a")
