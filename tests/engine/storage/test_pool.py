"""Answers end before others begin, and nothing waits for ever."""

import asyncio
import threading
from contextlib import nullcontext

import pytest
from django.db import connection

from ai_assistant.engine.storage import pool as module
from ai_assistant.engine.storage.pool import Stage, StagedPool, at_work


@pytest.fixture
def busy():
    """A pool of one thread, which does something until it is released."""
    pool, begun, release = StagedPool(1, "test", lambda: None), *_events()

    def work():
        begun.set()
        release.wait(30)

    pool.submit(Stage.FINISH, work)
    begun.wait(30)
    yield pool, release
    release.set()


def _events():
    return threading.Event(), threading.Event()


class TestOrder:
    def test_finishing_comes_before_starting(self, busy):
        pool, release = busy
        done = []
        stages = [Stage.BESIDE, Stage.ASK, Stage.LOAD, Stage.ACCEPT, Stage.FINISH]

        waiting = [
            pool.submit(stage, lambda stage=stage: done.append(stage))
            for stage in [*stages, Stage.FOLLOW]
        ]
        release.set()
        for one in waiting:
            one.result(30)

        assert done == sorted(Stage, key=lambda stage: stage.value)

    def test_order_of_one_stage_the_first_comes_first(self, busy):
        pool, release = busy
        done = []

        waiting = [
            pool.submit(Stage.ASK, lambda number=number: done.append(number))
            for number in range(20)
        ]
        release.set()
        for one in waiting:
            one.result(30)

        assert done == list(range(20))

    def test_what_has_waited_long_comes_before_what_is_new(self, busy, monkeypatch):
        pool, release = busy
        done = []
        now = module.time.monotonic()
        monkeypatch.setattr(module.time, "monotonic", lambda: now)
        old = pool.submit(Stage.ASK, lambda: done.append("old"))
        monkeypatch.setattr(module.time, "monotonic", lambda: now + 1.5)
        new = pool.submit(Stage.FINISH, lambda: done.append("new"))

        release.set()

        old.result(30), new.result(30)
        assert done == ["old", "new"]


class TestThreads:
    def test_threads_are_as_many_as_there_is_work_for_and_no_more(self):
        pool = StagedPool(3, "test", lambda: None)
        together = threading.Barrier(3)
        names = set()

        def meet():
            together.wait(30)
            names.add(threading.current_thread().name)

        for one in [pool.submit(Stage.ASK, meet) for _ in range(6)]:
            one.result(30)

        assert names == {"test_1", "test_2", "test_3"}

    def test_begin_with_what_they_need(self):
        here = threading.local()
        pool = StagedPool(1, "test", lambda: setattr(here, "own", 7))

        assert pool.submit(Stage.ASK, lambda: here.own).result(30) == 7

    def test_an_error_is_raised_where_it_is_waited_for(self):
        pool = StagedPool(1, "test", lambda: None)

        with pytest.raises(KeyError):
            pool.lanes[Stage.ASK].submit({}.__getitem__, "x").result(30)
        assert pool.submit(Stage.ASK, lambda: 1).result(30) == 1

    async def test_cancelled_work_is_left_out(self, busy):
        pool, release = busy
        done = []
        loop = asyncio.get_running_loop()
        waiting = loop.run_in_executor(pool.lanes[Stage.ASK], done.append, 1)

        waiting.cancel()
        await asyncio.sleep(0)
        release.set()

        await loop.run_in_executor(pool.lanes[Stage.BESIDE], done.append, 2)
        assert done == [2]


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="of SQLite")
class TestPagesOfConnections:
    @pytest.mark.parametrize(
        ("where", "chosen", "expected"),
        [(at_work, "", -256), (nullcontext, "", -2000), (at_work, "-4000", -4000)],
        ids=["of the engine", "of the site", "chosen by the site"],
    )
    def test_engine_keeps_few_in_memory(self, where, chosen, expected):
        opened = connection.copy()
        if chosen:
            command = f"PRAGMA cache_size = {chosen}"
            opened.settings_dict["OPTIONS"]["init_command"] = command
        try:
            with where():
                opened.ensure_connection()
            kept = opened.connection.execute("PRAGMA cache_size").fetchone()
        finally:
            opened.close()

        assert kept == (expected,)
