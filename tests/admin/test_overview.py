"""The start page of the assistant in the admin."""

import re
from datetime import timedelta
from types import ModuleType

import pytest
from django.contrib.admin import AdminSite
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.test import override_settings
from django.urls import path, reverse
from django.utils import timezone

from ai_assistant.admin import ConversationAdmin
from ai_assistant.engine.execution.presence import say_present
from ai_assistant.models import (
    Agent,
    Budget,
    ChangeSet,
    Conversation,
    Interrupt,
    Module,
    PolicyRule,
    Run,
    ToolCall,
)
from ai_assistant.models.usage import UsageLedger

pytestmark = pytest.mark.django_db

PAGE = reverse("admin:app_list", args=["ai_assistant"])
PARTS = ("models", "health", "waiting", "usage", "failed", "changed")


@pytest.fixture
def staff(client):
    """Sign in a staff user with these permissions."""

    def sign_in(*codenames):
        user, _new = get_user_model().objects.get_or_create(
            username="grace", is_staff=True
        )
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        client.force_login(user)
        return client

    return sign_in


def parts_of(response):
    page = response.content.decode()
    return [part for part in PARTS if f'id="aia-overview-{part}"' in page]


class TestPermissions:
    def test_superuser_sees_all_parts(self, admin_client):
        assert parts_of(admin_client.get(PAGE)) == list(PARTS)

    @pytest.mark.parametrize(
        ("codename", "parts"),
        [
            ("view_profile", {"models", "health"}),
            ("view_usage", {"usage"}),
            ("view_run", {"failed"}),
            ("view_changeset", {"changed"}),
        ],
    )
    def test_each_part_has_its_permission(self, staff, codename, parts):
        assert {*parts_of(staff(codename).get(PAGE))} == {"waiting", *parts}

    def test_who_may_see_no_rows_gets_404(self, staff):
        assert staff("view_user").get(PAGE).status_code == 404

    def test_off_there_is_no_page(self, admin_client, settings):
        settings.AI_ASSISTANT = {"ENABLED": False}

        assert admin_client.get(PAGE).status_code == 404


class TestParts:
    def test_site_without_a_profile_is_told_so(self, admin_client, settings):
        settings.AI_ASSISTANT = {"ENABLED": True, "PROFILES": {}}

        assert "None is configured." in admin_client.get(PAGE).content.decode()

    def test_admin_site_with_one_of_the_tables_links_what_it_has(
        self, rf, admin_user, told
    ):
        told("ada", state="failed")
        other = AdminSite(name="other")
        other.register(Conversation, ConversationAdmin)
        request = rf.get("/other/ai_assistant/")
        request.user, request.current_app = admin_user, "other"
        urls = ModuleType("urls")
        urls.urlpatterns = [path("other/", other.urls)]

        with override_settings(ROOT_URLCONF=urls):
            page = other.app_index(request, "ai_assistant").render().content.decode()
        assert "/run/" not in page
        assert "Failed today" in page

    def test_profile_without_its_key_says_what_is_missing(
        self, admin_client, settings, monkeypatch
    ):
        monkeypatch.delenv("NO_SUCH_KEY", raising=False)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.setenv("SOME_KEY", "sk-x")
        good = {"MODEL": "openai/gpt-5-mini", "API_KEY_ENV": "SOME_KEY"}
        many = {"default": good, **{f"p{number}": good for number in range(12)}}
        profiles = {**many, "spare": good | {"API_KEY_ENV": "NO_SUCH_KEY"}}
        settings.AI_ASSISTANT = {"ENABLED": True, "PROFILES": profiles}

        page = admin_client.get(PAGE).content.decode()
        assert "Not usable: NO_SUCH_KEY is missing." in page

    def test_price_that_is_missing_is_told_where_a_budget_limits_money(
        self, admin_client, settings, monkeypatch
    ):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
        profiles = {"default": {"MODEL": "openai/of-our-own"}}
        settings.AI_ASSISTANT = {"ENABLED": True, "PROFILES": profiles}
        sentence = "Its price is not known: budgets in US dollars count it as nothing."
        assert sentence not in admin_client.get(PAGE).content.decode()

        Budget.objects.create(scope="site", window="day", usd=5)
        assert sentence in admin_client.get(PAGE).content.decode()
        profiles["default"] |= {"INPUT_USD_PER_MTOK": 1, "OUTPUT_USD_PER_MTOK": 2}
        settings.AI_ASSISTANT = {"ENABLED": True, "PROFILES": profiles}
        assert sentence not in admin_client.get(PAGE).content.decode()

    def test_first_of_many_problems_are_told(self, admin_client):
        for number in range(12):
            Module.objects.create(name=f"m{number}", pages="no.such")

        page = admin_client.get(PAGE).content.decode()

        assert page.count("No page of this site fits “no.such”.") == 10
        assert "and 2 more" in page

    def test_health_is_told_part_by_part(self, admin_client, settings, tmp_path):
        def told():
            parts = admin_client.get(PAGE).context["overview"]["health"]
            bad = {str(part["label"]) for part in parts if part["is_bad"]}
            return bad, [part["text"] for part in parts]

        bad, (executor, layer, *_rest) = told()
        assert bad == {"Executor"}
        assert executor == "No process executes runs: the site is not served with ASGI."
        assert layer == "InMemoryChannelLayer"

        say_present("another|-|-|1|1")
        assert told()[0] == set()
        say_present("a third|-|-|1|1")
        (tmp_path / "taken").write_text("")
        settings.MEDIA_ROOT = str(tmp_path / "taken" / "media")
        bad, (executor, *_rest) = told()
        assert bad == {"Channel layer", "Storage"}
        assert executor == "2 processes execute runs."

        settings.CHANNEL_LAYERS = {"default": {"BACKEND": "no_layer.Layer"}}
        assert "It does not answer." in told()[1]

    def test_rules_and_agents_that_have_broken_are_told_to_who_may_view_them(
        self, staff
    ):
        PolicyRule.objects.create(tools="find_nothing", decision="deny")
        PolicyRule.objects.create(tools="find_nothing_more", decision="deny")
        PolicyRule.objects.filter(tools="find_nothing_more").update(tools="(")
        tools = "get_* gone_tool"
        agent = Agent.objects.create(name="writer", text="Write.", tools=tools)
        Agent.objects.filter(pk=agent.pk).update(profile="gone", loop="no-loop")

        def told(*codenames):
            broken = staff(*codenames).get(PAGE).context["overview"]["broken"]
            return [one["text"] for one in broken]

        rules = told("view_policyrule")
        assert rules[0] == (
            "There is no tool “find_nothing” yet: the rule has no effect."
        )
        assert rules[1].startswith("Pattern “(” ")
        assert told("view_agent") == [
            "There is no profile “gone” any more. Choose another one.",
            "There is no tool “gone_tool” any more. Leave it out.",
            "There is no “no-loop”. There are: default.",
        ]
        assert told("view_usage") == []

    def test_waiting_counts_mine_and_all(self, told, people, client):
        for name in ("ada", "bob", "bob"):
            asked = told(name, state="waiting_approval")
            call = ToolCall.objects.get(run__conversation=asked)
            Interrupt.objects.create(run=call.run, call=call, kind="approval")
        Interrupt.objects.create(run=call.run, call=call, kind="browser")
        ada = people["ada"]
        ada.is_staff = ada.is_superuser = True
        ada.save()
        client.force_login(ada)

        Run.objects.filter(pk=call.run_id).update(state="waiting_answer")

        page = client.get(PAGE).content.decode()
        assert "1 question to you" in page
        assert "3 questions in all" in page
        (link,) = re.findall(r'href="([^"]+\?state[^"]+)"', page)
        assert client.get(link).context["cl"].result_count == 3

    def test_usage_is_that_of_today(self, admin_client, told):
        told("ada")
        UsageLedger.objects.update(tokens=4711, cost_usd="0.25", state="settled")
        old = UsageLedger.objects.create(tokens=1000)
        before = timezone.now() - timedelta(days=2)
        UsageLedger.objects.filter(pk=old.pk).update(created_at=before)

        page = admin_client.get(PAGE).content.decode()
        assert "<dd>4,711</dd>" in page
        assert "0.2500" in page

    def test_failed_runs_are_counted_by_error_and_found_behind_the_link(
        self, admin_client, told
    ):
        for _ in range(2):
            told("ada", state="failed")
        told("bob")
        Run.objects.filter(state="failed").update(error_code="provider_down")

        response = admin_client.get(PAGE)
        (error,) = response.context["overview"]["failed"]
        assert (error["code"], error["count"]) == ("provider_down", 2)
        there = reverse("admin:ai_assistant_run_changelist")
        rows = admin_client.get(f"{there}?{error['query']}").context["cl"].queryset
        assert rows.count() == 2

    def test_newest_changes_are_listed_and_the_rest_is_a_link_away(
        self, admin_client, told
    ):
        for _ in range(6):
            told("ada")

        response = admin_client.get(PAGE)
        changed = response.context["overview"]["changed"]
        newest = ChangeSet.objects.order_by("-created_at")[:5]
        assert changed["newest"] == list(newest)
        assert "Show all" in response.content.decode()
