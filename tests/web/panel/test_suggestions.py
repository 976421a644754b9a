"""What an empty panel says and offers, on the pages of any site."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ai_assistant import conf, models
from ai_assistant.modules.resolve import page_context
from ai_assistant.web.panel.banners import asks_always
from ai_assistant.web.panel.chips import chips_of, why_read_only
from ai_assistant.web.panel.suggestions import (
    SHOWN,
    headline_of,
    suggestions_of,
)
from tests.tools.data.test_own_fields import no_model
from tests.web.conftest import ask
from tests.web.markup import all_with, one_with

__all__ = ["no_model"]  # a fixture
pytestmark = pytest.mark.usefixtures("quiet")

SCHEDULES = "/admin/questionnaires/schedule/"
ASKED = "When is each questionnaire asked?"
USERS, GROUPS = "/admin/auth/user/", "/admin/auth/group/"


@pytest.fixture(autouse=True)
def _nothing_of_the_profile(settings):
    profile = {**conf.profile(), "SUGGESTIONS": []}
    own = {**settings.AI_ASSISTANT, "PROFILES": {"default": profile}}
    settings.AI_ASSISTANT = own


@pytest.fixture
def root(people):
    people["ada"].is_superuser = True
    people["ada"].save()
    return people["ada"]


@pytest.fixture
def ada(root, browser):
    client = browser("ada")
    client.cookies["aia_ui"] = "o=1&m=dock&w=400&c="
    return client


@pytest.fixture
def viewer(people):
    """A person who may view users and groups, and change nothing."""
    user = people["bob"]
    own = Permission.objects.filter(codename__in=("view_user", "view_group"))
    user.user_permissions.add(*own)
    return user


@pytest.fixture
def group(people):
    return Group.objects.create(name="Night shift")


def offered(user, path):
    context = page_context(user, path)
    readonly = bool(why_read_only(context))
    found = suggestions_of(context, chips_of(context), readonly=readonly)
    return [one.label for one in found]


def headline(user, path):
    context = page_context(user, path)
    readonly = bool(why_read_only(context))
    return headline_of(context, chips_of(context), readonly=readonly)


class TestOfSite:
    def test_stands_in_the_empty_panel_of_its_pages(self, ada):
        html = ada.get(SCHEDULES).content.decode()

        assert f'data-aia-ask="{ASKED}"' in html
        one_with(html, id="aia-empty")

    def test_goes_before_what_the_page_itself_gives(self, root):
        first, *others = offered(root, SCHEDULES)

        assert first == ASKED
        assert others

    def test_is_not_on_other_pages(self, ada):
        assert ASKED not in ada.get("/admin/").content.decode()

    def test_gives_way_to_a_conversation(self, ada, people):
        run = ask(people["ada"])
        ada.cookies["aia_ui"] = f"o=1&m=dock&w=400&c={run.conversation_id}"

        html = ada.get(SCHEDULES).content.decode()

        assert ASKED not in html

    def test_is_not_for_those_who_may_not_open_the_page(self, root, people):
        closed = page_context(people["nobody"], SCHEDULES)

        assert ASKED in offered(root, SCHEDULES)
        assert closed.module == "default"
        found = suggestions_of(closed, chips_of(closed))
        assert ASKED not in [one.label for one in found]

    def test_code_that_fails_takes_nothing_else_away(self, root, monkeypatch):
        owner = admin.site.get_model_admin(Group)
        monkeypatch.setattr(owner, "get_list_filter", lambda request: 1 / 0)

        assert offered(root, GROUPS)[0] == "How many groups are there?"
        assert headline(root, GROUPS) == "How can I help with groups?"

    def test_profile_names_what_stands_last(self, root, settings):
        profile = {**conf.profile(), "SUGGESTIONS": ["Help me"]}
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "PROFILES": {"default": profile},
        }

        assert offered(root, USERS)[-1] == "Help me"
        assert len(offered(root, USERS)) <= SHOWN


class TestOfPages:
    def test_list_offers_counts_dates_and_filters(self, root):
        assert offered(root, USERS)[:2] == [
            "How many users are there?",
            "How many users joined this week?",
        ]

    def test_narrowed_list_offers_to_count_what_is_on_it(self, root):
        first, *_others = offered(root, f"{USERS}?q=ada")

        assert first == "How many users are on this list?"

    def test_list_with_actions_offers_them(self, root):
        said = offered(root, SCHEDULES)

        assert "Count the schedules by active." in said or len(said) == SHOWN

    def test_object_offers_what_is_known_of_it(self, root, group):
        assert offered(root, f"{GROUPS}{group.pk}/change/") == [
            "Summarize this group.",
            "Who changed this group, and when?",
            "What is still empty in this group?",
            "What can I do on this page?",
        ]

    def test_history_begins_with_who_it_was(self, root, group):
        first, *_others = offered(root, f"{GROUPS}{group.pk}/history/")

        assert first == "Who changed this group, and when?"

    def test_form_of_a_new_one_offers_to_explain_itself(self, root):
        assert offered(root, f"{GROUPS}add/")[0] == "What do I have to fill in here?"

    @pytest.mark.parametrize("path", ["/admin/", "/admin/auth/"])
    def test_start_pages_offer_counts(self, root, path):
        assert offered(root, path)[0].startswith("How many ")

    @pytest.mark.parametrize("path", ["/admin/wiki/page/read/", f"{GROUPS}add/"])
    def test_every_page_offers_something(self, root, path):
        assert len(offered(root, path)) >= 2

    def test_object_that_is_not_there_is_not_offered(self, root):
        assert "Summarize this group." not in offered(root, f"{GROUPS}99/change/")


class TestPermissions:
    def test_viewer_is_offered_no_change(self, viewer, group):
        said = [
            text
            for path in (GROUPS, USERS, f"{GROUPS}{group.pk}/change/")
            for text in offered(viewer, path)
        ]

        assert "How many groups are there?" in said
        assert not [text for text in said if text.startswith(("Change", "What does a"))]

    def test_who_may_see_nothing_is_told_of_no_table(self, people):
        assert offered(people["bob"], USERS) in ([], ["What can I do on this page?"])
        assert offered(people["bob"], "/admin/") == ["What can I do on this page?"]

    def test_what_is_no_model_does_not_disturb_a_start_page(self, root, no_model):
        sentences = offered(root, "/admin/warehouse/")

        assert "What can you look up here?" in sentences
        assert not any("settings" in sentence for sentence in sentences)

    def test_tool_that_is_denied_is_not_suggested(self, root, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "POLICY": {"aggregate_objects": "deny"},
        }

        assert not [text for text in offered(root, USERS) if "How many" in text]

    def test_kept_tables_are_not_suggested(self, root):
        said = offered(root, "/admin/ai_assistant/run/")

        assert said == ["What can I do on this page?"]

    def test_site_without_data_tools_suggests_none_of_them(self, root, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "DATA": {"TOOLS": False}}

        assert offered(root, USERS) == ["What can I do on this page?"]


class TestSwitch:
    """What the composer says that the assistant may do."""

    def drawn(self, browser, name, path):
        client = browser(name)
        client.cookies["aia_ui"] = "o=1&m=dock&w=400&c="
        return client.get(path).content.decode()

    @pytest.mark.row("S02")
    def test_rows_offer_a_command_and_a_page(self, root, browser):
        models.Suggestion.objects.create(name="a", label="Report", text="/report week")
        models.Suggestion.objects.create(name="b", label="Groups", path=GROUPS)

        html = self.drawn(browser, "ada", USERS)

        assert one_with(html, data_aia_ask="/report week")
        assert f'<a href="{GROUPS}"><span dir="auto">Groups</span>' in html

    def test_who_may_change_nothing_is_told_view_only(self, viewer, browser):
        html = self.drawn(browser, "bob", USERS)

        assert "disabled" in one_with(html, id="aia-look")
        assert "Can propose changes" not in html

    def test_who_may_change_something_keeps_the_choice(self, root, browser):
        assert "Can propose changes" in self.drawn(browser, "ada", USERS)

    def test_who_may_change_another_table_keeps_the_choice(self, viewer, browser):
        viewer.user_permissions.add(Permission.objects.get(codename="add_page"))

        assert "Can propose changes" in self.drawn(browser, "bob", USERS)


class TestCost:
    @pytest.mark.parametrize("path", [USERS, "/admin/", f"{GROUPS}1/change/"])
    def test_suggestions_ask_for_permissions_alone(self, viewer, group, path):
        context = page_context(viewer, path)
        chips = chips_of(context)

        with CaptureQueriesContext(connection) as queries:
            suggestions_of(context, chips)
            headline_of(context, chips)

        rights = re.compile("permission|policyrule|auth_group|auth_user|configuration")
        assert [one["sql"] for one in queries if not rights.search(one["sql"])] == []
        assert len(queries) <= 4


class TestWords:
    def test_headline_names_the_page(self, root, viewer, group):
        assert headline(root, "/admin/") == "How can I help?"
        assert headline(root, GROUPS) == "How can I help with groups?"
        assert headline(root, f"{GROUPS}add/") == "How can I help with a new group?"
        path = f"{GROUPS}{group.pk}/change/"
        assert headline(root, path) == "How can I help with “Night shift”?"
        assert headline(viewer, path) == (
            "What would you like to know about “Night shift”?"
        )

    def test_headline_names_no_object_that_is_not_shown(self, people, group):
        assert "Night" not in headline(people["bob"], f"{GROUPS}{group.pk}/change/")

    def test_empty_panel_has_a_mark_a_headline_and_rows(self, ada):
        html = ada.get(USERS).content.decode()

        assert all_with(html, class_="aia-logo")
        assert len(all_with(html, data_aia_ask=None)) == SHOWN

    def test_site_that_allows_changes_says_so(self, ada, root, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "POLICY": {"change_object": "allow"},
        }

        html = ada.get(USERS).content.decode()

        assert not asks_always(page_context(root, USERS))
        assert "asks before it changes anything" not in html
