"""What an `@` may mean besides objects: pages, tools and skills."""

from uuid import uuid4

import pytest

from ai_assistant.engine.calls.availability import told_tools
from ai_assistant.engine.intake.mentions import find_mentions
from ai_assistant.engine.lifecycle.scope import scope_of_page
from ai_assistant.models.configuration import Skill
from ai_assistant.types import PageInfo, RunContext

pytestmark = [pytest.mark.django_db, pytest.mark.row("F09")]


@pytest.fixture
def boss(django_user_model):
    return django_user_model.objects.create_superuser("boss", password="x")


@pytest.fixture
def nobody(django_user_model):
    return django_user_model.objects.create_user("nobody", is_staff=True)


@pytest.fixture
def refund():
    return Skill.objects.create(name="refund", description="Pay back.", body="Do.")


def context(user):
    page = PageInfo(path="/admin/")
    return RunContext(user=user, run_id=uuid4(), conversation_id=uuid4(), page=page)


def found(user, text):
    return [(one.id, one.title) for one in find_mentions(context(user), text)]


def items(user, *ids):
    """Return the items of a run whose message mentions these ids."""
    scope = scope_of_page(context(user))
    scope.run.context = {"mentioned": list(ids)}
    return [item for item in scope.items if item.id in ids]


class TestFind:
    def test_pages_by_the_beginning_of_a_word(self, boss):
        listed = ("page:questionnaires.questionnaire:changelist", "Questionnaires")
        form = ("page:questionnaires.questionnaire:add", "Add questionnaire")

        assert listed in found(boss, "questionn")
        assert form in found(boss, "add questionn")
        assert listed not in found(boss, "uestion")

    def test_skills_and_tools(self, boss, refund):
        assert ("skill:refund", "refund") in found(boss, "ref")
        assert ("tool:find_tools", "Find tools") in found(boss, "tools")

    def test_only_what_the_user_may_open(self, nobody):
        assert [one for one in found(nobody, "quest") if one[0][:5] == "page:"] == []

    @pytest.mark.parametrize("text", ["", " ", "a", "\x00\x00", "x" * 80])
    def test_odd_words_find_nothing(self, boss, text):
        assert found(boss, text) == []


class TestItems:
    def test_page_says_where_it_is(self, boss):
        (item,) = items(boss, "page:questionnaires.questionnaire:add")

        assert item.value == {
            "title": "Add questionnaire",
            "path": "/admin/questionnaires/questionnaire/add/",
        }
        assert item.label == "site"

    @pytest.mark.parametrize(
        "one", ["page:auth.user:delete", "page:none.such:add", "page:", "page:x:y:z"]
    )
    def test_page_that_is_not_there(self, boss, one):
        (item,) = items(boss, one)

        assert item.value == "not there, or not for this user to see"

    def test_page_of_another_user(self, nobody):
        (item,) = items(nobody, "page:questionnaires.questionnaire:add")

        assert item.value == "not there, or not for this user to see"
        assert item.title == "add"

    def test_skill_is_to_be_read(self, boss, refund):
        (item,) = items(boss, "skill:refund")

        assert (item.value, item.label) == ("refund", "site")
        assert "get_skill" in item.description

    @pytest.mark.parametrize("one", ["skill:none", "tool:none", "tool:", "skill:"])
    def test_unknown_names_say_nothing(self, boss, one):
        assert items(boss, one) == []

    def test_many_are_cut(self, boss):
        ids = [f"page:none.such{n}:add" for n in range(50)]

        assert len(items(boss, *ids)) == 10


def test_named_tool_is_told_where_there_is_no_room(boss, settings):
    limits = {"LIMITS": {"TOOL_SCHEMA_CHARS": 10}}
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, **limits}
    scope = scope_of_page(context(boss))
    assert "delete_objects" not in {tool.name for tool in told_tools(scope)}

    scope = scope_of_page(context(boss))
    scope.run.context = {"mentioned": ["tool:delete_objects"]}

    assert "delete_objects" in {tool.name for tool in told_tools(scope)}
