"""A background call is worked on in pieces, and has one result."""

import threading

import pytest

from ai_assistant import Ask, RunContext, ToolFailed
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.models.call import BackgroundCall
from ai_assistant.testing import call, reply
from tests.engine.calls.background.conftest import keys
from tests.engine.conftest import facts, resume, said, statuses
from tests.engine.people import given
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


class TestPerform:
    def test_whole_way(self, steps, given_out):
        assert (steps.state, steps.owner) == ("waiting_task", "")
        one = steps.calls.get()
        assert given_out == [one.pk]

        assert perform(one.pk) == steps.pk

        steps.refresh_from_db()
        assert steps.state == "queued"
        run = resume(steps)
        one.refresh_from_db()
        assert (run.state, said(run)) == ("succeeded", "Begun.|Done.")
        assert (one.status, one.result["data"]) == ("complete", {"written": 3})
        assert one.started_at <= one.finished_at
        assert keys() == ["step-0", "step-1", "step-2"]

    @pytest.mark.row("L01")
    def test_progress_is_stored(self, steps):
        perform(steps.calls.get().pk)

        one = steps.calls.get()
        assert (one.progress, one.progress_text) == (1.0, "3 of 3")
        assert "aia.progress" in facts(steps)

    @pytest.mark.row("L12")
    def test_other_calls_go_on_meanwhile(self, play, script):
        script.add(
            reply(
                "",
                call("background_steps", {"n": 1, "seconds": 0}),
                call("echo", {"text": "a"}),
            )
        )

        assert statuses(play()) == ["pending", "complete"]

    def test_failure(self, play, script, offer):
        def fails(context: RunContext) -> None:
            with context.transaction():
                Effect.objects.create(key="a", run=context.run_id)
                raise ToolFailed("No.")

        offer(fails, background=True)
        script.add(reply("", call("fails")), "I see.")
        run = play()
        perform(run.calls.get().pk)

        run = resume(run)

        assert (run.state, statuses(run), keys()) == ("succeeded", ["failed"], [])

    def test_tool_that_is_gone(self, play, script, offer):
        from ai_assistant.registry import registry

        offer(lambda: 1, name="long", background=True)
        script.add(reply("", call("long")), "I see.")
        run = play()
        registry.remove_tool("long")

        perform(run.calls.get().pk)

        assert statuses(resume(run)) == ["failed"]

    def test_answer_in_the_middle(self, play, script, offer, given_out):
        def asker(context: RunContext) -> str:
            if "answer" not in context.answers:
                raise Ask("Which?")
            return context.answers["answer"]

        offer(asker, background=True)
        script.add(reply("", call("asker")), "Nice.")
        run = play()
        perform(given_out.pop())
        run.refresh_from_db()
        assert run.state == "waiting_answer"

        decided = answer(given(run, text="red"))

        run.refresh_from_db()
        assert (run.state, decided.queued) == ("waiting_task", False)
        sweep_once()
        perform(given_out.pop())
        assert resume(run).calls.get().result["data"] == "red"

    def test_approval_comes_first(self, play, script, options, given_out):
        options(POLICY={})
        script.add(reply("", call("background_steps", {"n": 1, "seconds": 0})), "Done.")
        run = play()
        assert (run.state, given_out) == ("waiting_approval", [])

        answer(given(run, "approve"))

        run.refresh_from_db()
        assert run.state == "waiting_task"
        sweep_once()
        perform(given_out.pop())
        assert statuses(resume(run)) == ["complete"]

    def test_perform_is_not_begun_before_the_approval(self, play, script, options):
        options(POLICY={})
        script.add(reply("", call("background_steps", {"n": 1, "seconds": 0})))
        run = play()

        assert perform(run.calls.get().pk) is None
        assert keys() == []


class TestPieces:
    def test_belong_to_background_tools(self, play, script, offer):
        def eager(context: RunContext) -> None:
            with context.transaction():
                pass

        offer(eager)
        script.add(reply("", call("eager")), "I see.")

        one = play().calls.get()

        assert (one.status, one.result["error_type"]) == ("failed", "exception")
        assert "RuntimeError" in one.result["error"]

    def test_ask_for_permission_each_time(self, play, script, offer, given_out, user):
        def pieces(context: RunContext) -> None:
            for number in range(2):
                with context.transaction():
                    Effect.objects.create(key=f"p{number}", run=context.run_id)
                type(user).objects.update(is_active=False)

        offer(pieces, effect="write", background=True, policy="allow")
        script.add(reply("", call("pieces")))
        run = play()
        perform(given_out.pop())

        run = resume(run)

        assert (run.state, run.error_code) == ("cancelled", "deactivated")
        assert (statuses(run), keys()) == (["failed"], ["p0"])

    def test_error_takes_its_piece_back(self, play, script, offer, given_out):
        def pieces(context: RunContext) -> str:
            try:
                with context.transaction(mark=1):
                    Effect.objects.create(key="a", run=context.run_id)
                    raise KeyError  # noqa: TRY301
            except KeyError:
                return "caught"

        offer(pieces, effect="write", background=True, policy="allow")
        script.add(reply("", call("pieces")))
        run = play()
        perform(given_out.pop())

        one = run.calls.get()
        assert (one.status, one.mark, keys()) == ("complete", None, [])

    def test_wait_for_a_busy_database(
        self, play, script, offer, given_out, monkeypatch
    ):
        from django.db import OperationalError

        from ai_assistant.engine.calls.background import perform as perform_work  # noqa: F401

        module = __import__(
            "ai_assistant.engine.calls.background.perform", fromlist=["pass_call_fence"]
        )
        passed, tries = module.pass_call_fence, []

        def busy(hold, **more):
            tries.append(1)
            if len(tries) < 3:
                raise OperationalError("database is locked")
            return passed(hold, **more)

        def pieces(context: RunContext) -> str:
            with context.transaction():
                Effect.objects.create(key="a", run=context.run_id)
            return "ok"

        offer(pieces, effect="write", background=True, policy="allow")
        script.add(reply("", call("pieces")))
        run = play()
        monkeypatch.setattr(module, "pass_call_fence", busy)
        perform(given_out.pop())

        assert (statuses(run), keys()) == (["complete"], ["a"])


class TestHeartbeat:
    def test_heartbeat_keeps_the_lease(self, play, script, offer, given_out, options):
        options(LEASE_S=0.2)
        renewed = threading.Event()

        def quiet(context: RunContext) -> str:
            first = BackgroundCall.objects.get().lease_until
            while BackgroundCall.objects.get().lease_until == first:
                renewed.wait(0.01)
            return "ok"

        offer(quiet, background=True)
        script.add(reply("", call("quiet")))
        run = play()
        perform(given_out.pop())

        assert statuses(run) == ["complete"]
