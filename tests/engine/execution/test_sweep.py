"""What was left behind comes back, and two sweepers do no harm."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from ai_assistant.engine.calls.background.claim import claim_task
from ai_assistant.engine.execution import sweep
from ai_assistant.engine.execution.sweep import claim_runs, sweep_once
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.interrupts.base import Answer
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.models.call import BackgroundCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from tests.engine.conftest import dead_owner, statuses
from tests.engine.people import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def elsewhere(number):
    """Return an owner on another host, of which nobody here can see that it is gone."""
    return f"host-{number}|-|-|1|1"


@pytest.fixture
def steps(play, script):
    script.add(reply("", call("background_steps", {"n": 1, "seconds": 0})))
    return play()


class TestClaimRuns:
    def test_claim_runs_of_two_sweepers_one_takes_a_run(self, submission):
        for _ in range(5):
            accept(submission())

        found = at_once(*[lambda n=n: claim_runs(elsewhere(n), 10) for n in range(4)])

        taken = [hold.run_id for holds in found for hold in holds]
        assert len(taken) == len(set(taken)) == 5


class TestSweepOnce:
    def test_nothing_to_do(self):
        assert sweep_once().moved == []

    def test_several_at_once(self, steps, options, play, script):
        claim_task(steps.calls.get().pk)
        BackgroundCall.objects.update(owner=dead_owner())
        options(POLICY={})
        script.add(reply("", call("write_effect", {"key": "a"})))
        late = play()
        Interrupt.objects.filter(run=late).update(
            expires_at=timezone.now() - timedelta(seconds=1)
        )

        at_once(*[sweep_once] * 4)

        assert (statuses(steps), statuses(late)) == (["pending"], ["denied"])

    def test_expiry_that_comes_after_the_answer(self, play, script, options):
        options(POLICY={})
        script.add(reply("", call("write_effect", {"key": "a"})), "I see.")
        run = play()
        late = run.interrupts.get()
        answer(
            Answer(
                user_id=run.user_id,
                interrupt_id=late.pk,
                nonce=late.nonce,
                decision="deny",
            )
        )
        Interrupt.objects.update(
            status="open", expires_at=timezone.now() - timedelta(seconds=1)
        )
        Run.objects.update(state="succeeded")

        assert sweep_once().moved == []

        Interrupt.objects.update(status="denied")
        Run.objects.update(state="queued")


class TestTakeBack:
    def test_take_back_of_a_run_that_has_ended(self, steps):
        claim_task(steps.calls.get().pk)
        (work,) = BackgroundCall.objects.all()
        stop(steps.pk)

        sweep._take_back(work)

        assert statuses(steps) == ["cancelled"]

    @pytest.mark.parametrize("resumable", [True, False])
    def test_take_back_of_a_call_that_another_has_by_now(
        self, play, script, offer, resumable
    ):
        offer(lambda: 1, name="long", background=True, resumable=resumable)
        script.add(reply("", call("long")))
        run = play()
        claim_task(run.calls.get().pk)
        (stale,) = BackgroundCall.objects.all()
        BackgroundCall.objects.update(epoch=7)

        sweep._take_back(stale)

        assert statuses(run) == ["executing"]

    @pytest.mark.parametrize("resumable", [True, False])
    def test_take_back_of_one_that_was_renewed_since(
        self, play, script, offer, resumable
    ):
        offer(lambda: 1, name="long", background=True, resumable=resumable)
        script.add(reply("", call("long")))
        run = play()
        claim_task(run.calls.get().pk)
        stale = BackgroundCall.objects.get()
        stale.lease_until = 0  # as it was read, before the lock was waited for

        assert not sweep._take_back(stale)

        assert statuses(run) == ["executing"]


class TestCommand:
    def test_command_sweeps_once(self, steps, capsys):
        claim_task(steps.calls.get().pk)
        BackgroundCall.objects.update(owner=dead_owner())

        call_command("assistant_sweep")

        assert capsys.readouterr().out == "1 runs moved.\n"
        assert statuses(steps) == ["pending"]
