"""The ledger with its totals, and budgets, in the admin."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone

from ai_assistant.models import Budget, UsageLedger

pytestmark = pytest.mark.django_db

USAGE = "admin:ai_assistant_usageledger_changelist"
BUDGETS = "admin:ai_assistant_budget_changelist"
ADD = "admin:ai_assistant_budget_add"


@pytest.fixture
def used():
    """Three calls of two users and two models, one of them yesterday."""
    users = [get_user_model().objects.create_user(name) for name in ("bob", "eve")]
    calls = [
        (users[0], "small", 100, "0.1"),
        (users[0], "large", 200, "0.2"),
        (users[1], "large", 400, None),
    ]
    for user, model, tokens, cost in calls:
        UsageLedger.objects.create(
            user=user,
            model=model,
            tokens=tokens,
            cost_usd=cost and Decimal(cost),
            state="settled",
        )
    yesterday = timezone.now() - timedelta(days=1)
    UsageLedger.objects.filter(model="small").update(created_at=yesterday)
    return users


@pytest.fixture
def staff(client):
    def sign_in(*codenames):
        user, _new = get_user_model().objects.get_or_create(
            username="ada", is_staff=True
        )
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        client.force_login(user)
        return client

    return sign_in


@pytest.mark.row("U07")
class TestUsage:
    def test_usage_is_for_who_has_the_permission(self, staff, used):
        assert staff("use_assistant").get(reverse(USAGE)).status_code == 403

    def test_costs_are_read_at_a_glance(self, staff, used):
        page = staff("view_usage").get(reverse(USAGE)).content.decode()

        assert 'class="field-cost">0.1000<' in page
        assert "0.10000000" not in page
        assert reverse("admin:ai_assistant_report_changelist") in page

    @pytest.mark.parametrize(
        ("query", "models"),
        [
            ({"model": "small"}, ["small"]),
            ({"q": "bob"}, ["large", "small"]),
            ({"q": "large"}, ["large", "large"]),
        ],
    )
    def test_calls_are_found(self, staff, used, query, models):
        UsageLedger.objects.update(created_at=timezone.now())

        rows = staff("view_usage").get(reverse(USAGE), query).context["cl"].queryset

        assert sorted(row.model for row in rows) == models

    def test_filter_that_does_not_exist(self, staff, used):
        response = staff("view_usage").get(reverse(USAGE), {"nothing": "1"})

        assert response.status_code == 302

    def test_usage_changes_nothing(self, admin_client, used):
        row = UsageLedger.objects.first()
        page = reverse("admin:ai_assistant_usageledger_change", args=[row.pk])

        assert admin_client.get(page).status_code == 200
        assert admin_client.post(page, {"tokens": 0}).status_code == 403


def test_list_is_headed_by_what_it_is(admin_client):
    page = admin_client.get(reverse(USAGE)).content.decode()

    assert "<h1>Usage</h1>" in page
    assert "Select model call" not in page


class TestBudgets:
    def test_budgets_are_not_for_everybody(self, staff):
        assert staff("use_assistant").get(reverse(BUDGETS)).status_code == 403

    def test_budgets_are_made_with_the_permission(self, staff):
        client = staff("add_budget", "view_budget")

        response = client.post(
            reverse(ADD), {"scope": "user", "window": "day", "tokens": "5000"}
        )

        assert response.status_code == 302
        budget = Budget.objects.get()
        assert (budget.scope, budget.window, budget.tokens) == ("user", "day", 5000)

    def test_budgets_that_make_no_sense_are_refused(self, staff):
        client = staff("add_budget", "view_budget")

        response = client.post(reverse(ADD), {"scope": "run", "window": "day"})

        assert (
            "The scope and the window of an answer only go together"
            in response.content.decode()
        )
        assert not Budget.objects.exists()

    def test_what_is_missing_is_said_once_and_by_its_label(self, staff):
        client = staff("add_budget", "view_budget")

        page = client.post(reverse(ADD), {"tokens": "5"}).content.decode()

        assert page.count("This field is required.") == 2
        assert "a valid scope and a valid window" not in page
        assert "Whose budget:" in page
        assert "Period:" in page

    def test_list_shows_how_full_they_are_for_who_may_see_usage(self, staff, used):
        Budget.objects.create(scope="site", window="month", tokens=1000)
        UsageLedger.objects.update(created_at=timezone.now())

        page = staff("view_budget", "view_usage").get(reverse(BUDGETS))
        assert '<rect width="700" height="10"></rect></svg> 70 %' in (
            page.content.decode()
        )
        assert "1,000 tokens" in page.content.decode()
        page = staff("view_budget").get(reverse(BUDGETS)).content.decode()
        assert "The whole site" in page
        assert "70 %" not in page

    def test_form_says_what_belongs_into_it(self, staff):
        page = staff("add_budget", "view_budget").get(reverse(ADD)).content.decode()

        assert "In and out together." in page

    def test_budgets_are_gone_while_the_assistant_is_off(self, admin_client, settings):
        settings.AI_ASSISTANT = {"ENABLED": False}

        assert admin_client.get(reverse(BUDGETS)).status_code == 403
        assert admin_client.get(reverse(ADD)).status_code == 403
