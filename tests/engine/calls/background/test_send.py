"""A background call is given to a thread or to Celery, again and again if need be."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib import import_module

import pytest

from ai_assistant.engine.calls.background import give_out, uses_celery
from ai_assistant.engine.calls.background.claim import claim_task
from ai_assistant.engine.calls.background.send import untaken_s
from ai_assistant.engine.execution.sweep import give_out_calls, sweep_once
from ai_assistant.models.call import BackgroundCall, ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.tasks import perform_call, sweep
from ai_assistant.testing import call, reply
from tests.engine.conftest import statuses

MODULE = import_module("ai_assistant.engine.calls.background.send")

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def steps(play, script):
    script.add(reply("", call("background_steps", {"n": 1, "seconds": 0})), "Done.")
    return play()


class TestUsesCelery:
    @pytest.mark.parametrize(
        ("wanted", "broker", "found"),
        [
            ("auto", None, False),
            ("auto", "redis://x", True),
            ("celery", None, True),
            ("threads", "redis://x", False),
        ],
    )
    def test_uses_celery_by_settings(self, settings, options, wanted, broker, found):
        options(BACKGROUND=wanted)
        settings.CELERY_BROKER_URL = broker

        assert uses_celery() is found


class TestGiveOut:
    def test_give_out_waits_once_in_the_pool(self, steps, given_out):
        give_out(given_out[0])

        assert len(given_out) == 1

    def test_pool_works(self, steps, given_out, monkeypatch):
        MODULE._perform(given_out[0])

        assert statuses(steps) == ["complete"]

    def test_fault_of_the_pool_is_logged(self, given_out, caplog, monkeypatch):

        def broken(_call_id):
            raise KeyError

        monkeypatch.setattr(MODULE, "perform", broken)
        MODULE._perform("x")

        assert "background call x failed" in caplog.text

    def test_give_out_goes_to_celery(self, broker):
        give_out("some-id")
        give_out("other-id")
        broker.post.shutdown()

        assert broker.sent == [
            ("ai_assistant.perform_call", ("some-id",)),
            ("ai_assistant.perform_call", ("other-id",)),
        ]

    def test_broker_that_is_away_harms_nothing(self, broker, caplog):
        broker.is_away = True

        give_out("some-id")
        broker.post.shutdown()

        assert "took no message for call some-id: refused" in caplog.text


class Broker:
    """What stands for Celery's app: it keeps what is sent, or is away."""

    def __init__(self):
        self.sent = []
        self.is_away = False
        self.post = ThreadPoolExecutor(max_workers=1)

    def send_task(self, name, arguments, **_options):
        if self.is_away:
            raise ConnectionError("refused")
        self.sent.append((name, arguments))


@pytest.fixture
def broker(options, monkeypatch):
    options(BACKGROUND="celery")
    broker = Broker()
    monkeypatch.setattr("celery.current_app", broker)
    monkeypatch.setattr(MODULE, "_post", lambda: broker.post)
    return broker


class TestResend:
    def test_resend_not_at_once(self, steps, given_out):
        give_out_calls()

        assert len(given_out) == 1

    def test_resend_when_nobody_took_it(self, steps, given_out, monkeypatch):
        BackgroundCall.objects.update(sent_at=1)
        MODULE._queued.clear()  # the process that had it is gone

        give_out_calls()

        assert len(given_out) == 2

    def test_resend_not_when_somebody_works(self, steps, given_out):
        ToolCall.objects.update(status="executing")
        BackgroundCall.objects.update(sent_at=1, lease_until=9e9, owner=_me())

        sweep_once()

        assert len(given_out) == 1
        ToolCall.objects.update(status="pending")


class TestUntaken:
    def test_call_that_waits_for_a_worker(self, steps, given_out):
        opened_at = Now() - timedelta(seconds=90)
        Interrupt.objects.update(created_at=opened_at)

        assert untaken_s() > 89
        claim_task(steps.calls.get().pk)
        assert untaken_s() == 0


def _me():
    from ai_assistant.engine.storage.lease import this_process

    return this_process()


class TestTasks:
    def test_perform(self, steps):
        perform_call(str(steps.calls.get().pk))

        assert statuses(steps) == ["complete"]

    def test_sweep(self, steps, given_out):
        BackgroundCall.objects.update(sent_at=1)

        sweep()

        assert BackgroundCall.objects.get().sent_at > 1
