"""Threads for hooks: no more than there is work for, and none that holds a process."""

import subprocess
import sys
import threading

import pytest
from django.db import connection, transaction

from ai_assistant.hooks.threads import HookThreads, clear_up
from tests.testapp.models import Effect

WAIT_S = 30
HANGS = """
import threading
from ai_assistant.hooks.threads import HookThreads
begun = threading.Event()
def hangs():
    begun.set()
    threading.Event().wait()
HookThreads(2, "hang").submit(hangs)
assert begun.wait(30)
print("ends")
"""


def work(threads):
    """Have work done; return the names of the thread it was done in."""
    names, done = [], threading.Event()

    def note():
        names.append(threading.current_thread().name)
        done.set()

    threads.submit(note)
    assert done.wait(WAIT_S)
    return names


class TestHookThreads:
    def test_work_side_by_side_has_threads_of_its_own(self):
        meet, done = threading.Barrier(4, timeout=WAIT_S), threading.Barrier(4)
        threads = HookThreads(3, "three")

        def waits():
            meet.wait()
            done.wait(WAIT_S)

        for _ in range(3):
            threads.submit(waits)
        meet.wait()
        done.wait(WAIT_S)

        assert work(threads)[0].startswith("three_")

    def test_there_are_at_most_so_many(self):
        over = threading.Event()
        threads = HookThreads(2, "two")
        for _ in range(5):
            threads.submit(lambda: over.wait(WAIT_S))
        over.set()

        assert work(threads)[0] in {"two_1", "two_2"}

    def test_work_that_raises_costs_no_thread(self):
        def raises():
            raise SystemExit

        threads = HookThreads(1, "one")
        threads.submit(raises)

        assert work(threads) == ["one_1"]

    @pytest.mark.servers
    def test_one_that_hangs_does_not_hold_the_process(self):
        ended = subprocess.run(
            [sys.executable, "-c", HANGS],
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=True,
        )

        assert ended.stdout == "ends\n"


class TestClearUp:
    def test_a_broken_connection_of_a_hook_is_closed(self, transactional_db):
        seen, done = [], threading.Event()

        def breaks():
            connection.ensure_connection()
            connection.errors_occurred = True
            connection.is_usable = lambda: False
            clear_up()
            seen.append(connection.connection)
            done.set()

        HookThreads(1, "breaks").submit(breaks)

        assert done.wait(WAIT_S)
        assert seen == [None]

    def test_what_a_hook_leaves_in_a_transaction_is_rolled_back(self, transactional_db):
        seen, done = [], threading.Event()

        def leaves():
            transaction.atomic().__enter__()
            Effect.objects.create(key="left", run="0" * 32)
            clear_up()

        def looks():
            seen.append((connection.in_atomic_block, Effect.objects.count()))
            done.set()

        own = HookThreads(1, "leaves")
        own.submit(leaves)
        own.submit(looks)

        assert done.wait(WAIT_S)
        assert seen == [(False, 0)]
