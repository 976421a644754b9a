"""A write waits for its approval; the first answer wins."""

import uuid
from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply
from tests.engine.conftest import facts, resume, said, statuses
from tests.engine.interrupts.conftest import asker_tool
from tests.engine.people import at_once, given, refusal
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


class TestWaiting:
    def test_waiting_holds_nothing(self, waiting):
        assert (waiting.state, waiting.owner) == ("waiting_approval", "")
        assert statuses(waiting) == ["waiting"]
        assert Effect.objects.count() == 0
        assert facts(waiting)[-2:] == ["aia.interrupt", "aia.waiting"]

    def test_approval_knows_what_it_is_for(self, waiting):
        interrupt = waiting.interrupts.get()

        assert (interrupt.kind, interrupt.status) == ("approval", "open")
        assert interrupt.call.arguments == {"key": "a"}
        assert interrupt.expires_at > timezone.now() + timedelta(hours=23)
        assert len(interrupt.nonce) >= 32

    def test_waiting_calls_that_need_nobody_go_on(self, asks, play, script):
        script.add(
            reply("", call("write_effect", {"key": "a"}), call("echo", {"text": "b"}))
        )

        assert statuses(play()) == ["waiting", "complete"]

    def test_running_time_does_not_count_the_wait(self, waiting):
        assert 0 < waiting.running_s < 60


class TestApprove:
    def test_approve_carries_the_call_out(self, waiting):
        decided = answer(given(waiting, "approve"))

        assert decided.queued
        run = resume(waiting)
        assert (run.state, statuses(run)) == ("succeeded", ["complete"])
        assert said(run) == "May I?|Done."
        assert Effect.objects.get().key == "a"
        interrupt = run.interrupts.get()
        assert (interrupt.status, interrupt.decided_by) == ("approved", run.user)

    def test_two_calls_wait_for_both(self, asks, play, script):
        script.add(
            reply("", *[call("write_effect", {"key": key}) for key in "ab"]), "Done."
        )
        run = play()

        assert not answer(given(run, "approve")).queued
        run.refresh_from_db()
        assert run.state == "waiting_approval"
        assert answer(given(run, "deny")).queued

        run = resume(run)
        assert statuses(run) == ["complete", "denied"]
        assert [effect.key for effect in Effect.objects.all()] == ["a"]

    def test_approve_is_single_use(self, waiting):
        approval = given(waiting, "approve")
        answer(approval)

        assert refusal(answer, approval) == "already_answered"

    def test_approve_after_the_end(self, waiting):
        approval = given(waiting, "approve")
        answer(approval)
        resume(waiting)

        assert refusal(answer, approval) == "already_answered"
        assert Effect.objects.count() == 1

    def test_approve_of_ten_at_once_one_wins(self, waiting):
        answers = [given(waiting, word) for word in ("approve", "deny") * 5]

        found = at_once(*[lambda one=one: answer(one) for one in answers])

        assert found.count("already_answered") == 9
        run = resume(waiting)
        won = run.interrupts.get().status
        assert Effect.objects.count() == (1 if won == "approved" else 0)

    @pytest.mark.row("T24")
    def test_argument_is_no_approval(self, asks, play, script):
        said = [{"key": "a", name: True} for name in ("approved", "approve", "confirm")]
        script.add(
            reply("", *[call("write_effect", one) for one in said]),
            reply("", call("write_effect", {"key": "approved"})),
        )

        run = play()

        assert statuses(run) == ["failed"] * 3 + ["waiting"]
        assert Effect.objects.count() == 0

    @pytest.mark.parametrize("decision", ["", "yes", "APPROVE"])
    def test_approve_needs_a_clear_word(self, waiting, decision):
        assert refusal(answer, given(waiting, decision)) == "bad_decision"

    def test_another_user_is_told_nothing(self, waiting):
        eve = get_user_model().objects.create_superuser("eve")

        assert refusal(answer, given(waiting, "approve", user_id=eve.pk)) == "not_found"

    def test_approve_needs_the_nonce_of_the_card(self, waiting):
        assert refusal(answer, given(waiting, "approve", nonce="é")) == "not_found"
        unknown = given(waiting, "approve", interrupt_id=uuid.uuid4())
        assert refusal(answer, unknown) == "not_found"

    @pytest.mark.parametrize(
        "changed", [{"arguments": {"key": "b"}}, {"name": "background_steps"}]
    )
    def test_approve_is_bound_to_what_was_shown(self, waiting, changed):
        approval = given(waiting, "approve")
        ToolCall.objects.update(**changed)

        assert refusal(answer, approval) == "stale"

    def test_tool_that_is_gone(self, waiting):
        approval = given(waiting, "approve")
        tool = registry.tools()["write_effect"]
        registry.remove_tool("write_effect")
        try:
            assert refusal(answer, approval) == "stale"
        finally:
            registry.add_tool(tool)

    def test_site_that_denies_it_by_now(self, waiting, options):
        options(POLICY={"write_effect": "deny"})

        assert refusal(answer, given(waiting, "approve")) == "policy"


class TestDeny:
    def test_deny_tells_the_model_why(self, waiting, script):
        answer(given(waiting, "deny", " Not today. "))

        run = resume(waiting)

        one = run.calls.get()
        assert (run.state, one.status, one.reason) == ("succeeded", "denied", "person")
        assert "Not today." in script.requests[1].messages[-1]["content"]
        assert Effect.objects.count() == 0

    def test_deny_without_a_reason(self, waiting):
        answer(given(waiting, "deny"))

        assert "denied" in resume(waiting).calls.get().result["error"]


class TestExpiry:
    def late(self):
        past = timezone.now() - timedelta(seconds=1)
        Interrupt.objects.update(expires_at=past)

    def test_expiry_denies(self, waiting):
        self.late()

        swept = sweep_once()

        assert swept.moved == [waiting.pk]
        run = resume(waiting)
        one = run.calls.get()
        assert (one.status, one.reason) == ("denied", "expired")
        assert run.interrupts.get().status == "expired"
        assert run.state == "succeeded"

    def test_expiry_happens_once(self, waiting):
        self.late()
        sweep_once()

        assert sweep_once().moved == []

    def test_then_no_approval(self, waiting):
        approval = given(waiting, "approve")
        self.late()

        assert refusal(answer, approval) == "expired"
        sweep_once()
        assert refusal(answer, approval) in ("expired", "already_answered")

    def test_questions_do_not_expire(self, play, script, offer):
        offer(asker_tool())
        script.add(reply("", call("asker")))
        run = play()

        assert run.interrupts.get().expires_at is None
