import pytest
from django.db import transaction

from ai_assistant import ModelRetry
from project.questionnaires.assistant.designer.languages import (
    Override,
    remove_question_config_override,
    set_question_config_override,
    set_question_config_overrides,
    translate_questions,
)

pytestmark = pytest.mark.row("M06")
GERMAN = {"options": ["Ja", "Nein"]}


class TestTranslateQuestions:
    def test_sets_and_replaces(self, designing, question):
        translate_questions(designing, "de", {str(question.pk): "b auf Deutsch?"})
        translate_questions(designing, "de", {str(question.pk): "b?"})

        assert [one.text for one in question.translations.all()] == ["b?"]

    @pytest.mark.parametrize(
        ("language", "key", "text", "said"),
        [
            ("fr", "", "b?", "'fr' is none of this questionnaire"),
            ("en", "", "b?", "is the default one"),
            ("de", "0", "b?", "is not one of this questionnaire"),
            ("de", "b", "b?", "is no id"),
            ("de", "", " ", "cannot be blank"),
        ],
    )
    def test_translate_questions_refuses_what_is_wrong(
        self, designing, question, language, key, text, said
    ):
        with pytest.raises(ModelRetry, match=said):
            translate_questions(designing, language, {key or str(question.pk): text})

        assert not question.translations.exists()

    def test_translate_questions_refuses_nothing(self, designing, question):
        with pytest.raises(ModelRetry, match="Call again with 1 to 100"):
            translate_questions(designing, "de", {})


class TestConfigOverrides:
    def test_config_overrides_is_set_and_removed(self, designing, question):
        set_question_config_override(designing, question.pk, "de", GERMAN)
        assert question.overrides.get().config == GERMAN

        remove_question_config_override(designing, question.pk, "de")
        assert not question.overrides.exists()

    def test_config_overrides_checks_the_schema(self, designing, question):
        with pytest.raises(ModelRetry, match="Schema: "):
            set_question_config_override(designing, question.pk, "de", {})

    def test_several_are_all_or_none(self, designing, question):
        overrides = [
            Override(question_id=question.pk, language_code="de", config=GERMAN),
            Override(question_id=question.pk, language_code="fr", config=GERMAN),
        ]

        # As a call does: what raises has changed nothing.
        with (
            pytest.raises(ModelRetry, match=r"overrides\[1\]: Language 'fr'"),
            transaction.atomic(),
        ):
            set_question_config_overrides(designing, overrides)

        assert not question.overrides.exists()
        set_question_config_overrides(designing, overrides[:1])
        assert question.overrides.count() == 1

    def test_none_to_remove(self, designing, question):
        with pytest.raises(ModelRetry, match="There is nothing to remove"):
            remove_question_config_override(designing, question.pk, "de")
