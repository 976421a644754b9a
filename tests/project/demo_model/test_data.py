"""Wishes for the tools on all data, through the real engine and on the demo data."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management import call_command

from ai_assistant.testing import answer_interrupt, run_assistant
from project.demo_model import DemoProvider
from project.questionnaires.models import Questionnaire, Schedule
from project.wiki.models import Page

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("demo_data")]


@pytest.fixture
def say(db):
    call_command("demo_users")

    def send(text, *, user="admin", path="/admin/", **fields):
        person = get_user_model().objects.get(username=user)
        provider = DemoProvider({"DELAY_S": 0})
        return run_assistant(person, path, text, provider=provider, **fields)

    return send


class TestCount:
    @pytest.mark.parametrize(
        ("wish", "text"),
        [
            ("how many active schedules", "There are **16** active schedules."),
            ("How many wiki pages are there?", "There are **7** wiki pages."),
            ("count the error log lines", "There are **62** error log lines."),
            ("how many users", "There are **3** users."),
        ],
    )
    def test_count_tells_the_number(self, say, wish, text):
        assert say(wish).text == text


class TestChange:
    def test_change_of_one_that_is_named(self, say):
        asked = say(
            "change status of questionnaire Exit interview to draft", user="editor"
        )
        assert asked.interrupts[0].proposal["objects"][0]["text"] == "Exit interview"
        played = answer_interrupt(asked, "approve")

        assert Questionnaire.objects.get(title="Exit interview").status == "draft"
        assert played.text == "Changed: “Exit interview”."

    def test_take_that_back(self, say):
        before = Questionnaire.objects.get(title="Exit interview").status
        asked = say("change status of questionnaire Exit interview to draft")
        played = answer_interrupt(asked, "approve")

        undone = say("Take that back", conversation_id=played.run.conversation_id)

        assert undone.interrupts[0].proposal["title"] == "Undo 1 change"
        undone = answer_interrupt(undone, "approve")
        assert undone.text == "1 change undone: “Exit interview”."
        assert Questionnaire.objects.get(title="Exit interview").status == before

    def test_change_of_one_by_its_number(self, say):
        one = Schedule.objects.first()

        answer_interrupt(
            say(f"change the offset days of schedule {one.pk} to 12"), "approve"
        )

        one.refresh_from_db()
        assert one.offset_days == 12

    def test_change_of_what_is_so_already(self, say):
        played = say("change default language of all draft questionnaires to en")

        assert not played.interrupts
        assert played.text == "No change: it already has these values."

    def test_change_of_many(self, say):
        asked = say("change status of all draft questionnaires to archived")
        played = answer_interrupt(asked, "approve")

        assert not Questionnaire.objects.filter(status="draft").exists()
        assert played.text.startswith("Changed 8 questionnaires: “Brand")

    def test_change_says_which_may_be_meant(self, say):
        played = say("change status of questionnaire Diabetes to archived")

        assert "may mean any of these questionnaires" in played.text
        assert "- Diabetes first visit (id" in played.text

    def test_denied_is_told(self, say):
        asked = say("change title of wiki page Reading the logs to Logs")

        played = answer_interrupt(asked, "deny", text="No.")

        assert "not carried out" in played.text

    def test_change_not_allowed_is_told(self, say):
        played = say(
            "change title of wiki page Reading the logs to Logs", user="viewer"
        )

        assert not played.interrupts
        assert Page.objects.filter(title="Reading the logs").exists()
        assert "You may not change page “Reading the logs”" in played.text


class TestCreate:
    def test_page_with_its_text(self, say):
        answer_interrupt(say("create wiki page Holidays: Ask your lead."), "approve")

        assert Page.objects.get(slug="holidays").text == "Ask your lead."

    @pytest.mark.parametrize(
        ("wish", "rows"),
        [
            ("make a new group called Editors", Group.objects.filter(name="Editors")),
            (
                "create questionnaire Sleep",
                Questionnaire.objects.filter(title="Sleep"),
            ),
        ],
    )
    def test_wish_makes_one_row_once_approved(self, say, wish, rows):
        answer_interrupt(say(wish), "approve")

        assert rows.all().count() == 1


class TestDelete:
    def test_delete_goes_once_approved(self, say):
        asked = say("delete wiki page Reading the logs")
        assert Page.objects.filter(slug="reading-the-logs").exists()
        played = answer_interrupt(asked, "approve")

        assert not Page.objects.filter(slug="reading-the-logs").exists()
        assert "Deleted" in played.text

    def test_unknown_is_told(self, say):
        played = say("delete wiki page Nowhere")

        assert played.text == "No wiki page matches “Nowhere”. Nothing was done."
