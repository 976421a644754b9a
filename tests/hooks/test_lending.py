"""Work calls hooks in its own thread; one that takes long gets it, and the work another."""

import asyncio
import threading
import uuid
from contextlib import suppress
from contextvars import ContextVar

import pytest
from django.db import connection, connections, transaction
from django.utils.translation import activate, get_language

from ai_assistant.engine.lifecycle.hooks import in_db_asking
from ai_assistant.engine.storage import units
from ai_assistant.engine.storage.units import in_db
from ai_assistant.hooks import lending, passes
from ai_assistant.hooks.passes import Asking
from tests.hooks.lent import ASKED, SHORT_S, WAIT_S, context, hook, threads_at_once

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.row("H15"),
    pytest.mark.usefixtures("lent_soon"),
]


def asks(*hooks, before=lambda: None, after=lambda outcome: outcome):
    """Work that asks hooks, with what is done before and after."""
    before()
    (outcome,) = yield [(hooks, Asking(value=ASKED, context=context))]
    return after(outcome)


def done(*hooks, **around):
    return asyncio.run(in_db_asking(asks(*hooks, **around)))


class TestInTheThreadOfTheWork:
    @pytest.fixture(autouse=True)
    def _never_lent(self, lent_soon, monkeypatch):
        monkeypatch.setattr(lending, "LONG_S", 3600)

    def test_hooks_and_both_sides_of_the_work_in_one_thread(self):
        seen = []

        def note(*_):
            seen.append(threading.current_thread())

        done(hook(note), hook(note), before=note, after=note)

        assert len(seen) == 4
        assert len(set(seen)) == 1
        assert seen[0].name.startswith("aia-db")

    def test_hooks_have_connections_of_their_own(self):
        seen = []

        def look(*_):
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            seen.append(connection.connection)

        done(hook(look), hook(look), before=look, after=look)

        before, first, second, after = seen
        assert before is after
        assert first is second
        assert first is not before

    def test_what_a_hook_leaves_open_is_not_there_for_anybody(self):
        seen = []

        def opens(context, asked):
            transaction.set_autocommit(False)
            connection.cursor().execute("SELECT 1")
            seen.append(connection.in_atomic_block)

        def enters(context, asked):
            transaction.atomic().__enter__()

        def look(*_):
            seen.append((connection.in_atomic_block, connection.get_autocommit()))

        def on_one_thread():
            for leaves in (opens, enters):
                yield [([hook(leaves)], Asking(value=ASKED, context=context))]
                look()
            yield [([hook(look)], Asking(value=ASKED, context=context))]

        asyncio.run(in_db_asking(on_one_thread()))

        assert seen == [False, *[(False, True)] * 3]

    def test_a_hook_that_closes_its_connections_closes_no_other(self):
        kept = []

        def closes(context, asked):
            connections.close_all()

        def reads(*_):
            connection.ensure_connection()
            kept.append(connection.connection)

        done(hook(closes), before=reads, after=reads)

        assert kept[0] is kept[1]

    def test_the_language_that_a_hook_sets_is_not_that_of_the_work(self):
        with_hook = hook(lambda context, asked: activate("ar"))

        language = done(with_hook, after=lambda outcome: get_language())

        assert language == get_language() != "ar"

    def test_what_a_hook_sets_in_its_context_is_not_there_for_other_work(self):
        thread_of = []

        def sets(context, asked):
            thread_of.append(threading.get_ident())
            own.set("of the hook")

        def look():
            meet.wait()  # each thread does this once
            return threading.get_ident(), own.get()

        async def all_of_them():
            await in_db_asking(asks(hook(sets)))
            return await asyncio.gather(*(in_db(look) for _ in range(meet.parties)))

        own = ContextVar("own", default="")
        meet = threading.Barrier(units._pool.most, timeout=WAIT_S)
        found = dict(asyncio.run(all_of_them()))

        assert found[thread_of[0]] == ""

    def test_a_task_of_a_hook_that_exits_ends_no_work(self):
        """And the connections of the hook are cleared up all the same."""
        tasks, seen = [], []

        async def exits():
            try:
                await asyncio.sleep(WAIT_S)
            finally:
                raise SystemExit

        async def leaves(context, asked):
            tasks.append(asyncio.create_task(exits()))
            await asyncio.sleep(0)

        def enters(context, asked):
            transaction.atomic().__enter__()

        def look(context, asked):
            seen.append(connection.in_atomic_block)

        def on_one_thread():
            for own in ([hook(enters), hook(leaves)], [hook(look)]):
                yield [(own, Asking(value=ASKED, context=context))]
            return "stored"

        assert asyncio.run(in_db_asking(on_one_thread())) == "stored"
        assert isinstance(tasks[0].exception(), SystemExit)
        assert seen == [False]

    def test_what_the_work_raises_is_raised(self):
        with pytest.raises(ZeroDivisionError):
            done(hook(lambda context, asked: None), after=lambda outcome: 1 / 0)


class TestLong:
    def test_one_that_takes_long_is_waited_for_and_the_work_goes_on_elsewhere(self):
        seen = []

        def long(context, asked):
            lent = threading.current_thread()
            # Until the pool has let it go: the work has another thread by then.
            while threading.get_ident() not in units._pool._lent:
                threading.Event().wait(0.001)
            seen.append(lent)
            return {"id": 2}

        def after(outcome):
            seen.append(threading.current_thread())
            return outcome.value.arguments

        assert done(hook(long, timeout_s=WAIT_S), after=after) == {"id": 2}
        assert seen[0] is not seen[1]
        assert seen[1].name.startswith("aia-db")

    def test_the_next_time_it_has_a_thread_for_hooks(self, monkeypatch):
        names = []

        def long(context, asked):
            names.append(threading.current_thread().name)
            threading.Event().wait(3 * lending.LONG_S)

        own = hook(long, timeout_s=WAIT_S)
        for _ in range(2):
            done(own)

        assert names[0].startswith("aia-db")
        assert names[1].startswith("aia-hook")

    def test_language_of_the_work_goes_along(self):
        seen = []

        def long(context, asked):
            threading.Event().wait(3 * lending.LONG_S)

        def look(*_):
            seen.append(get_language())

        own = hook(long, timeout_s=WAIT_S)
        rest = hook(look)
        for _ in range(2):
            done(own, rest, before=lambda: activate("ar"), after=look)

        assert seen == ["ar"] * 4
        assert get_language() != "ar"


class TestHanging:
    @pytest.mark.parametrize("is_async", [False, True])
    def test_the_pool_has_all_its_threads_again(self, hanging, is_async):
        async def sleeps(context, asked):
            await asyncio.sleep(WAIT_S)

        slow = sleeps if is_async else hanging
        long = hook(slow, timeout_s=3 * SHORT_S)
        before, lent = threads_at_once(), []

        outcome = done(
            long,
            hook(lambda context, asked: {"id": 5}),
            before=lambda: lent.append(threading.current_thread()),
        )

        assert outcome.value.arguments == {"id": 5}
        assert [failure.hook for failure in outcome.failures] == [long.name]
        after = threads_at_once()
        assert len(after) == len(before)
        assert lent[0] not in after

    def test_connections_of_the_thread_are_closed(self, hanging):
        seen, closed = [], threading.Event()

        def connects():
            connection.ensure_connection()
            own = connections["default"]
            seen.append(own)
            close = own.close
            own.close = lambda: (close(), closed.set())

        done(hook(hanging, timeout_s=SHORT_S), before=connects)

        assert closed.wait(WAIT_S)
        assert seen[0].connection is None

    def test_what_it_returns_later_changes_nothing(self):
        over, begun = threading.Event(), []

        def late(context, asked):
            begun.append(threading.current_thread())
            over.wait(WAIT_S)
            return {"id": 99}

        outcome = done(hook(late, timeout_s=SHORT_S))
        over.set()
        begun[0].join(WAIT_S)

        assert not begun[0].is_alive()  # it was lent, and is no thread of the pool
        assert outcome.value == ASKED
        assert threading.get_ident() not in units._pool._lent

    def test_its_loop_is_closed_with_its_thread(self):
        over, begun = threading.Event(), []

        async def late(context, asked):
            begun.append((threading.current_thread(), asyncio.get_running_loop()))
            over.wait(WAIT_S)  # it keeps its loop from everything

        done(hook(late, timeout_s=SHORT_S))
        over.set()
        thread, loop = begun[0]
        thread.join(WAIT_S)

        assert loop.is_closed()

    def test_one_that_nobody_waits_for_is_counted_as_well(self, hanging):
        begun = threading.Event()

        def hangs(context, asked):
            begun.set()
            hanging(context, asked)

        own = hook(hangs, name=f"left-{uuid.uuid4()}", timeout_s=3 * SHORT_S)

        async def left():
            work = asyncio.create_task(in_db_asking(asks(own)))
            await asyncio.to_thread(begun.wait, WAIT_S)
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work
            while not passes._hanging[own.name]:
                await asyncio.sleep(0.01)

        asyncio.run(left())

        assert len(threads_at_once()) == units._pool.most

    def test_work_that_was_left_calls_no_further_hooks(self):
        begun, go_on, called = threading.Event(), threading.Event(), []

        def before():
            begun.set()
            go_on.wait(WAIT_S)

        own = hook(lambda context, asked: called.append(1))

        async def left():
            work = asyncio.create_task(in_db_asking(asks(own, before=before)))
            await asyncio.to_thread(begun.wait, WAIT_S)
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work

        asyncio.run(left())
        go_on.set()
        threads_at_once()  # the thread is free again

        assert called == []
