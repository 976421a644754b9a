import pytest

from ai_assistant import ModelRetry, ToolFailed
from project.questionnaires.assistant.designer.questions import (
    NewQuestion,
    add_question,
    add_questions,
    clone_question,
    delete_question,
    update_question,
)
from project.questionnaires.models import Question, QuestionActionGroup
from tests.project.questionnaires.assistant.designer.conftest import page_of

pytestmark = pytest.mark.row("M06")


def refer_to(name, question):
    QuestionActionGroup.objects.create(
        question=question,
        condition={"all": [{"question": name, "is": "answered"}]},
        actions=[{"do": "end"}],
    )


class TestAddQuestion:
    def test_add_question_goes_last_with_the_defaults_of_its_type(
        self, designing, sections, order, draft
    ):
        told = add_question(designing, sections[0].pk, "choice", " Well? ", name="e")

        made = Question.objects.get(pk=told["question_id"])
        assert (made.text, made.config) == ("Well?", {"options": ["Yes", "No"]})
        assert order(sections[0]) == "abce"
        draft.refresh_from_db()
        assert draft.revision == 2

    def test_wrong_configuration_shows_the_schema(self, designing, sections):
        with pytest.raises(ModelRetry) as caught:
            add_question(designing, sections[0].pk, "choice", "?", {"options": ["One"]})

        assert "options: ['One'] is too short" in str(caught.value)
        assert '"minItems": 2' in str(caught.value)
        assert '{"options": ["Left", "Right"]}' in str(caught.value)

    @pytest.mark.parametrize(
        ("changed", "said"),
        [
            ({"question_type_id": "poem"}, "'poem' does not exist. Choose one of"),
            ({"question_text": "  "}, "text: This field cannot be blank"),
            ({"name": "Not A Name"}, "name: Enter lower-case"),
            ({"name": "a"}, "Another question of the questionnaire has this name"),
            ({"section_id": 0}, "Section 0 is not one of this questionnaire"),
        ],
    )
    def test_add_question_refuses_what_is_wrong(
        self, designing, sections, changed, said
    ):
        right = {
            "section_id": sections[0].pk,
            "question_type_id": "text",
            "question_text": "Well?",
        }

        with pytest.raises(ModelRetry, match=said):
            add_question(designing, **{**right, **changed})

        assert Question.objects.count() == 4

    def test_section_of_another_questionnaire_is_foreign(self, designing, published):
        foreign = published.sections.get()

        with pytest.raises(ModelRetry, match="is not one of this questionnaire"):
            add_question(designing, foreign.pk, "text", "Well?")

    def test_published_is_refused_by_the_tool_too(self, at, published):
        with pytest.raises(ToolFailed, match="'Food' is published, so it cannot be"):
            add_question(
                at(page_of(published)), published.sections.get().pk, "text", "Well?"
            )

    @pytest.mark.parametrize("path", ["/admin/", "/admin/questionnaires/section/"])
    def test_add_question_needs_an_open_questionnaire(self, at, sections, path):
        with pytest.raises(ToolFailed, match="No questionnaire is open"):
            add_question(at(path), sections[0].pk, "text", "Well?")

    def test_add_question_works_on_the_pages_of_its_parts(
        self, at, sections, question, order
    ):
        add_question(at(page_of(sections[0])), sections[1].pk, "text", "?", name="e")
        add_question(at(page_of(question)), sections[1].pk, "text", "?", name="f")

        assert order(sections[1]) == "def"


class TestAddQuestions:
    def test_add_questions_keeps_their_order(self, designing, sections, order):
        new = [NewQuestion(type="text", text="?", name=name) for name in "xyz"]

        add_questions(designing, sections[1].pk, new)

        assert order(sections[1]) == "dxyz"

    @pytest.mark.parametrize(
        "wrong",
        [
            {"type": "poem"},
            {"text": ""},
            {"type": "choice", "config": {}},
            {"name": "a"},
            {"name": "x"},
        ],
    )
    def test_all_or_nothing_and_names_the_index(self, designing, sections, wrong):
        fine = {"type": "text", "text": "?"}
        new = [
            NewQuestion(**fine),
            NewQuestion(**{**fine, "name": "x"}),
            NewQuestion(**{**fine, **wrong}),
        ]

        expected = r"questions\[1\]" if wrong == {"name": "x"} else r"questions\[2\]"
        with pytest.raises(ModelRetry, match=f"{expected}: nothing was added"):
            add_questions(designing, sections[1].pk, new)

        assert Question.objects.count() == 4

    @pytest.mark.parametrize("count", [0, 51])
    def test_add_questions_refuses_none_and_too_many(self, designing, sections, count):
        new = [NewQuestion(type="text", text="?")] * count

        with pytest.raises(ModelRetry, match="Call again with 1 to 50"):
            add_questions(designing, sections[1].pk, new)


class TestUpdateQuestion:
    def test_update_question_changes_only_what_is_given(self, designing, question):
        update_question(designing, question.pk, question_text="New?", name="")

        question.refresh_from_db()
        assert (question.text, question.name) == ("New?", "")
        assert question.config == {"options": ["Yes", "No"]}

    def test_update_question_checks_the_configuration(self, designing, question):
        with pytest.raises(ModelRetry, match="Schema: "):
            update_question(designing, question.pk, config={"options": 3})

    def test_a_name_in_use_stays(self, designing, question):
        refer_to("b", question)

        with pytest.raises(ModelRetry, match="'b' is needed by name"):
            update_question(designing, question.pk, name="other")


class TestDeleteQuestion:
    def test_delete_question_closes_the_gap(self, designing, sections, question, order):
        delete_question(designing, sections[0].pk, question.pk)

        assert order(sections[0]) == "ac"

    def test_delete_question_names_the_right_section(
        self, designing, sections, question
    ):
        with pytest.raises(ModelRetry, match="Call again with its own section"):
            delete_question(designing, sections[1].pk, question.pk)

    def test_refused_while_others_refer_to_it(self, designing, sections, question):
        refer_to("b", sections[1].questions.get())

        with pytest.raises(ModelRetry, match="conditions or actions of d refer to it"):
            delete_question(designing, sections[0].pk, question.pk)

    def test_own_actions_go_along(self, designing, sections, question):
        refer_to("b", question)

        delete_question(designing, sections[0].pk, question.pk)

        assert not QuestionActionGroup.objects.exists()


class TestCloneQuestion:
    def test_new_id_no_name_no_actions(self, designing, sections, question, order):
        refer_to("a", question)
        question.translations.create(language="de", text="b auf Deutsch?")
        question.overrides.create(language="de", config={"options": ["Ja", "Nein"]})

        told = clone_question(designing, question.pk, sections[0].pk)

        copy = Question.objects.get(pk=told["question_id"])
        assert copy.uuid != question.uuid
        assert (copy.name, copy.text, copy.config) == ("", "b?", question.config)
        assert not copy.action_groups.exists()
        assert [one.text for one in copy.translations.all()] == ["b auf Deutsch?"]
        assert copy.overrides.count() == question.overrides.count() == 1
        assert order(sections[0]) == "ab-c"
