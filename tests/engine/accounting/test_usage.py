"""A model call is reserved before it is made, and settled by what it took."""

from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.contrib.auth.models import Group
from django.utils import timezone

from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.intake.retries import again_submission
from ai_assistant.engine.intake.submission import accept
from ai_assistant.exceptions import Limited, ModelError
from ai_assistant.models.run import Run
from ai_assistant.models.usage import Budget, UsageLedger
from ai_assistant.safety.budgets import enforcement
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.testing import call, reply
from ai_assistant.types import ReplyEnd, TextDelta, Usage
from tests.engine.conftest import bury, resume, statuses

pytestmark = pytest.mark.django_db(transaction=True)

DAY = {"scope": "user", "window": "day"}


def took(input_tokens=100, output_tokens=10, cost_usd=None, text="Done.", *calls):
    usage = Usage(
        input_tokens=input_tokens, output_tokens=output_tokens, cost_usd=cost_usd
    )
    return reply(text, *calls, usage=usage)


@pytest.fixture
def reserve(monkeypatch):
    """Reserve so many tokens for a reply: `reserve(10)`."""
    return partial(monkeypatch.setattr, enforcement, "RESERVE_OUTPUT_TOKENS")


def ledger():
    return list(
        UsageLedger.objects.order_by("pk").values_list("state", "tokens", "usd")
    )


@pytest.mark.row("U07")
class TestLedger:
    def test_ledger_has_a_row_for_each_model_call(self, play, script, user):
        script.add(took(100, 10, Decimal("0.5"), "", call("echo", {"text": "a"})))
        script.add(took(120, 5, Decimal("0.25")))

        run = play()

        rows = UsageLedger.objects.order_by("step_index")
        fields = ("step_index", "user", "run", "model", "input_tokens", "output_tokens")
        assert list(rows.values_list(*fields, "cost_usd", "state")) == [
            (0, user.pk, run.pk, "scripted", 100, 10, Decimal("0.5"), "settled"),
            (1, user.pk, run.pk, "scripted", 120, 5, Decimal("0.25"), "settled"),
        ]
        assert [(row.tokens, row.usd) for row in rows] == [
            (110, Decimal("0.5")),
            (125, Decimal("0.25")),
        ]

    def test_ledger_outlives_its_run_and_its_user(self, play, script, staff):
        script.add(took())
        run = play(user_id=staff.pk)

        run.conversation.delete()
        staff.delete()

        assert ledger() == [("settled", 110, 0)]

    def test_profile_has_its_own_prices(self, play, script, options):
        from ai_assistant import conf

        prices = {"INPUT_USD_PER_MTOK": 2, "OUTPUT_USD_PER_MTOK": 10.0}
        options(PROFILES={"default": {**conf.get("PROFILES")["default"], **prices}})
        script.add(took(1_000_000, 100_000, Decimal("99")))

        play()

        assert UsageLedger.objects.get().cost_usd == Decimal(3)

    def test_price_that_nobody_knows(self, play, script):
        script.add(took())

        play()

        row = UsageLedger.objects.get()
        assert (row.cost_usd, row.usd, row.tokens) == (None, 0, 110)


class TestReservation:
    def test_reservation_is_there_while_the_model_is_asked(
        self, play, function_model, options, reserve
    ):
        seen = []

        async def model(_request):
            from ai_assistant.engine.storage.units import in_db

            seen.extend(await in_db(ledger))
            return took()

        function_model(model)
        options(BUDGETS=[{**DAY, "tokens": 1_000_000}])
        reserve(500)

        play()

        ((state, tokens, _),) = seen
        assert state == "reserved"
        assert tokens > 500  # the prompt, and a reply
        assert ledger() == [("settled", 110, 0)]

    def test_only_where_there_is_a_budget(self, play, function_model):
        seen = []

        async def model(_request):
            from ai_assistant.engine.storage.units import in_db

            seen.append(await in_db(ledger))
            return took()

        function_model(model)

        play()

        assert seen == [[]]

    def test_reservation_is_given_back_if_nothing_was_used(self, play, script, options):
        options(BUDGETS=[{**DAY, "tokens": 1_000_000}])
        script.add(ModelError("rate_limited"))

        assert play().state == "failed"

        assert ledger() == [("released", 0, 0)]

    @pytest.mark.parametrize("code", ["first_byte_timeout", "cut"])
    def test_reservation_counts_the_request_if_it_may_have_been_used(
        self, play, script, options, code
    ):
        options(BUDGETS=[{**DAY, "tokens": 1_000_000}])
        script.add(ModelError(code))

        play()

        row = UsageLedger.objects.get()
        assert (row.state, row.output_tokens) == ("settled", 0)
        assert row.tokens == row.input_tokens > 100

    def test_reservation_counts_what_was_said_before_a_cut(self, play, script, options):
        options(BUDGETS=[{**DAY, "tokens": 1_000_000}])
        script.add([TextDelta(text="x" * 30), ModelError("cut")])

        play()

        row = UsageLedger.objects.get()
        assert (row.state, row.output_tokens) == ("settled", 10)
        assert row.tokens == row.input_tokens + 10

    def test_reservation_of_a_provider_that_does_not_count(self, play, script, options):
        options(BUDGETS=[{**DAY, "tokens": 1_000_000}])
        script.add([TextDelta(text="x" * 30), ReplyEnd(finish_reason="stop")])

        play()

        row = UsageLedger.objects.get()
        assert (row.state, row.output_tokens) == ("settled", 10)
        assert row.input_tokens > 100

    def test_reservation_of_a_call_that_a_crash_cut_off(
        self, submission, script, options
    ):
        options(BUDGETS=[{**DAY, "tokens": 1_000_000}])
        run = _crashed(submission)
        script.add(took())

        resume(bury(run))

        assert ledger() == [("settled", 300, 0), ("settled", 110, 0)]

    def test_left_behind_is_settled_by_the_sweeper(self, submission):
        run = _crashed(submission)
        sweep_once()
        assert ledger() == [("reserved", 1300, 0)]

        Run.objects.filter(pk=run.pk).update(state="queued", owner="")
        sweep_once()

        assert ledger() == [("settled", 1300, 0)]
        Run.objects.all().delete()

    def test_reservation_of_a_conversation_deleted_meanwhile(self, submission):
        run = _crashed(submission)

        run.conversation.delete()
        sweep_once()

        assert ledger() == [("settled", 1300, 0)]


def _crashed(submission):
    """Return a run whose process died while the model was asked."""
    from ai_assistant.engine.storage.lease import this_process

    accepted = accept(submission(), owner=this_process())
    run = Run.objects.get(pk=accepted.run_id)
    UsageLedger.objects.create(
        run=run,
        user_id=run.user_id,
        epoch=1,
        tokens=1300,
        input_tokens=300,
        output_tokens=1000,
    )
    return run


@pytest.mark.row("U02")
class TestBudget:
    def test_budget_ends_the_run_before_the_call(self, play, script, options):
        options(BUDGETS=[{"scope": "run", "window": "run", "tokens": 10_000}])
        script.add(took(9_000, 900, None, "", call("echo", {"text": "a"})))

        run = play()

        assert (run.state, run.error_code) == ("limited", "budget")
        assert run.error_text == (
            "The budget of one answer, 10,000 tokens, is used up. Ask it to continue."
        )
        assert run.opens_at is None
        assert len(script.requests) == 1
        assert statuses(run) == ["complete"]

    def test_going_on_counts_anew(self, play, script, options, submission):
        options(BUDGETS=[{"scope": "run", "window": "run", "tokens": 10_000}])
        script.add(took(9_000, 900, None, "", call("echo", {"text": "a"})), took())
        run = play()

        again = again_submission(run.user_id, run.pk, "k", SessionStamp())

        assert (again.text, again.lineage.continues) == ("Go on.", run.pk)
        assert play("Go on.", conversation_id=run.conversation_id).state == "succeeded"

    def test_budget_says_when_it_opens(self, play, script, options):
        options(BUDGETS=[{**DAY, "tokens": 10_000}])
        script.add(took(9_000, 900, None, "", call("echo", {"text": "a"})))

        run = play()

        assert run.error_text == "Your budget of 10,000 tokens a day is used up."
        local = timezone.localtime(run.opens_at)
        assert (local.hour, local.minute, local.second) == (0, 0, 0)
        assert timedelta(0) < run.opens_at - timezone.now() <= timedelta(days=1)

    def test_budget_opens(self, play, script, options, submission):
        options(BUDGETS=[{**DAY, "tokens": 10_000}])
        script.add(took(9_500, 500), took())
        play()
        with pytest.raises(Limited):
            accept(submission())

        past = timezone.now() - timedelta(days=1)
        UsageLedger.objects.update(created_at=past)

        assert play().state == "succeeded"

    def test_question_that_did_not_fit_is_asked_again(
        self, play, options, script, reserve
    ):
        """Its message would have fitted; the prompt around it does not."""
        options(BUDGETS=[{**DAY, "tokens": 60}])
        reserve(10)

        run = play("Who am I?")

        assert (run.state, run.error_code, script.requests) == ("limited", "budget", [])
        assert "60 tokens is too small for one request" in run.error_text
        again = again_submission(run.user_id, run.pk, "k", SessionStamp())
        assert again.text == "Who am I?"

    def test_what_was_said_may_be_too_much_for_the_whole_budget(
        self, play, options, reserve
    ):
        reserve(10)
        options(
            BUDGETS=[{**DAY, "tokens": 20_000}],
            LIMITS={"MESSAGE_CHARS": 100_000},
        )

        run = play("x" * 57_000)

        assert "more than the whole budget of 20,000 tokens" in run.error_text
        assert "begin a new conversation" in run.error_text

    def test_row_that_is_too_small_is_raised_by_its_keepers(self, play, reserve):
        reserve(10)
        Budget.objects.create(scope="site", window="day", tokens=60)

        run = play()

        assert "Somebody who may change “Budgets”" in run.error_text

    def test_budget_of_money(self, play, script, options):
        from ai_assistant import conf

        prices = {"INPUT_USD_PER_MTOK": 1, "OUTPUT_USD_PER_MTOK": 1}
        profile = {**conf.get("PROFILES")["default"], **prices}
        options(PROFILES={"default": profile}, BUDGETS=[{**DAY, "usd": 1}])
        script.add(took(900_000, 99_999, None, "", call("echo", {"text": "a"})))

        run = play()

        assert run.error_text == "Your budget of 1.00 US dollars a day is used up."
        assert len(script.requests) == 1


@pytest.mark.row("U02")
class TestScopes:
    def test_scopes_of_one_user(self, play, script, options, staff, submission):
        options(BUDGETS=[{**DAY, "tokens": 10_000}])
        script.add(took(9_900, 100), took())
        play()

        with pytest.raises(Limited, match="Your budget of 10,000 tokens a day"):
            accept(submission())
        assert play(user_id=staff.pk).state == "succeeded"

    def test_scopes_of_all_users(self, play, script, options, staff, submission):
        options(BUDGETS=[{"scope": "site", "window": "month", "tokens": 10_000}])
        script.add(took(9_900, 100))
        play()

        with pytest.raises(Limited, match="this site, 10,000 tokens a month"):
            accept(submission(user_id=staff.pk))

    def test_scopes_of_a_group_together(
        self, play, script, options, user, staff, submission
    ):
        group = Group.objects.create(name="Editors")
        user.groups.add(group)
        staff.groups.add(group)
        budget = {"scope": "group", "group": "Editors", "window": "day"}
        options(BUDGETS=[{**budget, "tokens": 10_000}])
        script.add(took(9_900, 100), took())
        play()

        with pytest.raises(Limited, match="the group “Editors”, 10,000 tokens a day"):
            accept(submission(user_id=staff.pk))
        staff.groups.clear()
        assert play(user_id=staff.pk).state == "succeeded"

    def test_scopes_of_a_row(self, play, script, submission):
        Budget.objects.create(scope="user", window="day", tokens=10_000)
        script.add(took(9_900, 100))
        play()

        with pytest.raises(Limited, match="Your budget"):
            accept(submission())

    def test_own_budget_takes_the_place_of_each_users(
        self, play, script, options, user, submission, staff
    ):
        options(BUDGETS=[{**DAY, "tokens": 10_000}])
        Budget.objects.create(scope="user", window="day", user=user, tokens=50_000)
        script.add(took(20_000, 0), took(20_000, 0), took())
        play()
        play(user_id=staff.pk)

        with pytest.raises(Limited):
            accept(submission(user_id=staff.pk))
        assert play().state == "succeeded"

    def test_the_one_that_opens_last_is_named(self, play, script, options, submission):
        budgets = [{"scope": "user", "window": window} for window in ("day", "minute")]
        options(BUDGETS=[{**budget, "tokens": 10_000} for budget in budgets])
        script.add(took(9_900, 100))
        play()

        with pytest.raises(Limited, match="a day"):
            accept(submission())


@pytest.mark.row("U02")
class TestRate:
    def test_rate_of_a_user(self, submission, options, staff):
        options(RATES={"USER": "2/m"}, LIMITS={"RUNS_PER_USER": 100})
        for _ in range(2):
            accept(submission())

        with pytest.raises(Limited, match="You have sent many messages") as limited:
            accept(submission())
        wait = limited.value.opens_at - timezone.now()
        assert timedelta(0) < wait <= timedelta(minutes=1)
        accept(submission(user_id=staff.pk))

    def test_rate_of_the_site(self, submission, options, staff):
        options(RATES={"SITE": "1/m"})
        accept(submission(user_id=staff.pk))

        with pytest.raises(Limited, match="Many people"):
            accept(submission())

    def test_rate_opens(self, submission, options):
        options(RATES={"USER": "1/m"}, LIMITS={"RUNS_PER_USER": 100})
        accept(submission())
        Run.objects.update(created_at=timezone.now() - timedelta(seconds=61))

        assert accept(submission()).is_new

    def test_repeat_of_a_message_is_none(self, submission, options):
        options(RATES={"USER": "1/m"})
        sent = submission()
        accept(sent)

        assert not accept(sent).is_new

    def test_refused_message_leaves_nothing(self, submission, options):
        options(RATES={"USER": "1/m"}, LIMITS={"RUNS_PER_USER": 100})
        accept(submission())

        with pytest.raises(Limited):
            accept(submission())
        assert Run.objects.count() == 1
