"""What people do: answer, and several at once."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connections, transaction

from ai_assistant.engine.interrupts.base import Answer
from ai_assistant.exceptions import Refused


def given(run, decision="", text="", **fields):
    """Return an answer to the only open interrupt of `run`."""
    interrupt = run.interrupts.filter(status="open").first()
    fields.setdefault("user_id", run.user_id)
    fields.setdefault("interrupt_id", interrupt.pk)
    fields.setdefault("nonce", interrupt.nonce)
    return Answer(decision=decision, text=text, **fields)


def refusal(work, *args):
    with pytest.raises(Refused) as refused:
        work(*args)
    return refused.value.code


def at_once(*works):
    """Do all `works` in threads of their own; return what each returned or raised."""

    def do(work):
        try:
            return work()
        except Refused as refused:
            return refused.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=len(works)) as pool:
        return list(pool.map(do, works))


@contextmanager
def locked(row):
    """Hold a row in a transaction of another thread."""
    held, over = threading.Event(), threading.Event()

    def hold():
        try:
            with transaction.atomic():
                type(row).objects.select_for_update(no_key=True).get(pk=row.pk)
                held.set()
                over.wait(60)
        finally:
            connections.close_all()

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(30)
    try:
        yield over.set
    finally:
        over.set()
        thread.join()
