"""Modules as rows have them, in the next message of the real engine."""

import asyncio
from dataclasses import replace
from typing import ClassVar

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import OperationalError

from ai_assistant import ContextModule, conf, models, register
from ai_assistant.configuration import modules, rows
from ai_assistant.configuration.setup import _of_runs
from ai_assistant.modules.resolve import current_modules, module_by_id, module_for
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply, run_assistant
from ai_assistant.types import ToolDefinition

pytestmark = pytest.mark.django_db

GROUPS = "/admin/auth/group/"
USERS = "/admin/auth/user/"


def play(user, *replies, page=GROUPS, **options):
    return run_assistant(user, page, "Please", replies=[*replies, "Done."], **options)


def tool(name, **options):
    made = {
        "handler": lambda: "done",
        "effect": "read",
        "description": f"{name}.",
        "label": name,
        "origin": "shop",
        **options,
    }
    return ToolDefinition.of(name=name, **made)


@pytest.fixture
def eva(django_user_model):
    user = django_user_model.objects.create_user("eva", is_staff=True)
    names = ("view_assistant", "use_assistant", "view_group", "change_group")
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    return user


@pytest.fixture
def made():
    """A row that makes a module for the pages of groups."""
    values = {"pages": "auth.group", "text": "Groups are teams here.", "label": "Teams"}

    def make(**changed):
        return models.Module.objects.create(name="teams", **{**values, **changed})

    return make


@pytest.mark.row("M01")
class TestMadeHere:
    def test_next_message_has_its_words_and_its_tools(self, ada, made):
        assert "teams here" not in play(ada).prompt

        made(tools="search_objects get_object")

        played = play(ada)
        assert "Groups are teams here." in played.prompt
        assert {"search_objects", "get_object"} < set(played.offered)
        assert "change_object" not in played.offered
        assert "teams here" not in play(ada, page=USERS).prompt

    def test_call_of_a_tool_that_it_leaves_out_is_refused(self, ada, made):
        made(tools="search_objects")

        played = play(ada, reply("", call("list_models")))

        assert played.calls[0].error_type == "not_here"

    def test_tool_of_other_pages_comes_along_and_stays_there(self, ada, made):
        @register
        class PeopleModule(ContextModule):
            matches: ClassVar = ["admin:auth_user_*"]
            tools: ClassVar = ["count_people"]

        with registry.temporarily(tool("count_people")):
            assert "count_people" not in play(ada).offered

            made(tools="count_people")

            assert "count_people" in play(ada).offered
            assert "count_people" in play(ada, page=USERS).offered
            assert "count_people" not in play(ada, page="/admin/").offered

    def test_most_specific_row_wins_and_code_before_rows(self, ada, made):
        made(pages="admin:auth_*")
        models.Module.objects.create(
            name="exact", pages="admin:auth_group_changelist", text="Exactly here."
        )
        assert "Exactly here." in play(ada).prompt
        assert "teams here" in play(ada, page=USERS).prompt

        @register
        class GroupsModule(ContextModule):
            matches: ClassVar = ["admin:auth_group_*"]
            read_only = True
            read_only_reason = "Closed."

        played = play(ada)

        assert "Exactly here." not in played.prompt
        assert "Closed." in played.prompt

    def test_row_that_is_stored_changes_nothing(self, made):
        """Else the start page would compare each of 200 rows with all others anew."""
        now = current_modules()
        made()
        after = current_modules()
        stored = after.settings[0]

        assert after is not now
        assert after.with_row(stored) is after
        assert after.with_row(replace(stored, priority=7)) is not after

    def test_group_says_for_whom_it_is(self, ada, made):
        group = Group.objects.create(name="Sales")
        made(group=group)
        assert play(ada).run.module == "admin-list"

        ada.groups.add(group)

        assert play(ada).run.module == "teams"

    def test_models_limit_the_tools_on_rows(self, ada, made):
        made(data_models="auth.group")
        wrong = call("search_objects", {"model": "auth.user"})
        right = call("search_objects", {"model": "auth.group"})

        refused, found = play(ada, reply("", wrong), reply("", right)).calls

        assert "work with these models only: auth.group" in refused.read_by_model
        assert found.status == "complete"

    def test_actions_limit_what_is_carried_out(self, ada, made):
        made(actions="auth.group.merge_groups")
        wanted = {"model": "auth.group", "action": "other", "ids": ["1"]}

        asked = play(ada, reply("", call("run_admin_action", wanted)))

        assert "only: auth.group.merge_groups" in asked.calls[0].read_by_model

    @pytest.mark.parametrize(
        ("rule", "is_changed"),
        [
            ({"read_only": True}, False),
            ({"read_only_permission": "auth.change_group"}, True),
            ({"read_only_permission": "auth.delete_group"}, False),
            ({"read_only_field": "name", "read_only_values": "Paid, Sales"}, False),
            ({"read_only_field": "name", "read_only_values": "Paid"}, True),
            ({"read_only_field": "gone", "read_only_values": "1"}, False),
        ],
    )
    def test_rule_of_a_row_keeps_the_object(self, eva, made, rule, is_changed):
        group = Group.objects.create(name="Sales")
        made(**rule, read_only_reason="Not this one.")
        page = f"{GROUPS}{group.pk}/change/"
        change = {"model": "auth.group", "id": group.pk, "values": {"name": "S"}}

        replies = [reply("", call("change_object", change)), "No."]
        asked = run_assistant(
            eva, page, "Please", replies=replies[: 1 if is_changed else 2]
        )

        assert (asked.run.state == "waiting_approval") is is_changed
        told = "" if is_changed else asked.calls[0].error_type
        assert told == ("" if is_changed else "not_here")

    def test_profile_and_agent_of_the_row_begin_a_conversation(self, ada, made):
        models.Agent.objects.create(name="clerk", text="Be a clerk.", steps=2)
        made(agent="clerk")

        assert "Be a clerk." in play(ada).prompt
        assert "Be a clerk." not in play(ada, page=USERS).prompt

    def test_profile_answers_where_nobody_has_chosen(self, ada, made, settings):
        profiles = settings.AI_ASSISTANT["PROFILES"]
        small = {**profiles["default"], "LABEL": "Small"}
        changed = {"PROFILES": {**profiles, "small": small}}
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, changed)
        made(profile="small")

        assert play(ada).run.profile == "small"
        assert play(ada, page=USERS).run.profile == "default"


class TestNoTables:
    @pytest.fixture
    def broken(self, monkeypatch):
        def fail(_model):
            raise OperationalError("no such table")

        monkeypatch.setattr(modules, "rows_of", fail)

    def test_pages_have_the_modules_of_code(self, ada, broken, monkeypatch):
        monkeypatch.setattr(modules, "_read", modules.NOT_YET)

        assert module_for("admin:auth_group_changelist").id == "admin-list"

    def test_rows_that_were_read_are_not_given_up(self, ada, made, broken, monkeypatch):
        monkeypatch.setattr(modules, "_read", ((), ()))

        with pytest.raises(OperationalError):
            module_for("admin:auth_group_changelist")


class TestOnTheEventLoop:
    def test_no_database_is_asked_there(self, ada, made):
        made()
        module_by_id("teams")  # read, as by each page with the panel

        async def look():
            return module_by_id("teams").id

        assert asyncio.run(look()) == "teams"


@pytest.mark.row("M02")
class TestOfCode:
    """A row with the id of a module of code limits and extends it."""

    @pytest.fixture
    def shop(self):
        class TeamsModule(ContextModule):
            label = "Teams"
            matches: ClassVar = ["admin:auth_group_*"]
            tools: ClassVar = ["count_teams"]
            prompt = "A team is a group."

            def is_read_only(self, context):
                return context.page.action == "changelist"

        register(TeamsModule)
        with registry.temporarily(tool("count_teams"), tool("other")):
            yield

    def test_row_adds_words(self, ada, shop):
        models.Module.objects.create(name="teams", text="Ask for the budget.")

        prompt = play(ada).prompt

        assert "A team is a group.\n\nAsk for the budget." in prompt

    def test_row_narrows_the_tools(self, ada, shop):
        models.Module.objects.create(name="teams", tools="count_teams list_models")

        offered = play(ada).offered

        assert {"count_teams", "list_models"} <= set(offered)
        assert not {"other", "search_objects"} & set(offered)

    def test_off_it_offers_nothing_and_forbids_what_it_did(self, ada, shop):
        models.Module.objects.create(name="teams", is_active=False, text="No.")

        played = play(ada)

        assert "count_teams" not in played.offered
        assert "A team is a group." not in played.prompt
        assert "No." not in played.prompt
        assert "change_object" not in played.offered  # its list is read-only

    def test_others_than_its_group_have_it_off(self, ada, shop):
        group = Group.objects.create(name="Sales")
        models.Module.objects.create(name="teams", group=group, text="For sales.")
        assert "count_teams" not in play(ada).offered

        ada.groups.add(group)

        assert "For sales." in play(ada).prompt

    def test_built_in_one_is_extended(self, ada):
        models.Module.objects.create(name="admin-list", text="Lists are long.")

        assert "Lists are long." in play(ada).prompt

    def test_guards_of_code_stay_on_unless_it_marks_them(self, ada):
        class TeamsModule(ContextModule):
            matches: ClassVar = ["admin:auth_group_*"]
            features: ClassVar = {"lock": True, "ask_user": True}

        off = {"lock": False, "read_only_guard": False, "ask_user": False}
        models.Module.objects.create(name="teams", features=off)
        register(TeamsModule)

        found = module_by_id("teams")
        assert found.has("lock")
        assert found.has("read_only_guard")
        assert "ask_user" not in play(ada).offered

        registry._remove("module", "teams")
        TeamsModule.configurable = ["lock"]
        register(TeamsModule)
        assert not module_by_id("teams").has("lock")


class TestUnderWay:
    def test_run_keeps_what_the_row_said_when_it_began(self, ada, made):
        row = made(text="Before.", tools="move get_object")

        def move():
            row.text, row.tools = "After.", "move"
            row.save()
            return "moved"

        with registry.temporarily(tool("move", handler=move)):
            played = play(ada, reply("", call("move")))
            later = play(ada)

        first, other = (one.messages[0]["content"] for one in played.requests)
        assert "Before." in first
        assert other == first
        offered = [one["function"]["name"] for one in played.requests[1].tools]
        assert "get_object" in offered
        assert "After." in later.prompt
        assert "get_object" not in later.offered

    def test_run_in_another_process_keeps_it_too(self, ada, made):
        row = made(text="Before.")

        def move():
            row.text = "After."
            row.save()
            _of_runs.clear()
            return "moved"

        with registry.temporarily(tool("move", handler=move)):
            played = play(ada, reply("", call("move")))

        first, other = (one.messages[0]["content"] for one in played.requests)
        assert "Before." in first
        assert other == first


class TestBroken:
    @pytest.mark.parametrize(
        "broken", [{"pages": "admin:*a*b*c*d*e*f"}, {"pages": "("}, {"features": [1]}]
    )
    def test_row_that_cannot_be_is_left_out_as_a_whole(self, ada, made, broken):
        row = made()
        models.Module.objects.filter(pk=row.pk).update(**broken)
        rows.version.forget()
        rows._rows = rows.Rows(-1, {})

        assert "teams here" not in play(ada).prompt
