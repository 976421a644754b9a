"""A background call is worked on by one at a time, and goes on after a crash."""

import pytest

from ai_assistant import RunContext
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.calls.background.claim import (
    claim_task,
    pass_call_fence,
    renew_claim,
)
from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.exceptions import LostLease
from ai_assistant.models.call import BackgroundCall
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from tests.engine.calls.background.conftest import keys
from tests.engine.conftest import dead_owner, facts, resume, statuses
from tests.engine.people import at_once
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


def bury_worker():
    BackgroundCall.objects.update(owner=dead_owner())


class TestClaim:
    def test_claim_of_two_messages_one_works(self, steps):
        call_id = steps.calls.get().pk

        found = at_once(*[lambda: perform(call_id)] * 4)

        assert sorted(found, key=str) == [steps.pk, None, None, None] or (
            found.count(None) == 3
        )
        assert keys() == ["step-0", "step-1", "step-2"]
        assert facts(steps).count("TOOL_CALL_RESULT") == 1

    def test_second_message_leaves_no_trace(self, steps):
        call_id = steps.calls.get().pk
        claim_task(call_id)
        before = facts(steps)

        assert claim_task(call_id) is None
        assert facts(steps) == before

    def test_claim_after_the_result(self, steps):
        call_id = steps.calls.get().pk
        perform(call_id)

        assert perform(call_id) is None

    def test_claim_of_no_call(self):
        import uuid

        assert perform(uuid.uuid4()) is None

    def test_claim_of_a_call_that_is_not_long(self, play, script, options):
        options(POLICY={})
        script.add(reply("", call("write_effect", {"key": "a"})))

        assert perform(play().calls.get().pk) is None

    def test_fence(self, steps):
        hold = claim_task(steps.calls.get().pk)
        pass_call_fence(hold)
        renew_claim(hold)
        BackgroundCall.objects.update(epoch=9)

        with pytest.raises(LostLease):
            pass_call_fence(hold)
        with pytest.raises(LostLease):
            renew_claim(hold)

    def test_piece_renews_the_leases_at_its_end(self, play, script, offer, given_out):
        def piece(context: RunContext) -> None:
            with context.transaction():
                # As if the piece had taken long: nobody else can renew them.
                BackgroundCall.objects.update(lease_until=0)
                Run.objects.update(lease_until=0, state="running", owner="other")
            seen.append((BackgroundCall.objects.get().lease_until, Run.objects.get()))

        seen = []
        offer(piece, effect="write", background=True, policy="allow")
        script.add(reply("", call("piece")))
        run = play()

        perform(given_out.pop())

        ((call_lease, found),) = seen
        assert call_lease > 0
        assert found.lease_until > 0
        Run.objects.update(state="queued", owner="")
        stop(run.pk)


class TestCrash:
    @pytest.fixture
    def killed(self, play, script, offer, given_out):
        """Work on a call until its process is killed, after one piece."""

        class Killed(BaseException):
            pass

        def play_killed(*, resumable):
            begun = []

            def pieces(context: RunContext) -> list[int]:
                begun.append(context.mark)
                for number in range(context.mark or 0, 3):
                    with context.transaction(mark=number + 1):
                        Effect.objects.create(key=f"p{number}", run=context.run_id)
                    if number == 0 and len(begun) == 1:
                        raise Killed
                return begun

            offer(
                pieces,
                effect="write",
                background=True,
                resumable=resumable,
                policy="allow",
            )
            script.add(reply("", call("pieces")), "Done.")
            run = play()
            with pytest.raises(Killed):
                perform(given_out.pop())
            assert run.calls.get().status == "executing"
            bury_worker()
            return run

        return play_killed

    def test_resumable_goes_on_from_its_mark(self, killed, given_out):
        run = killed(resumable=True)

        assert sweep_once().moved == [run.pk]
        assert statuses(run) == ["pending"]
        perform(given_out.pop())

        run = resume(run)
        assert (run.state, keys()) == ("succeeded", ["p0", "p1", "p2"])
        assert run.calls.get().result["data"] == [None, 1]

    def test_another_is_unknown(self, killed, given_out):
        run = killed(resumable=False)

        sweep_once()

        run = resume(run)
        assert (run.state, statuses(run)) == ("needs_review", ["unknown"])
        assert (keys(), given_out) == (["p0"], [])

    def test_living_worker_is_left_alone(self, steps):
        claim_task(steps.calls.get().pk)

        assert sweep_once().moved == []
        assert statuses(steps) == ["executing"]

    def test_silent_worker_is_not(self, steps):
        claim_task(steps.calls.get().pk)
        BackgroundCall.objects.update(lease_until=0)

        assert sweep_once().moved == [steps.pk]
        assert statuses(steps) == ["pending"]

    def test_worker_of_before_writes_nothing(self, steps, offer):
        hold = claim_task(steps.calls.get().pk)
        BackgroundCall.objects.update(lease_until=0)
        sweep_once()

        with pytest.raises(LostLease):
            pass_call_fence(hold)


class TestStop:
    def test_stop_between_two_pieces(self, play, script, offer, given_out):
        def pieces(context: RunContext) -> None:
            for number in range(3):
                with context.transaction():
                    Effect.objects.create(key=f"p{number}", run=context.run_id)
                stop(context.run_id)

        offer(pieces, effect="write", background=True, policy="allow")
        script.add(reply("", call("pieces")))
        run = play()

        assert perform(given_out.pop()) is None

        run.refresh_from_db()
        assert (run.state, statuses(run), keys()) == (
            "cancelled",
            ["cancelled"],
            ["p0"],
        )
        assert "What it had saved by then stays" in run.calls.get().result["error"]

    def test_stop_is_seen_at_progress(self, play, script, offer, given_out):
        def tells(context: RunContext) -> None:
            stop(context.run_id)
            context.progress(1, "now")
            raise AssertionError

        offer(tells, background=True)
        script.add(reply("", call("tells")))
        run = play()

        assert perform(given_out.pop()) is None

        run.refresh_from_db()
        assert run.state == "cancelled"

    def test_stop_is_seen_by_the_heartbeat(
        self, play, script, offer, given_out, options
    ):
        options(LEASE_S=0.1)
        seen = []

        def tells(context: RunContext) -> None:
            stop(context.run_id)
            while True:
                try:
                    context.progress(0.5)
                except LostLease:
                    seen.append(1)
                    raise

        offer(tells, background=True)
        script.add(reply("", call("tells")))
        play()

        assert perform(given_out.pop()) is None
        assert seen == [1]


class TestRunThatEnded:
    def test_run_that_ended_is_not_worked_for(self, steps):
        stop(steps.pk)

        assert perform(steps.calls.first().pk) is None
        assert Run.objects.get().state == "cancelled"
