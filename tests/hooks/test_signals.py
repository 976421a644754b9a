"""Django signals tell who only watches, after the commit and in a thread."""

import threading
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection

from ai_assistant import signals
from ai_assistant.engine.intake.conversations import delete
from ai_assistant.engine.storage import announcements
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("H05")]
NAMES = (
    *("run_started", "step_finished", "tool_executed", "interrupt_opened"),
    *("run_finished", "conversation_deleted"),
)


@contextmanager
def received(count):
    """Return what is received; the block ends once there is so much of it."""
    seen, all_there = [], threading.Semaphore(0)

    def receiver_of(name):
        def receive(sender, signal, **values):
            in_transaction = connection.in_atomic_block
            seen.append((name, values, threading.current_thread(), in_transaction))
            all_there.release()

        return receive

    receivers = {name: receiver_of(name) for name in NAMES}
    for name, receiver in receivers.items():
        getattr(signals, name).connect(receiver)
    try:
        yield seen
        for _one in range(count):
            assert all_there.acquire(timeout=30), [name for name, *_rest in seen]
    finally:
        for name, receiver in receivers.items():
            getattr(signals, name).disconnect(receiver)


def test_of_a_run_in_its_order(play, script):
    script.add(reply("", call("write_effect", {"key": "a"})), "Done.")

    with received(5) as seen:
        run = play()

    names = [name for name, *_rest in seen]
    assert sorted(names) == [
        *("run_finished", "run_started", "step_finished", "step_finished"),
        "tool_executed",
    ]
    values = {name: values for name, values, *_rest in seen}
    own = {"run_id": run.pk, "conversation_id": run.conversation_id}
    assert values["run_started"] == {**own, "user_id": run.user_id}
    assert values["run_finished"] == {
        **own,
        "user_id": run.user_id,
        "state": "succeeded",
    }
    assert values["tool_executed"] == {
        "run_id": run.pk,
        "call_id": run.calls.get().pk,
        "tool": "write_effect",
        "status": "complete",
    }


def test_in_a_thread_and_in_no_transaction(play, script):
    script.add("Done.")

    with received(3) as seen:
        play()

    assert all(thread is not threading.main_thread() for _n, _v, thread, _t in seen)
    assert not any(in_transaction for *_rest, in_transaction in seen)


def test_is_told_though_the_database_is_busy(play, script, monkeypatch):
    def busy(_values):
        raise OperationalError("database is locked")

    monkeypatch.setattr(announcements, "_depth_of", busy)
    script.add("Done.")

    with received(3) as seen:
        play()

    assert {name for name, *_rest in seen} >= {"run_started", "run_finished"}


def test_of_what_waits_and_of_what_is_deleted(options, play, script):
    options(POLICY={})
    script.add(reply("", call("write_effect", {"key": "a"})))

    with received(2) as seen:
        run = play()
    with received(1) as deleted:
        delete(run.user_id, run.conversation_id)

    opened = next(values for name, values, *_ in seen if name == "interrupt_opened")
    assert opened["interrupt_id"] == run.interrupts.get().pk
    assert opened["kind"] == "approval"
    assert deleted[0][1] == {
        "conversation_id": run.conversation_id,
        "for_good": False,
    }


def test_a_receiver_that_raises_is_logged_and_ends_nothing(play, script, caplog):
    told = threading.Event()

    def broken(sender, **values):
        raise ZeroDivisionError

    def works(sender, **values):
        told.set()

    signals.run_finished.connect(broken)
    signals.run_finished.connect(works)
    script.add("Done.")
    try:
        run = play()
        assert told.wait(30)
    finally:
        signals.run_finished.disconnect(broken)
        signals.run_finished.disconnect(works)

    assert run.state == "succeeded"
    assert "broken" in caplog.text


def test_without_a_receiver_nothing_is_submitted(play, script, monkeypatch):
    submitted = []
    path = "ai_assistant.engine.storage.announcements.beside"
    monkeypatch.setattr(path, lambda *work: submitted.append(work))
    script.add(reply("", call("write_effect", {"key": "a"})), "Done.")

    play()

    assert submitted == []
    assert Run.objects.get().state == "succeeded"
