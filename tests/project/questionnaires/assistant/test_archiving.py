import pytest

from ai_assistant import Ask, ModelRetry, ToolFailed
from project.questionnaires.assistant.archiving import archive_questionnaire
from project.questionnaires.models import Questionnaire

pytestmark = pytest.mark.usefixtures("demo_data")


class TestArchiveQuestionnaire:
    def asked(self, context):
        with pytest.raises(Ask) as caught:
            archive_questionnaire(context, "diabetes")
        return caught.value

    def test_only_match_is_archived(self, context):
        result = archive_questionnaire(context, "asthma")

        assert result["status"] == "archived"
        assert (
            Questionnaire.objects.get(title="Asthma control check").status == "archived"
        )

    def test_archive_questionnaire_asks_if_several_match(self, context):
        ask = self.asked(context)

        assert ask.key == "questionnaire"
        assert [option.split(" (id")[0] for option in ask.options] == [
            "Diabetes first visit",
            "Diabetes follow-up after 6 months",
        ]
        assert not Questionnaire.objects.filter(
            title__contains="Diabetes", status="archived"
        ).exists()

    @pytest.mark.parametrize("form", ["option", "title", "id"])
    def test_archive_questionnaire_takes_the_answer(self, context, form):
        chosen = Questionnaire.objects.get(title="Diabetes first visit")
        said = {
            "option": self.asked(context).options[0],
            "title": "diabetes FIRST visit ",
            "id": str(chosen.pk),
        }[form]
        context.answers = {"questionnaire": said}

        result = archive_questionnaire(context, "diabetes")

        assert result["id"] == chosen.pk
        assert (
            Questionnaire.objects.get(title="Diabetes first visit").status == "archived"
        )

    def test_answer_that_names_none(self, context):
        context.answers = {"questionnaire": "the blue one"}

        with pytest.raises(ToolFailed, match="'the blue one' names none of the 2"):
            archive_questionnaire(context, "diabetes")

    def test_an_exact_title_wins(self, context):
        Questionnaire.objects.create(title="Diabetes")

        assert archive_questionnaire(context, "diabetes")["title"] == "Diabetes"

    @pytest.mark.parametrize("title", ["", "  ", "unicorns"])
    def test_no_match(self, context, title):
        with pytest.raises(ModelRetry, match="matches no questionnaire"):
            archive_questionnaire(context, title)
