"""The sums of usage by day: made once a day is over, and the same as of its rows."""

import uuid
from datetime import date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from ai_assistant.engine.accounting import daily
from ai_assistant.engine.accounting.daily import (
    live_sums,
    local_day,
    midnight,
    sum_days,
    summed_until,
)
from ai_assistant.models import (
    Conversation,
    DailyUsage,
    Message,
    Run,
    Step,
    ToolCall,
    UsageLedger,
)

pytestmark = [pytest.mark.django_db, pytest.mark.row("U07")]
COLUMNS = ("model", "module", "agent", "tool", "calls", "failed", "unpriced")
TOKENS = ("input_tokens", "output_tokens", "cost_usd")


@pytest.fixture
def oracle():
    """Its rows have no events."""


@pytest.fixture
def now(monkeypatch):
    """A site in Tokyo, where it is ten o'clock on the third of May."""
    moment = datetime(2026, 5, 3, 1, tzinfo=ZoneInfo("UTC"))
    monkeypatch.setattr(daily.clock, "now", lambda: moment)
    # A busy machine sums less in the half second that a sweep has for it.
    monkeypatch.setattr(daily, "AT_ONCE_S", 60.0)
    return moment


@pytest.fixture
def used(settings, django_user_model, now):
    """Store a model call that asked for two tools, at a moment."""
    settings.TIME_ZONE = "Asia/Tokyo"
    user = django_user_model.objects.create_user("ada")

    def use(moment, *, cost="0.3", state="settled"):
        run = Run.objects.create(
            conversation=Conversation.objects.create(owner=user),
            user=user,
            module="orders",
            agent="analyst",
            idempotency_key=uuid.uuid4(),
            state="succeeded",
        )
        message = Message.objects.create(
            conversation=run.conversation, run=run, position=0, role="assistant"
        )
        step = Step.objects.create(run=run, index=0, message=message, model="small")
        for position, status in enumerate(["complete", "failed"]):
            ToolCall.objects.create(
                run=run,
                step=step,
                position=position,
                name=f"tool_{position}",
                status=status,
                started_at=moment,
                finished_at=moment + timedelta(seconds=2),
            )
        row = UsageLedger.objects.create(
            run=run,
            user=user,
            model="small",
            state=state,
            input_tokens=100,
            output_tokens=20,
            cost_usd=cost and Decimal(cost),
        )
        UsageLedger.objects.filter(pk=row.pk).update(created_at=moment)
        return row

    return use


def stored():
    rows = DailyUsage.objects.order_by("day", "tool").values_list("day", *COLUMNS)
    return list(rows)


def whole(rows):
    names = ("day", "user_id", "seconds", "longest_s", *COLUMNS, *TOKENS)
    return sorted(tuple(getattr(row, name) for name in names) for row in rows)


class TestSums:
    def test_day_that_is_over_is_kept_as_its_rows_say(self, used, now):
        used(now - timedelta(days=1))
        used(now - timedelta(days=1), cost=None)
        used(now)
        yesterday = date(2026, 5, 2)
        asked = whole(live_sums(yesterday, yesterday))

        sum_days()

        own = ("small", "orders", "analyst")
        assert stored() == [
            (yesterday, *own, "", 2, 0, 1),
            (yesterday, *own, "tool_0", 2, 0, 0),
            (yesterday, *own, "tool_1", 2, 2, 0),
        ]
        assert whole(DailyUsage.objects.all()) == asked
        assert summed_until() == yesterday

    def test_read_that_was_not_claimed_took_time_since_it_was_asked_for(
        self, used, now
    ):
        used(now)
        calls = ToolCall.objects.filter(name="tool_0")
        calls.update(
            started_at=None, created_at=now, finished_at=now + timedelta(seconds=3)
        )
        ToolCall.objects.filter(name="tool_1").update(status="denied", started_at=None)

        by_tool = {
            row.tool: (row.timed, row.seconds, row.longest_s)
            for row in live_sums(date(2026, 5, 3), date(2026, 5, 3))
        }

        assert by_tool["tool_0"] == (1, 3.0, 3.0)
        assert by_tool["tool_1"] == (0, 0.0, 0.0)

    def test_tools_share_what_the_model_call_that_asked_for_them_took(self, used, now):
        used(now)

        by_tool = {
            row.tool: row for row in live_sums(date(2026, 5, 3), date(2026, 5, 3))
        }

        shares = [
            (row.input_tokens, row.output_tokens, row.cost_usd)
            for row in (by_tool["tool_0"], by_tool["tool_1"])
        ]
        assert [(a, b, round(Decimal(c), 4)) for a, b, c in shares] == [
            (50, 10, Decimal("0.15"))
        ] * 2
        assert by_tool["tool_0"].seconds == by_tool["tool_0"].longest_s == 2.0
        assert by_tool[""].input_tokens == 100

    def test_days_are_those_of_the_sites_time_zone(self, used):
        midnight_there = datetime(2026, 5, 2, 15, tzinfo=ZoneInfo("UTC"))

        used(midnight_there - timedelta(seconds=3))

        assert local_day(midnight_there) == date(2026, 5, 3)
        assert midnight(date(2026, 5, 3)) == midnight_there
        assert {row.day for row in live_sums(date(2026, 5, 2), date(2026, 5, 2))} == {
            date(2026, 5, 2)
        }

    def test_sums_are_made_once_and_days_that_were_missed_later(self, used, now):
        used(now - timedelta(days=9))
        used(now - timedelta(days=4))

        sum_days()
        first = list(DailyUsage.objects.values())
        sum_days()

        assert list(DailyUsage.objects.values()) == first
        days = {row["day"] for row in first}
        assert days == {date(2026, 4, 24), date(2026, 4, 29)}
        assert summed_until() == date(2026, 5, 2)

    def test_day_with_a_call_under_way_waits(self, used, now):
        row = used(now - timedelta(days=1), state="reserved")

        sum_days()
        assert not DailyUsage.objects.exists()
        UsageLedger.objects.filter(pk=row.pk).update(state="settled")
        sum_days()

        assert len(stored()) == 3

    def test_another_process_that_was_quicker_is_left_alone(self, used, now):
        used(now - timedelta(days=1))
        sum_days()

        daily._keep(None, date(2026, 5, 2), [])

        assert len(stored()) == 3
