"""The offline demo model on pages with modules, through the real engine."""

import pytest

from ai_assistant.testing import answer_interrupt, run_assistant
from project.demo_model import DemoProvider
from project.questionnaires.models import Question, Questionnaire

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("demo_data")]


@pytest.fixture
def say(superuser):
    def send(path, text):
        return run_assistant(
            superuser, path, text, provider=DemoProvider({"DELAY_S": 0})
        )

    return send


@pytest.fixture
def pages():
    return {
        status: f"/admin/questionnaires/questionnaire/{one.pk}/change/"
        for one in Questionnaire.objects.order_by("-pk")
        for status in [one.status]
    }


class TestDesignerPage:
    @pytest.mark.row("M06")
    def test_designer_page_adds_a_question_once_approved(self, say, pages):
        draft = Questionnaire.objects.filter(status="draft").order_by("pk").first()
        section = draft.sections.first()

        waiting = say(
            pages["draft"], f'add question "Do you snore?" to section {section.pk}'
        )
        assert not Question.objects.filter(text="Do you snore?").exists()
        played = answer_interrupt(waiting, "approve")

        assert Question.objects.get(text="Do you snore?").section == section
        assert "Done: question “Do you snore?”" in played.text

    @pytest.mark.parametrize("status", ["draft", "published"])
    def test_designer_page_finds_what_is_not_told_of(self, say, pages, status):
        played = say(pages[status], "list draft questionnaires about diabetes")

        assert [call.status for call in played.calls] == ["complete"] * len(
            played.calls
        )
        assert "Diabetes first visit" in played.text

    @pytest.mark.row("M11")
    def test_prompt_ends_with_the_outline_of_the_page(self, say, pages):
        played = say(pages["draft"], "hello")

        assert "The outline, one JSON object a line" in played.prompt


class TestOtherPages:
    @pytest.mark.row("M05")
    def test_wiki_is_searched_from_everywhere(self, say):
        played = say("/admin/", "search the wiki for mailbox")

        assert "[Reading the logs](/admin/wiki/page/read/reading-the-logs/)" in (
            played.text
        )

    @pytest.mark.row("T23")
    def test_logs_are_queried_in_the_explorer_only(self, say):
        here = say(
            "/admin/discover/logline/explore/", "search the logs for level:error"
        )
        there = say("/admin/", "search the logs for level:error")

        assert "finds **" in here.text
        assert "not available to you here" in there.text
