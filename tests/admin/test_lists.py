import re
import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from ai_assistant.admin.lists.found import FEW
from ai_assistant.models import (
    ChangeSet,
    Conversation,
    Feedback,
    Message,
    Run,
    ToolCall,
    UsageLedger,
)
from ai_assistant.models.run import RunState

pytestmark = pytest.mark.django_db

LISTS = ("conversation", "run")


@pytest.fixture
def conversation():
    """A conversation of somebody else, with one run and its question."""
    nora = get_user_model().objects.create_user("nora")
    conversation = Conversation.objects.create(owner=nora, title="About sections")
    run = Run.objects.create(
        conversation=conversation,
        user=nora,
        idempotency_key=uuid.uuid4(),
        state=RunState.FAILED,
        error_code="bad_key",
    )
    Message.objects.create(
        conversation=conversation,
        run=run,
        position=0,
        role=Message.Role.USER,
        parts=[{"type": "text", "text": "What do I earn?"}],
    )
    return conversation


@pytest.fixture
def staff(client):
    """Sign in a staff user with these permissions of the app."""

    def sign_in(*codenames):
        user, _new = get_user_model().objects.get_or_create(
            username="grace", is_staff=True
        )
        user.user_permissions.set(
            Permission.objects.filter(
                content_type__app_label="ai_assistant", codename__in=codenames
            )
        )
        client.force_login(user)
        return client

    return sign_in


def address(name, page="changelist", *arguments):
    return reverse(f"admin:ai_assistant_{name}_{page}", args=arguments)


class TestPermission:
    @pytest.mark.parametrize("name", LISTS)
    def test_use_of_the_assistant_shows_no_list(self, staff, name):
        client = staff("view_assistant", "use_assistant")

        assert client.get(address(name)).status_code == 403

    @pytest.mark.parametrize("name", LISTS)
    def test_view_shows_the_list(self, staff, conversation, name):
        client = staff(f"view_{name}")

        response = client.get(address(name), {"q": "nora"})

        assert response.status_code == 200
        assert ">nora<" in response.content.decode()

    @pytest.mark.parametrize("name", LISTS)
    def test_off_hides_the_list(self, staff, settings, name):
        client = staff(f"view_{name}")
        settings.AI_ASSISTANT = {"ENABLED": False}

        assert client.get(address(name)).status_code == 403
        assert address(name) not in client.get(reverse("admin:index")).content.decode()


class TestReadOnly:
    @pytest.mark.parametrize("name", LISTS)
    def test_superuser_adds_none(self, admin_client, name):
        assert admin_client.get(address(name, "add")).status_code == 403

    @pytest.mark.parametrize("name", LISTS)
    def test_superuser_changes_none(self, admin_client, conversation, name):
        row = conversation if name == "conversation" else conversation.runs.get()
        page = address(name, "change", row.pk)

        assert b'name="_save"' not in admin_client.get(page).content
        assert admin_client.post(page, {"title": "x"}).status_code == 403

    def test_page_of_a_conversation_links_its_runs_for_who_may_see_them(
        self, staff, admin_client, conversation
    ):
        page = address("conversation", "change", conversation.pk)
        run = address("run", "change", conversation.runs.get().pk)

        assert f'<a href="{run}">What do I earn?</a>' in (
            admin_client.get(page).content.decode()
        )
        shown = staff("view_conversation").get(page).content.decode()
        assert "About sections" in shown
        assert run not in shown

    def test_run_says_why_it_failed(self, admin_client, conversation):
        run = conversation.runs.get()

        response = admin_client.get(address("run", "change", run.pk))

        assert "bad_key" in response.content.decode()


class TestRuns:
    def test_question_is_the_first_column_for_who_may_see_it(self, staff, conversation):
        page = staff("view_run", "view_conversation").get(address("run"))

        run = address("run", "change", conversation.runs.get().pk)
        assert f'"field-about"><a href="{run}">What do I earn?</a>' in (
            page.content.decode()
        )

    def test_question_needs_the_permission_for_conversations(self, staff, conversation):
        page = staff("view_run").get(address("run")).content.decode()

        assert ">A new message, nora</a>" in page
        assert "earn" not in page
        assert "About sections" not in page

    @pytest.mark.parametrize("name", LISTS)
    def test_costs_need_their_permission(self, staff, conversation, name):
        run = conversation.runs.get()
        for cost in ("0.25", None):
            UsageLedger.objects.create(
                run=run, user=run.user, cost_usd=cost and Decimal(cost)
            )

        assert "0.2500" not in staff(f"view_{name}").get(address(name)).content.decode()
        client = staff(f"view_{name}", "view_usage")
        assert "0.2500" in client.get(address(name)).content.decode()

    def test_run_says_how_long_it_took(self, admin_client, conversation):
        begun = timezone.now() - timedelta(hours=1)
        Run.objects.update(created_at=begun, finished_at=begun + timedelta(seconds=75))

        assert ">1 min 15 s<" in admin_client.get(address("run")).content.decode()


@pytest.mark.parametrize("name", ["conversation", "run", "feedback", "usageledger"])
def test_queries_do_not_grow_with_the_rows(
    admin_client, told, name, django_assert_max_num_queries
):
    for number in range(12):
        run = told("ada").runs.get()
        Feedback.objects.create(run=run, user=run.user, value="up", text=str(number))

    with django_assert_max_num_queries(13):
        admin_client.get(address(name))


class TestFound:
    """A conversation is found by what was said, user, page, tool, outcome and cost."""

    @pytest.fixture(params=[FEW, 0], ids=["few", "many"])
    def found(self, request, monkeypatch, staff, told):
        """Return the owners of the conversations that a search finds."""
        monkeypatch.setattr("ai_assistant.admin.lists.found.FEW", request.param)
        first, second = told("ada"), told("bob", state=RunState.FAILED)
        Run.objects.filter(conversation=first).update(page_path="/admin/shop/order/7/")
        ToolCall.objects.filter(run__conversation=second).update(name="highlight")
        costs = UsageLedger.objects.filter(run__conversation=second)
        costs.update(cost_usd=Decimal("0.2"))
        Message.objects.filter(conversation=second).update(
            parts=[{"type": "text", "text": "Was kostet Übergröße?"}]
        )
        client = staff("view_conversation", "view_usage")

        def search(**query):
            response = client.get(address("conversation"), query)
            return sorted(row.owner.username for row in response.context["cl"].queryset)

        return search

    @pytest.mark.parametrize(
        ("query", "owners"),
        [
            ({}, ["ada", "bob"]),
            ({"q": "i am"}, ["ada"]),
            ({"q": "ÜBERGRÖSSE kostet"}, []),
            ({"q": "übergröße kostet"}, ["bob"]),
            ({"q": "BOB kostet"}, ["bob"]),
            ({"q": "shop/order/7"}, ["ada"]),
            ({"q": "text"}, []),
            ({"q": "Of"}, ["ada", "bob"]),
            ({"q": "i am shop/order/7 ADA"}, ["ada"]),
            ({"q": "shop/order/7 kostet"}, []),
            ({"tool": "highlight"}, ["bob"]),
            ({"outcome": "failed"}, ["bob"]),
            ({"outcome": "no such"}, ["ada", "bob"]),
            ({"cost": "0.1"}, ["bob"]),
            ({"cost": "1"}, []),
        ],
        ids=str,
    )
    def test_conversation_is_found(self, found, query, owners):
        assert found(**query) == owners

    def test_very_many_are_cut_and_that_is_said(self, found, monkeypatch, staff):
        monkeypatch.setattr("ai_assistant.admin.conversations.MOST_FOUND", 1)
        monkeypatch.setattr("ai_assistant.admin.lists.found.MOST_FOUND", 1)

        page = staff("view_conversation").get(address("conversation"), {"q": "Of"})

        assert "More were found: the newest 1 are shown." in page.content.decode()

    def test_newest_are_read_first_and_not_all_sorted(self, staff):
        page = staff("view_conversation").get(address("conversation"))
        if connection.vendor == "postgresql":  # it would read few rows whole
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL enable_seqscan = off")
                cursor.execute("SET LOCAL enable_sort = off")

        plan = page.context["cl"].queryset.explain()
        assert "aia_conversation_used" in plan
        assert not re.search(r"B-TREE FOR ORDER BY|(?<!Incremental )Sort +\(", plan)

    def test_cost_is_no_filter_without_its_permission(self, found, staff):
        page = staff("view_conversation").get(address("conversation"), {"cost": "1"})

        assert len(page.context["cl"].queryset) == 2


class Themed(admin.ModelAdmin):
    """The admin of a theme, which has lists of its own: as django-unfold's."""

    def get_changelist(self, request, **kwargs):
        return ChangeList


class TestThemes:
    @pytest.mark.parametrize("model", [Conversation, Run, ChangeSet])
    def test_list_in_the_class_of_a_theme_has_its_columns(
        self, told, rf, admin_user, model
    ):
        told("ada")
        own = type(admin.site._registry[model])
        themed = type(own.__name__, (Themed, own), {})(model, admin.site)
        request = rf.get("/")
        request.user = admin_user

        page = themed.changelist_view(request).render().content.decode()

        assert "result_list" in page
        assert ">ada<" in page


class TestDelete:
    def test_delete_takes_the_runs_along(self, admin_client, conversation):
        page = address("conversation", "delete", conversation.pk)

        response = admin_client.post(page, {"post": "yes"})

        assert response.status_code == 302
        assert not Conversation.objects.exists()
        assert not Run.objects.exists()

    def test_several_at_once(self, staff, conversation):
        client = staff("view_conversation", "delete_conversation")

        client.post(
            address("conversation"),
            {
                "action": "delete_selected",
                "_selected_action": [str(conversation.pk)],
                "post": "yes",
            },
        )

        assert not Conversation.objects.exists()

    def test_delete_needs_its_permission(self, staff, conversation):
        client = staff("view_conversation")

        page = address("conversation", "delete", conversation.pk)

        assert client.post(page, {"post": "yes"}).status_code == 403

    def test_runs_alone_stay(self, admin_client, conversation):
        page = address("run", "delete", conversation.runs.get().pk)

        assert admin_client.post(page, {"post": "yes"}).status_code == 403
