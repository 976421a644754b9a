"""Outside of the office hours nothing is published, not even what was approved."""

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from ai_assistant.hooks import ToolRequested
from ai_assistant.testing import (
    answer_interrupt,
    call,
    play_hook,
    reply,
    run_assistant,
)
from project.questionnaires.models import Questionnaire

pytestmark = [pytest.mark.usefixtures("demo_data"), pytest.mark.row("H09")]
ASKED = ToolRequested(name="publish_questionnaire", arguments={"questionnaire_id": 1})


@pytest.fixture
def at(settings, monkeypatch):
    """Set the clock of the office: `at(17)`."""
    settings.DEMO_OFFICE_HOURS = (8, 18)
    settings.TIME_ZONE = "UTC"

    def set_clock(hour):
        moment = datetime(2026, 5, 4, hour, 30, tzinfo=UTC)
        told = timezone.localtime
        monkeypatch.setattr(
            "django.utils.timezone.localtime",
            lambda value=None, *more: told(value, *more) if value else moment,
        )

    return set_clock


@pytest.mark.parametrize(("hour", "is_open"), [(7, False), (8, True), (17, True)])
def test_by_the_clock(at, hour, is_open):
    at(hour)

    assert bool(play_hook("office_hours", ASKED).refused) is not is_open


def test_without_hours_it_is_always_open(settings, at):
    at(3)
    settings.DEMO_OFFICE_HOURS = None

    assert play_hook("office_hours", ASKED).refused == ""


def test_approved_in_time_and_carried_out_too_late(at, admin_user):
    draft = Questionnaire.objects.filter(status="draft").first()
    asked = reply("", call("publish_questionnaire", {"questionnaire_id": draft.pk}))
    at(17)
    played = run_assistant(
        admin_user, "/admin/", f"Publish {draft.pk}", replies=[asked, "Sorry."]
    )
    assert played.state == "waiting_approval"

    at(18)
    played = answer_interrupt(played, "approve")

    draft.refresh_from_db()
    (made,) = played.calls
    assert (made.status, draft.status) == ("denied", "draft")
    assert "from 8:00 to 18:00 only" in made.error
