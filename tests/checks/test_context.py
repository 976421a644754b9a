"""Providers for pages that do not exist."""

import pytest

import ai_assistant
from ai_assistant.checks import check_assistant
from ai_assistant.registry import registry

pytestmark = pytest.mark.row("C02")


@pytest.fixture(autouse=True)
def _restored():
    with registry.restored():
        yield


def provide(*args, **fields):
    ai_assistant.context(*args, name="stock", **fields)(lambda context: None)


class TestModel:
    @pytest.mark.parametrize(
        ("model", "hint"),
        [
            ("auth.grup", "Write 'auth.group'."),
            ("Group", "Write 'auth.group'."),
            ("xyz.nothing_like_it", "Write it as 'app.model'."),
        ],
    )
    def test_model_that_does_not_exist_is_an_error_with_a_hint(self, only, model, hint):
        provide(model)

        assert only() == (
            "ai_assistant.E120",
            f"Context provider 'stock' ({__name__}) is for the model {model!r}, which "
            f"does not exist. | {hint}",
        )

    @pytest.mark.parametrize("model", ["", "auth.group", "auth.Group"])
    def test_known(self, model):
        provide(model)

        assert check_assistant() == []


class TestView:
    @pytest.mark.parametrize(
        ("view", "near"),
        [
            ("chnge", "change"),
            ("admin:auth_grp_change", "admin:auth_group_change"),
            ("auth_group_change", "admin:auth_group_change"),
        ],
    )
    def test_view_that_does_not_exist_is_an_error_with_a_hint(self, only, view, near):
        provide(view=view)

        check_id, text = only()
        assert check_id == "ai_assistant.E121"
        assert text == (
            f"Context provider 'stock' ({__name__}) is for the view {view!r}, which "
            f"does not exist. | Did you mean {near!r}? Use one of add, app_list, "
            "change, changelist, delete, history, index, or the name of a view with "
            "its namespace."
        )

    @pytest.mark.parametrize(
        "view", ["", "change", "index", "admin:auth_group_add", "ai_assistant:health"]
    )
    def test_known(self, view):
        provide(view=view)

        assert check_assistant() == []
