"""The pages that a run is told of: those that the user may open, and no other."""

import pytest
from django.contrib.auth.models import Group, Permission

from ai_assistant import ContextModule
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply
from ai_assistant.tools.page.find_pages import MOST

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("W01")]


@pytest.fixture
def found(play, script):
    """Return the pages that a run is told, by their names; those of objects last."""

    def find(text="", **fields):
        script.add(reply("", call("find_pages", {"text": text})), "There.")
        data = play(**fields).calls.get().result["data"]
        assert len(data["pages"]) <= MOST
        return data

    return find


def names(data):
    return [page["view_name"] for page in data["pages"]]


class TestOfTheAdmin:
    def test_lists_and_forms_to_add_have_their_titles(self, found):
        data = found("group")

        assert {"title": "Groups", "view_name": "admin:auth_group_changelist"} in data[
            "pages"
        ]
        assert {"title": "Add group", "view_name": "admin:auth_group_add"} in data[
            "pages"
        ]
        assert all("group" in str(page).lower() for page in data["pages"])

    def test_without_words_it_tells_how_many_more_there_are(self, found):
        data = found()

        assert len(data["pages"]) == MOST
        assert data["more"] > 0
        assert names(data)[0] == "admin:index"

    def test_objects_are_found_as_the_admin_searches(self, found):
        group = Group.objects.create(name="Editors of Rome")

        data = found("group rome")

        assert data["pages"][0] == {
            "title": "Group: Editors of Rome",
            "view_name": "admin:auth_group_change",
            "arguments": {"object_id": str(group.pk)},
        }

    def test_pages_whose_title_has_the_words_come_first(self, found):
        """The names of all views of an app have the name of the app."""
        told = names(found("add questionnaire"))

        assert told[0] == "admin:questionnaires_questionnaire_add"
        assert "admin:questionnaires_question_add" in told[1:]

    def test_words_that_are_nowhere_find_nothing(self, found):
        assert found("xylophone") == {"pages": []}

    def test_user_is_told_only_what_they_may_open(self, found, staff):
        Group.objects.create(name="Editors of Rome")
        assert names(found("group", user_id=staff.pk)) == []

        staff.user_permissions.add(Permission.objects.get(codename="view_group"))
        told = names(found("group rome", user_id=staff.pk))
        assert set(told) == {"admin:auth_group_change"}
        told = names(found("group", user_id=staff.pk))
        assert "admin:auth_group_changelist" in told
        assert "admin:auth_group_add" not in told


class TestOfTheSite:
    def test_view_that_a_setting_names_is_told(self, found, options):
        options(NAVIGATE_TO=["admin", "ai_assistant:full"])

        assert "ai_assistant:full" in names(found("full"))

    def test_view_that_takes_parameters_is_told_with_them(self, found, options):
        options(NAVIGATE_TO=["admin", "ai_assistant:shared_conversation"])

        (page,) = found("shared_conversation")["pages"]
        assert page["parameters"] == ["token"]

    @pytest.mark.parametrize(
        "name",
        [
            "admin:logout",
            "admin:password_change",
            "nowhere:at_all",
            "ai_assistant:full",
        ],
    )
    def test_view_that_no_tool_may_open_is_never_told(self, found, name):
        class OtherModule(ContextModule):
            matches = (name,)

        with registry.restored():
            registry.add_module(OtherModule())

            assert name not in names(found(name.partition(":")[2]))
