import pytest

from ai_assistant import ModelRetry
from project.questionnaires.assistant.designer.retyping import change_question_type

pytestmark = pytest.mark.row("M06")


class TestChangeQuestionType:
    def test_change_question_type_clears_configuration_and_every_override(
        self, designing, sections, question
    ):
        for language in ("de", "en"):
            question.overrides.create(language=language, config={"options": ["a", "b"]})

        told = change_question_type(designing, question.pk, "text", sections[0].pk)

        question.refresh_from_db()
        assert (question.type.slug, question.config) == ("text", {"max_length": 200})
        assert not question.overrides.exists()
        assert told["removed_overrides"] == ["de", "en"]

    def test_new_configuration_is_checked(self, designing, sections, question):
        with pytest.raises(ModelRetry, match="Schema: "):
            change_question_type(
                designing, question.pk, "choice", sections[0].pk, {"options": []}
            )

        question.refresh_from_db()
        assert question.config == {"options": ["Yes", "No"]}
