"""A limit ends a run as limited, with a sentence that names it."""

import pytest

from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from tests.engine.conftest import statuses
from tests.engine.people import given

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.row("U01")
@pytest.mark.row("H13")
class TestLimits:
    def test_steps(self, play, script, options):
        options(LIMITS={"STEPS": 3})
        script.add(*[reply("", call("echo", {"text": "a"}))] * 3)

        run = play()

        assert (run.state, run.error_code) == ("limited", "limit_steps")
        assert "after 3 steps" in run.error_text
        assert statuses(run) == ["complete"] * 3

    def test_ten_steps_by_default(self):
        from ai_assistant.conf import DEFAULTS

        assert DEFAULTS["LIMITS"]["STEPS"] == 10

    def test_limits_calls_of_a_step(self, play, script, options):
        options(LIMITS={"CALLS_PER_STEP": 2}, POLICY={})
        script.add(reply("", *[call("write_effect", {"key": "a"})] * 200))

        run = play()

        assert (run.state, run.error_code) == ("limited", "limit_calls")
        assert "more than 2 things" in run.error_text
        assert statuses(run) == ["cancelled"] * 200
        assert set(run.calls.values_list("reason", flat=True)) == {"skipped"}

    @pytest.mark.row("T11")
    def test_same_failing_call(self, play, script):
        script.add(*[reply("", call("boom"))] * 3)

        run = play()

        assert (run.state, run.error_code) == ("limited", "limit_same_failures")
        assert "failed 3 times" in run.error_text

    def test_same_broken_arguments(self, play, script):
        script.add(*[reply("", call("echo", "{"))] * 3)

        assert play().error_code == "limit_same_failures"

    def test_other_broken_arguments_are_others(self, play, script):
        script.add(
            *[reply("", call("echo", "{" * count)) for count in (1, 2, 3)], "I give up."
        )

        assert play().state == "succeeded"

    def test_failures_before_a_wait_count(self, play, script, options):
        from ai_assistant.engine.interrupts.answers import answer
        from tests.engine.conftest import resume

        options(POLICY={})
        script.add(*[reply("", call("boom"))] * 2)
        script.add(reply("", call("write_effect", {"key": "a"}), call("boom")))
        run = play()
        assert run.state == "waiting_approval"
        answer(given(run, "approve"))

        run = resume(run)

        assert run.error_code == "limit_same_failures"

    def test_running_time(self, play, script, options):
        options(LIMITS={"RUN_S": 0.0})
        script.add(reply("", call("echo", {"text": "a"})))

        run = play()

        assert (run.state, run.error_code) == ("limited", "limit_running_s")
        assert run.running_s > 0

    def test_running_time_of_earlier_stretches(self, submission, script, options):
        from ai_assistant.engine.intake.submission import accept
        from tests.engine.conftest import resume

        run_id = accept(submission()).run_id
        Run.objects.update(running_s=1801)

        run = resume(Run.objects.get(pk=run_id))

        assert run.error_code == "limit_running_s"
        assert "after 30 minutes" in run.error_text
