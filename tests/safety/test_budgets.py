"""Windows, sentences and estimates of budgets."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from ai_assistant.models.usage import Budget
from ai_assistant.safety.budgets import enforcement
from ai_assistant.safety.budgets.budgets import window
from ai_assistant.safety.budgets.enforcement import input_tokens, output_tokens
from ai_assistant.safety.budgets.texts import amount_words, opens_again_text, too_small
from ai_assistant.types import ModelRequest


def at(*parts):
    return datetime(*parts, tzinfo=timezone.get_default_timezone())


@pytest.fixture
def berlin(settings):
    settings.TIME_ZONE = "Europe/Berlin"


@pytest.mark.usefixtures("berlin")
class TestWindow:
    @pytest.mark.parametrize(
        ("kind", "since", "opens_at"),
        [
            ("minute", (2026, 12, 31, 23, 59), (2027, 1, 1)),
            ("day", (2026, 12, 31), (2027, 1, 1)),
            ("month", (2026, 12, 1), (2027, 1, 1)),
        ],
    )
    def test_window_ends_of(self, kind, since, opens_at):
        found = window(kind, at(2026, 12, 31, 23, 59, 30, 5))

        assert (found.since, found.opens_at) == (at(*since), at(*opens_at))

    def test_day_is_that_of_the_site(self):
        found = window("day", datetime(2026, 6, 30, 22, 30, tzinfo=UTC))

        assert found.since == at(2026, 7, 1)

    @pytest.mark.parametrize("month", [1, 2, 4, 12])
    def test_month_ends_where_the_next_begins(self, month):
        found = window("month", at(2026, month, 28, 12))

        assert window("month", found.opens_at).since == found.opens_at

    def test_day_on_which_the_clock_is_changed(self):
        found = window("day", at(2026, 10, 25, 12))

        hours = (found.opens_at.astimezone(UTC) - found.since.astimezone(UTC)).seconds
        assert hours == 3600  # and one day: 25 hours

    def test_minute_in_the_hour_that_comes_twice(self):
        twice = datetime(2026, 10, 25, 1, 10, 20, tzinfo=UTC)  # 2:10, again

        found = window("minute", twice)

        assert found.since <= twice < found.opens_at
        assert (found.opens_at - found.since).total_seconds() == 60

    def test_window_of_one_answer_has_no_ends(self):
        found = window("run", at(2026, 1, 1))

        assert (found.since, found.opens_at) == (None, None)


class TestWords:
    @pytest.mark.parametrize(
        ("amounts", "words"),
        [
            ({"tokens": 50_000}, "50,000 tokens"),
            ({"usd": Decimal(5)}, "5.00 US dollars"),
            ({"usd": Decimal("0.0250")}, "0.025 US dollars"),
            (
                {"tokens": 1_000, "usd": Decimal(100)},
                "1,000 tokens and 100.00 US dollars",
            ),
        ],
    )
    def test_amounts(self, amounts, words):
        assert amount_words(Budget(scope="site", window="day", **amounts)) == words

    @pytest.mark.parametrize(
        ("is_row", "who"),
        [
            (True, "Somebody who may change “Budgets” in the administration can"),
            (False, "Whoever runs this site can raise it in its settings."),
        ],
    )
    def test_too_small_names_who_can_raise_it(self, is_row, who):
        budget = Budget(scope="site", window="day", tokens=9, pk=1 if is_row else None)

        said = too_small(budget)

        assert said.startswith("The budget of 9 tokens is too small for one request")
        assert who in said
        assert "new conversation" not in said

    def test_opening_today(self):
        now = timezone.localtime()
        later = now.replace(hour=23, minute=59)

        assert opens_again_text(later) == "Again at 23:59."

    def test_opening_on_another_day(self):
        assert opens_again_text(at(2031, 5, 2, 14, 5)) == "Again on 2 May at 14:05."

    def test_no_opening(self):
        assert opens_again_text(None) == ""


class TestEstimate:
    def test_estimate_of_a_request_is_more_than_of_its_words(self):
        request = ModelRequest(
            model="m",
            messages=[{"role": "user", "content": "x" * 300}],
            tools=[{"function": {"name": "y" * 300}}],
        )

        assert 200 < input_tokens(request) < 250

    def test_estimate_of_a_reply_is_its_limit(self):
        assert output_tokens({"max_tokens": 77}) == 77
        assert output_tokens({"max_completion_tokens": 88, "max_tokens": 1}) == 88

    def test_estimate_of_a_reply_without_one(self, monkeypatch):
        monkeypatch.setattr(enforcement, "RESERVE_OUTPUT_TOKENS", 5)

        assert output_tokens({"max_tokens": None}) == 5


class TestBudgetRow:
    def test_budget_row_refuses_what_makes_no_sense(self):
        with pytest.raises(ValidationError, match="Give tokens, US dollars or both"):
            Budget(scope="site", window="day").clean()

    @pytest.mark.parametrize("field", ["scope", "window"])
    def test_budget_row_says_once_what_is_missing(self, field):
        budget = Budget(scope="site", window="day", tokens=1)
        setattr(budget, field, "")

        with pytest.raises(ValidationError) as refused:
            budget.full_clean()

        assert refused.value.messages == ["This field cannot be blank."]

    def test_budget_row_takes_what_does(self):
        Budget(scope="site", window="day", usd=Decimal("1.5")).clean()
