import pytest

from ai_assistant import ModelRetry
from project.questionnaires.assistant.designer.actions import (
    QuestionActions,
    get_question_actions,
    set_question_actions,
)

pytestmark = pytest.mark.row("M06")


@pytest.fixture
def score(draft):
    return draft.variables.create(name="score", label="Score", type="number")


def one(condition=None, action=None):
    group = {"condition": condition or {}, "actions": [action or {"do": "end"}]}
    return QuestionActions.model_validate({"on_answer": [group]})


class TestQuestionActions:
    def test_question_actions_are_set_and_read(
        self, designing, sections, question, score
    ):
        condition = {"any": [{"question": "a", "is": "equals", "value": "Yes"}]}
        action = {"do": "set_variable", "variable": "score", "value": 1}

        set_question_actions(
            designing, sections[0].pk, question.pk, one(condition, action)
        )

        told = get_question_actions(designing, question.pk, sections[0].pk)
        assert told["on_answer"] == [{"condition": condition, "actions": [action]}]
        assert told["on_enter"] == []

    def test_replace_what_was_there(self, designing, sections, question):
        set_question_actions(designing, sections[0].pk, question.pk, one())
        set_question_actions(
            designing, sections[0].pk, question.pk, QuestionActions(on_enter=[])
        )

        assert not question.action_groups.exists()

    @pytest.mark.parametrize(
        ("condition", "action", "said"),
        [
            ({"question": "zz", "is": "answered"}, None, "no question 'zz'"),
            ({"variable": "zz", "is": "answered"}, None, "no variable 'zz'"),
            ({"question": "a", "is": "like"}, None, "'like' is unknown"),
            ({"not": {"all": [{"x": 1}]}}, None, "neither all, any, not"),
            ({"not": {}}, None, "within another one is empty"),
            ({"not": []}, None, "A condition is an object"),
            ({"question": ["a"], "is": "answered"}, None, "no question"),
            (None, {"do": "dance"}, "no known `do`"),
            (None, {"do": ["end"]}, "no known `do`"),
            (None, {"do": "show_question", "question": "zz"}, "no question 'zz'"),
            (None, {"do": "go_to_section", "section": 0}, "no section 0"),
            (None, {"do": "set_variable", "variable": "zz"}, "no variable 'zz'"),
            (
                None,
                {"do": "set_variable", "variable": "score", "value": "one"},
                "is no number",
            ),
        ],
    )
    def test_refer_to_what_there_is(
        self, designing, sections, question, score, condition, action, said
    ):
        set_question_actions(designing, sections[0].pk, question.pk, one())

        with pytest.raises(ModelRetry, match=rf"on_answer\[0\]: .*{said}"):
            set_question_actions(
                designing, sections[0].pk, question.pk, one(condition, action)
            )

        assert question.action_groups.count() == 1

    def test_nesting_is_bounded(self, designing, sections, question):
        deep = {"question": "a", "is": "answered"}
        for _ in range(50):
            deep = {"not": deep}

        with pytest.raises(ModelRetry, match="nested more than 5 deep"):
            set_question_actions(designing, sections[0].pk, question.pk, one(deep))
