import pytest

from ai_assistant import ModelRetry
from project.questionnaires.assistant.designer.variables import (
    NewVariable,
    create_variable,
    create_variables,
    delete_variable,
    update_variable,
)

pytestmark = pytest.mark.row("M06")


@pytest.fixture
def score(draft):
    return draft.variables.create(name="score", label="Score", type="number")


@pytest.fixture
def in_use(score, question):
    action = {"do": "set_variable", "variable": "score", "value": 1}
    question.action_groups.create(actions=[action])
    return score


class TestCreateVariables:
    def test_one(self, designing, draft):
        told = create_variable(
            designing, "late", "Is late", "boolean", default_value=False
        )

        made = draft.variables.get(pk=told["variable_id"])
        assert (made.name, made.type, made.default) == ("late", "boolean", False)

    @pytest.mark.parametrize(
        ("name", "kind", "default", "said"),
        [
            ("Late", "text", "", "name: Enter lower-case"),
            ("score", "text", "", "has this name"),
            ("late", "number", True, "default: Enter a value of the type"),
            ("late", "date", "tomorrow", "default: Enter a value of the type"),
            ("late", "text", 3, "default: Enter a value of the type"),
        ],
    )
    def test_create_variables_refuses_what_is_wrong(
        self, designing, score, name, kind, default, said
    ):
        with pytest.raises(ModelRetry, match=said):
            create_variable(designing, name, "Label", kind, default)

    def test_several_name_the_index(self, designing, draft):
        new = [NewVariable(name=name, label="L", type="number") for name in "xyx"]

        with pytest.raises(ModelRetry, match=r"variables\[2\]: .*has this name"):
            create_variables(designing, new)

        create_variables(designing, [NewVariable(name="v", label="L", type="text")])
        assert draft.variables.filter(name="v").exists()


class TestUpdateVariable:
    def test_update_variable_changes_only_what_is_given(self, designing, in_use):
        update_variable(designing, in_use.pk, label="Sum", default_value=2)

        in_use.refresh_from_db()
        assert (in_use.name, in_use.label, in_use.default) == ("score", "Sum", 2)

    @pytest.mark.parametrize("change", [{"name": "total"}, {"type": "text"}])
    def test_name_and_type_in_use_stay(self, designing, in_use, change):
        with pytest.raises(
            ModelRetry, match="'score' cannot be changed: .* of b refer"
        ):
            update_variable(designing, in_use.pk, **change)


class TestDeleteVariable:
    def test_delete_variable_deletes(self, designing, score, draft):
        delete_variable(designing, score.pk)

        assert not draft.variables.exists()

    def test_refused_while_used(self, designing, in_use):
        with pytest.raises(
            ModelRetry, match="'score' cannot be deleted: .* of b refer"
        ):
            delete_variable(designing, in_use.pk)

    def test_unknown_variable_is_not_deleted(self, designing):
        with pytest.raises(ModelRetry, match="Variable 0 is not one of"):
            delete_variable(designing, 0)
