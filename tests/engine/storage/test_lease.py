"""Only the holder of a run writes for it."""

import uuid

import pytest
from django.db import transaction

from ai_assistant.engine.execution.sweep import claim_runs
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.storage.lease import (
    Hold,
    claim_lease,
    database_now,
    pass_by_state,
    pass_fence,
    renew_leases,
    this_process,
)
from ai_assistant.exceptions import LostLease
from ai_assistant.models.run import UNFINISHED, Run
from tests.engine.conftest import bury

pytestmark = pytest.mark.django_db(transaction=True)
ME = this_process()


@pytest.fixture
def hold(submission):
    return accept(submission(), owner=ME).hold


@pytest.fixture
def run(hold):
    return Run.objects.get(pk=hold.run_id)


def numbers_given_back(run):
    """Undo what a test took without storing events, for the oracle."""
    Run.objects.filter(pk=run.pk).update(next_seq=2)


class TestPassFence:
    def test_pass_fence_takes_numbers_and_renews(self, hold, run):
        Run.objects.filter(pk=run.pk).update(lease_until=0)

        assert pass_fence(hold, events=3) == 2
        assert pass_fence(hold, events=1) == 5
        assert pass_fence(hold) == 6

        run.refresh_from_db()
        assert run.next_seq == 6
        assert run.lease_until > database_now()
        numbers_given_back(run)

    def test_pass_fence_goes_back_with_its_transaction(self, hold, run):
        with pytest.raises(KeyError), transaction.atomic():
            pass_fence(hold, events=3)
            raise KeyError

        run.refresh_from_db()
        assert run.next_seq == 2

    @pytest.mark.parametrize(
        "changed",
        [{"epoch": 2}, {"owner": "other"}, {"state": "waiting_task"}, {"pk": None}],
    )
    def test_pass_fence_refuses_a_zombie(self, hold, run, changed):
        if changed == {"pk": None}:
            hold = Hold(run_id=uuid.uuid4(), owner=ME, epoch=1)
        else:
            Run.objects.filter(pk=run.pk).update(**changed)

        with pytest.raises(LostLease):
            pass_fence(hold, events=1)

        Run.objects.filter(pk=run.pk).update(state="running", owner=ME)


class TestPassByState:
    def test_pass_by_state_needs_no_owner(self, run):
        assert pass_by_state(run.pk, tuple(UNFINISHED), events=2) == 2
        numbers_given_back(run)

    def test_pass_by_state_refuses_another_state(self, run):
        with pytest.raises(LostLease):
            pass_by_state(run.pk, ("queued",))


class TestClaim:
    def test_claim_takes_a_queued_run(self, submission):
        run_id = accept(submission()).run_id

        taken = claim_lease(run_id, ME)

        run = Run.objects.get(pk=run_id)
        assert taken == Hold(run_id=run_id, owner=ME, epoch=1)
        assert (run.state, run.owner, run.attempts) == ("running", ME, 0)

    def test_claim_is_taken_once(self, submission):
        run_id = accept(submission()).run_id

        assert claim_lease(run_id, ME) is not None
        assert claim_lease(run_id, "other") is None

    def test_claim_leaves_a_run_that_is_held(self, hold, run):
        assert claim_lease(run.pk, "other") is None
        assert claim_lease(run.pk, "other", gone_owner="another") is None

    def test_claim_takes_over_when_the_lease_ran_out(self, hold, run):
        Run.objects.filter(pk=run.pk).update(lease_until=database_now() - 1)

        taken = claim_lease(run.pk, "other")

        run.refresh_from_db()
        assert (taken.epoch, run.owner, run.attempts) == (2, "other", 1)
        with pytest.raises(LostLease):
            pass_fence(hold)

    def test_claim_takes_over_from_a_dead_owner(self, hold, run):
        bury(run)

        taken = claim_lease(run.pk, ME, gone_owner=run.owner)

        assert taken.epoch == 2

    @pytest.mark.parametrize("state", ["succeeded", "waiting_approval"])
    def test_claim_leaves_other_states(self, run, state):
        Run.objects.filter(pk=run.pk).update(state=state, owner="", lease_until=0)

        assert claim_lease(run.pk, ME) is None

        Run.objects.filter(pk=run.pk).update(state="queued")


class TestClaimRuns:
    def test_claim_runs_leaves_the_living(self, run):
        assert claim_runs(ME, 10) == []
        assert claim_runs("another process", 10) == []

    def test_claim_runs_takes_from_the_dead_at_once(self, run):
        bury(run)

        assert [hold.run_id for hold in claim_runs(ME, 10)] == [run.pk]

    def test_claim_runs_takes_the_own_when_their_lease_ran_out(self, run):
        Run.objects.filter(pk=run.pk).update(lease_until=0)

        assert [hold.epoch for hold in claim_runs(ME, 10)] == [2]

    def test_claim_runs_waits_for_the_lease_of_another_host(self, run):
        elsewhere = "elsewhere|" + ME.partition("|")[2]
        Run.objects.filter(pk=run.pk).update(owner=elsewhere)
        assert claim_runs(ME, 10) == []

        Run.objects.filter(pk=run.pk).update(lease_until=database_now() - 1)
        assert len(claim_runs(ME, 10)) == 1

    def test_claim_runs_takes_as_many_as_there_is_room(self, submission):
        for _ in range(3):
            accept(submission())

        assert claim_runs(ME, 0) == []
        assert len(claim_runs(ME, 2)) == 2
        assert len(claim_runs(ME, 2)) == 1


class TestRenew:
    def test_renew_renews_what_is_held(self, hold, run):
        Run.objects.filter(pk=run.pk).update(lease_until=0)

        renew_leases(ME, [run.pk])

        run.refresh_from_db()
        assert run.lease_until > database_now()

    def test_renew_leaves_what_was_lost(self, run):
        Run.objects.filter(pk=run.pk).update(owner="other", lease_until=0)

        renew_leases(ME, [run.pk])

        run.refresh_from_db()
        assert run.lease_until == 0
