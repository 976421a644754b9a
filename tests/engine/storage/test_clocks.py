"""The processes of a site whose clocks differ by two hours."""

from datetime import timedelta

import pytest
from django.utils import timezone

from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.interrupts.browser import claim_call as claim_request
from ai_assistant.models import AccessToken, Run
from ai_assistant.safety.identity.tokens import State, end_after, issue, state_of
from ai_assistant.testing import call, reply
from tests.engine.calls.browser.conftest import said
from tests.engine.conftest import resume, statuses
from tests.engine.people import given

pytestmark = pytest.mark.django_db(transaction=True)

HOURS = timedelta(hours=2)


@pytest.fixture
def process(monkeypatch):
    """Go on as a process whose clock differs by so much: `process(HOURS)`."""
    real = timezone.now

    def become(differs):
        monkeypatch.setattr(timezone, "now", lambda: real() + differs)

    return become


@pytest.fixture(params=[HOURS, -HOURS], ids=["fast", "slow"])
def elsewhere(request):
    """By how much the clock of the other process differs."""
    return request.param


class TestWaits:
    @pytest.fixture
    def waiting(self, options, play, script):
        options(POLICY={}, TIMEOUTS={"APPROVAL_S": 1800})
        script.add(reply("May I?", call("write_effect", {"key": "a"})), "Done.")
        return play()

    def test_approval_does_not_expire_at_once(self, waiting, process, elsewhere):
        process(elsewhere)

        assert sweep_once().moved == []
        assert answer(given(waiting, "approve")).queued
        assert statuses(resume(waiting)) == ["complete"]

    def test_approval_asked_for_there_expires_in_time(
        self, options, play, script, process, elsewhere
    ):
        process(elsewhere)
        options(POLICY={}, TIMEOUTS={"APPROVAL_S": 0})
        script.add(reply("May I?", call("write_effect", {"key": "a"})), "I see.")
        run = play()
        process(timedelta(0))

        assert sweep_once().moved == [run.pk]

    def test_page_may_take_what_it_is_asked_for(self, play, script, process, elsewhere):
        script.add(reply("", call("highlight", {"selector": "#id_title"})), "There.")
        run = play()
        process(elsewhere)

        assert sweep_once().moved == []
        assert claim_request(said(run))


class TestOrder:
    def test_runs_stand_in_the_order_in_which_they_began(
        self, play, script, process, elsewhere
    ):
        script.add("One.", "Two.", "Three.")
        began = [play().pk]
        process(elsewhere)
        began.append(play().pk)
        process(timedelta(0))
        began.append(play().pk)

        assert list(Run.objects.values_list("pk", flat=True)) == began
        for run in Run.objects.all():
            assert run.created_at <= run.finished_at < run.created_at + HOURS


class TestTokens:
    def test_token_is_good_for_as_long_as_it_was_made_for(
        self, user, process, elsewhere
    ):
        token, _secret = issue(user, "script", ["run"], end_after(1))
        AccessToken.objects.update(expires_at=token.expires_at - timedelta(hours=23))
        token.refresh_from_db()
        process(elsewhere)

        assert state_of(token) == State.GOOD
