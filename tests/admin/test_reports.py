"""The reports: who sees which, what they count, and the same as a file."""

import csv
import io
from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from ai_assistant.engine.accounting import daily
from ai_assistant.engine.accounting.daily import sum_days
from ai_assistant.models import (
    Budget,
    ChangeSet,
    DailyUsage,
    Feedback,
    Interrupt,
    Run,
    ToolCall,
    UsageLedger,
    clock,
)
from ai_assistant.render.html.reports.query import ReportQuery
from ai_assistant.render.html.reports.table import Column, Row, Table
from ai_assistant.safety.budgets.budgets import Spender, used_amount
from ai_assistant.safety.budgets.fill import fills_of

pytestmark = [pytest.mark.django_db, pytest.mark.row("U07")]

NEEDS = {
    "usage": ("view_usage",),
    "tools": ("view_toolcall",),
    "failures": ("view_run",),
    "approvals": ("view_toolcall",),
    "feedback": ("view_feedback",),
    "budgets": ("view_budget", "view_usage"),
    "undo": ("view_changeset",),
}


def page(name):
    return reverse("admin:ai_assistant_report_page", args=[name])


INDEX = reverse("admin:ai_assistant_report_changelist")


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


@pytest.fixture
def used(told, people):
    """Runs of ada and bob today, and of bob yesterday, each with a model call."""
    Group.objects.create(name="Sales").user_set.add(people["ada"])
    yesterday = timezone.now() - timedelta(days=1)
    for name, cost, moment in (
        ("ada", "0.25", None),
        ("bob", "0.5", None),
        ("bob", None, yesterday),
    ):
        run = told(name).runs.get()
        Run.objects.filter(pk=run.pk).update(module="orders", agent="analyst")
        row = UsageLedger.objects.filter(run=run)
        row.update(state="settled", model="small", cost_usd=cost and Decimal(cost))
        call = ToolCall.objects.filter(run=run)
        ended = moment or timezone.now()
        began = ended - timedelta(seconds=3)
        call.update(status="complete", started_at=began, finished_at=ended)
        if moment:
            row.update(created_at=moment)
    return people


def rows(client, name, table, **query):
    """Return the rows of a table, as its file has them."""
    response = client.get(page(name), {**query, "csv": table})
    assert response["Content-Type"].startswith("text/csv")
    return list(csv.reader(io.StringIO(response.content.decode())))[1:]


class TestPermissions:
    @pytest.mark.parametrize(("name", "needed"), NEEDS.items())
    def test_each_report_has_its_own(self, staff, told, name, needed):
        told("ada")
        others = {one for own in NEEDS.values() for one in own} - set(needed)

        assert staff(*needed).get(page(name)).status_code == 200
        assert staff(*others).get(page(name)).status_code == 403
        assert staff(*others).get(page(name), {"csv": name}).status_code == 403

    def test_first_that_may_be_seen_is_shown(self, staff):
        shown = staff("view_feedback", "view_changeset").get(INDEX).content.decode()

        assert ">Feedback</a>" in shown
        assert ">Undo</a>" in shown
        assert ">Usage</a>" not in shown

    def test_who_may_see_none_gets_403(self, staff):
        client = staff("use_assistant")

        assert client.get(INDEX).status_code == 403
        assert client.get(page("nothing")).status_code == 404

    def test_off_there_are_none(self, admin_client, settings):
        settings.AI_ASSISTANT = {"ENABLED": False}

        assert admin_client.get(INDEX).status_code == 403
        assert admin_client.get(page("usage")).status_code == 403

    def test_texts_of_others_need_the_permission_for_conversations(self, staff, told):
        run = told("ada", state="failed").runs.get()
        Feedback.objects.create(run=run, user=run.user, value="down", text="Bad.")
        without = staff("view_run", "view_feedback")

        for name in ("failures", "feedback"):
            assert "I am ada." not in without.get(page(name)).content.decode()
        allowed = staff("view_run", "view_feedback", "view_conversation")
        for name in ("failures", "feedback"):
            assert "I am ada." in allowed.get(page(name)).content.decode()


class TestUsage:
    @pytest.mark.parametrize(
        ("by", "expected"),
        [
            ("user", [["bob", "2", "0.5"], ["ada", "1", "0.25"]]),
            ("group", [["", "2", "0.5"], ["Sales", "1", "0.25"]]),
            ("model", [["small", "3", "0.75"]]),
            ("module", [["orders", "3", "0.75"]]),
            ("agent", [["analyst", "3", "0.75"]]),
            ("tool", [["mark_paid", "3", "0.75"]]),
        ],
    )
    def test_usage_by_what_it_is_asked_for(self, admin_client, used, by, expected):
        found = rows(admin_client, "usage", by, by=by)

        told = [[name, calls, cost] for name, calls, _in, _out, cost in found]
        assert [[n, c, str(float(cost))] for n, c, cost in told] == expected

    def test_days_that_are_kept_count_as_those_that_are_not(
        self, admin_client, used, monkeypatch
    ):
        # Else yesterday is not summed yet in the first minutes of a day.
        monkeypatch.setattr(daily, "LATE", timedelta(0))
        names = ("day", "user", "group", "model", "module", "agent", "tool")
        live = {by: rows(admin_client, "usage", by, by=by) for by in names}

        sum_days()

        assert DailyUsage.objects.exists()
        kept = {by: rows(admin_client, "usage", by, by=by) for by in names}
        assert kept == live

    def test_usage_by_day_has_a_cost_that_is_not_known(self, admin_client, used):
        today, yesterday = rows(admin_client, "usage", "day")

        assert yesterday[1:] == ["1", "7", "0", ""]
        assert today[1:4] == ["2", "14", "0"]
        assert date.fromisoformat(today[0]) - date.fromisoformat(
            yesterday[0]
        ) == timedelta(days=1)

    @pytest.mark.parametrize(
        ("filters", "calls"),
        [
            ({"user": "ada"}, 1),
            ({"group": "Sales"}, 1),
            ({"user": "nobody"}, None),
            ({"model": "large"}, None),
            ({"tool": "mark_paid", "user": "bob"}, 2),
            ({"first": "2020-01-01", "last": "2020-12-31"}, None),
            ({"first": "no date"}, 3),
        ],
    )
    def test_filters_stand_in_the_address(self, admin_client, used, filters, calls):
        sum_days()

        found = rows(admin_client, "usage", "model", by="model", **filters)

        assert [int(row[1]) for row in found] == ([calls] if calls else [])

    def test_page_says_the_whole_and_links_the_rows(self, admin_client, used):
        shown = admin_client.get(page("usage"), {"by": "user"}).content.decode()

        assert "0.7500" in shown
        assert "user=bob" in shown
        assert shown.count("<rect") >= 30

    def test_statements_do_not_grow_with_the_rows(
        self, admin_client, used, told, django_assert_max_num_queries
    ):
        admin_client.get(page("usage"), {"by": "group"})
        for _ in range(8):
            told("ada")
        UsageLedger.objects.update(state="settled")

        with django_assert_max_num_queries(12):
            admin_client.get(page("usage"), {"by": "group"})


class TestTools:
    def test_slowest_comes_first_with_its_failures(self, admin_client, used):
        run = Run.objects.filter(user=used["ada"]).get()
        ended = timezone.now()  # no later: that may be another day
        ToolCall.objects.create(
            run=run,
            step=run.steps.get(),
            position=1,
            name="find_orders",
            status="failed",
            started_at=ended - timedelta(seconds=60),
            finished_at=ended,
        )

        found = rows(admin_client, "tools", "tools")

        assert [row[:5] for row in found] == [
            ["find_orders", "60.0", "60.0", "1", "1"],
            ["mark_paid", "3.0", "3.0", "3", "0"],
        ]


class TestFailures:
    def test_kinds_lead_to_the_runs_behind_them(self, admin_client, told):
        for name, code in (("ada", "bad_key"), ("bob", "bad_key"), ("bob", "timeout")):
            run = told(name, state="failed").runs.get()
            Run.objects.filter(pk=run.pk).update(error_code=code)
        told("ada")

        kinds = rows(admin_client, "failures", "kinds")
        shown = admin_client.get(page("failures"))
        links = [row["head"]["url"] for row in shown.context["tables"][0]["rows"]]
        runs = admin_client.get(links[0]).context["cl"].queryset

        assert [row[:4] for row in kinds] == [
            ["bad_key", "failed", "2", "2"],
            ["timeout", "failed", "1", "1"],
        ]
        assert {run.error_code for run in runs} == {"bad_key"}
        assert len(runs) == 2


class TestApprovals:
    def test_approvals_with_the_time_to_answer(self, admin_client, told, people):
        decided = timezone.now()
        for status, seconds in (("approved", 10), ("denied", 30), ("open", 0)):
            call = ToolCall.objects.get(run__conversation=told("ada"))
            row = Interrupt.objects.create(
                run=call.run, call=call, kind="approval", status=status
            )
            if seconds:
                began = decided - timedelta(seconds=seconds)
                Interrupt.objects.filter(pk=row.pk).update(
                    created_at=began, decided_at=decided, decided_by=people["bob"]
                )
        Interrupt.objects.create(run=call.run, call=call, kind="question")

        by_tool = rows(admin_client, "approvals", "tools")
        by_person = rows(admin_client, "approvals", "people")

        assert by_tool == [["mark_paid", "3", "1", "1", "0", "1", "20.0", "30.0"]]
        assert by_person == [["bob", "2", "1", "1", "0", "0", "20.0", "30.0"]]


class TestFeedback:
    def test_feedback_with_question_and_link(self, admin_client, told):
        run = told("ada").runs.get()
        Feedback.objects.create(
            run=run, user=run.user, value="down", reasons=["wrong"], text="Bad."
        )

        (newest,) = rows(admin_client, "feedback", "newest")

        assert newest[1:5] == ["bad", "Bad.", "ada", "I am ada."]
        assert rows(admin_client, "feedback", "reasons") == [
            ["bad", "1"],
            ["Not right", "1"],
        ]
        conversation = reverse(
            "admin:ai_assistant_conversation_change", args=[run.conversation_id]
        )
        assert conversation in admin_client.get(page("feedback")).content.decode()


class TestBudgets:
    def test_budgets_say_how_full_they_are(self, admin_client, used, settings):
        UsageLedger.objects.update(usd=Decimal("0.5"), tokens=100)
        Budget.objects.create(scope="user", window="month", usd=1)
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "BUDGETS": [{"scope": "site", "window": "month", "tokens": 600}],
        }
        UsageLedger.objects.update(created_at=timezone.now())

        found = rows(admin_client, "budgets", "budgets")

        assert [row[:2] for row in found] == [
            ["The whole site, a month (settings)", "50.0"],
            ["bob, a month", "100.0"],
            ["ada, a month", "50.0"],
        ]

    def test_each_is_as_full_as_what_counts_against_it(self, used):
        UsageLedger.objects.update(usd=Decimal("0.5"), tokens=100)
        sales, ada, now = Group.objects.get(), used["ada"], clock.now()
        kinds = ({"scope": "site"}, {"scope": "group", "group": sales})
        kinds += ({"scope": "user", "user": ada}, {"scope": "user"})
        budgets = [
            Budget(tokens=900, window=window, **kind)
            for window in ("minute", "day", "month")
            for kind in kinds
        ]

        found = fills_of(budgets, now)

        for budget, fills in zip(budgets, found, strict=True):
            each = budget.scope == "user" and not budget.user
            for fill in fills:
                user = used[fill.user] if each else ada
                assert fill.used == used_amount(budget, Spender(user=user), now)
        today = [fills[0].used.tokens for fills in found[4:8]]
        assert today == [200, 100, 100, 100]

    @pytest.mark.parametrize(
        "address", [page("budgets"), reverse("admin:ai_assistant_budget_changelist")]
    )
    def test_queries_do_not_grow_with_budgets(
        self, admin_client, used, settings, address
    ):
        def queries():
            with CaptureQueriesContext(connection) as seen:
                assert admin_client.get(address).status_code == 200
            return len(seen)

        def add(count):
            for number in range(count):
                of_one = {"scope": "user", "user": make_user(f"u{count}-{number}")}
                group = Group.objects.create(name=f"Team {count} {number}")
                for kind in (of_one, {"scope": "group", "group": group}):
                    Budget.objects.create(window="day", tokens=1000, **kind)
            for scope in ("site", "user"):
                Budget.objects.create(scope=scope, window="day", usd=1)
            settings.AI_ASSISTANT = {
                **settings.AI_ASSISTANT,
                "BUDGETS": [
                    {"scope": "user", "window": "day", "user": "bob", "usd": 1}
                    for _ in range(count)
                ],
            }

        make_user = get_user_model().objects.create_user
        add(1)
        queries()  # what a process keeps
        few = queries()
        add(99)
        # And what a process asks for every few seconds.
        assert queries() <= few + 2


class TestUndo:
    def test_undo_counts_changes_that_were_undone(self, admin_client, told, people):
        told("ada")
        change = ChangeSet.objects.get(run__conversation=told("ada"))
        undo = ChangeSet.objects.create(
            kind="undo", tool="mark_paid", user=people["bob"]
        )
        change.rows.update(undone_by=undo)

        assert rows(admin_client, "undo", "tools") == [
            ["mark_paid", "2", "1", "50.0", "0"]
        ]
        (newest,) = rows(admin_client, "undo", "undos")
        assert newest[1:] == ["undo", "mark_paid", "bob"]


class TestFile:
    def test_formula_of_a_name_is_a_text(self):
        table = Table(
            name="x",
            title="X",
            columns=(Column("Name"), Column("Count", "count")),
            rows=[Row(values=("=1+1", -2)), Row(values=("a,b", None))],
        )

        assert table.csv().splitlines() == ["Name,Count", "'=1+1,-2", '"a,b",']

    def test_period_that_ends_before_it_begins_is_turned(self):
        query = ReportQuery.read({"first": "2026-05-03", "last": "2026-05-01"})

        assert (query.first, query.last) == (date(2026, 5, 1), date(2026, 5, 3))
