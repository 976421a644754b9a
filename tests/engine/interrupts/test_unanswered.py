"""A question that is skipped, that expires, or that ends with its run."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume, statuses
from tests.engine.interrupts.conftest import asker_tool
from tests.engine.people import given, refusal
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def asked(play, script, offer):
    offer(asker_tool(options=("red",), strict=True), effect="write", policy="allow")
    script.add(reply("", call("asker")), "As you like.")
    return play()


def assert_ended(run, script, status, reason, outcome):
    one = run.calls.get()
    assert (run.state, one.status, one.reason) == ("succeeded", status, reason)
    assert run.interrupts.get().status == outcome
    told = script.requests[1].messages[-1]["content"]
    assert "Which colour?" in told
    assert "Do not ask this again" in told
    assert Effect.objects.count() == 0


@pytest.mark.row("Q06")
class TestSkipped:
    def test_skipped_ends_the_call_without_the_tool(self, asked, script):
        assert answer(given(asked, "skip")).queued

        run = resume(asked)

        assert_ended(run, script, "cancelled", "skipped", "declined")
        assert run.calls.get().result["error_type"] == "declined"

    def test_skipped_needs_no_valid_answer(self, asked):
        answer(given(asked, "skip", text="green"))

        assert asked.interrupts.get().status == "declined"

    def test_skipped_is_once(self, asked):
        skipped = given(asked, "skip")
        answer(skipped)

        assert refusal(answer, skipped) == "already_answered"

    def test_same_question_is_not_asked_again(self, asked, script):
        script.replies[1:] = [reply("", call("asker")), "So be it."]
        answer(given(asked, "skip"))

        run = resume(asked)

        assert statuses(run) == ["cancelled", "cancelled"]
        assert run.interrupts.count() == 1

    def test_skipped_of_a_background_tool(self, play, script, offer, given_out):
        from ai_assistant.engine.calls.background.perform import perform

        offer(asker_tool(), background=True)
        script.add(reply("", call("asker")), "As you like.")
        run = play()
        perform(given_out.pop())
        answer(given(run, "skip"))

        assert statuses(resume(run)) == ["cancelled"]


@pytest.mark.row("Q07")
class TestExpired:
    @pytest.fixture
    def late(self, options, asked):
        Interrupt.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        return asked

    def test_expired_ends_the_call_without_the_tool(self, late, script):
        assert sweep_once().moved == [late.pk]

        run = resume(late)

        assert_ended(run, script, "denied", "expired", "expired")
        assert run.calls.get().result["error_type"] == "expired"

    def test_expired_speaks_as_the_run_does(self, late):
        Run.objects.update(language="de")

        sweep_once()

        assert late.calls.get().error.startswith("Niemand hat")

    def test_then_no_answer(self, late):
        assert refusal(answer, given(late, text="red")) == "expired"

    def test_setting_says_when(self, options, play, script, offer):
        options(TIMEOUTS={"QUESTION_S": 60})
        offer(asker_tool())
        script.add(reply("", call("asker")))

        soon = play().interrupts.get().expires_at - timezone.now()

        assert timedelta(seconds=30) < soon <= timedelta(seconds=60)


class TestCancelled:
    @pytest.mark.row("Q06")
    def test_cancelled_with_the_run(self, asked):
        stop(asked.pk)

        asked.refresh_from_db()
        assert (asked.state, statuses(asked)) == ("cancelled", ["cancelled"])
        assert asked.interrupts.get().status == "cancelled"
        assert asked.calls.get().reason == "stopped"
