"""Thirty runs at once on one budget: what they overspend, and what comes after."""

import asyncio
import os
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db.models import Sum

import ai_assistant
from ai_assistant.engine.accounting.usage import _reserve
from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.execution.sweep import claim_runs
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.exceptions import Limited
from ai_assistant.models.call import ToolCall
from ai_assistant.models.run import Run
from ai_assistant.models.usage import Budget, UsageLedger
from ai_assistant.registry import registry
from ai_assistant.safety.budgets.budgets import Amount, Spender
from ai_assistant.safety.budgets.ledger import CallCost, reserve
from ai_assistant.testing import call, reply
from ai_assistant.types import Usage
from tests.engine.people import at_once
from tests.servers.postgres import passed_on

RUNS = 30
LIMIT = 200_000
NAMES = ("first", "second", "third")
COMMIT = timedelta(seconds=0.5)  # between the time in a row and its commit

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.broad]


@pytest.fixture
def race(options, function_model, submission):
    """Begin runs that never end by themselves; return how often the model was asked."""

    def begin(used):
        asked = []

        async def model(_request):
            asked.append(1)
            await asyncio.sleep(0.01)
            usage = Usage(input_tokens=used, output_tokens=0)
            return reply("", call("echo", {"text": f"{len(asked)}"}), usage=usage)

        function_model(model)
        options(
            BUDGETS=[{"scope": "site", "window": "month", "tokens": LIMIT}],
            LIMITS={"RUNS_PER_USER": 1000, "STEPS": 100},
        )
        holds = [accept(submission(), owner=this_process()).hold for _ in range(RUNS)]
        at_once(*[lambda hold=hold: asyncio.run(_execute(hold)) for hold in holds])
        return asked

    return begin


async def _execute(hold):
    await execute(hold, Flusher())


def _spent():
    return UsageLedger.objects.aggregate(sum=Sum("tokens"))["sum"]


@pytest.mark.row("U02")
class TestThirtyRuns:
    @pytest.mark.parametrize("used", [2_000, 20_000], ids=["less", "more"])
    def test_overspend(self, race, submission, used, record_property):
        """A call takes less than was reserved, or more."""
        asked = race(used)

        over = _spent() - LIMIT
        record_property("figures", f"{len(asked)} calls, {over} of {LIMIT} over")
        assert len(asked) >= LIMIT / 20_000  # as many as would fit one by one
        assert set(Run.objects.values_list("error_code", flat=True)) == {"budget"}
        assert over <= (RUNS * used if used > 10_000 else 0)
        assert not UsageLedger.objects.filter(state="reserved").exists()
        assert _calls_after_the_limit() == 0
        before = len(asked)
        if over >= 0:
            with pytest.raises(Limited):
                accept(submission())
        assert len(asked) == before


@pytest.mark.row("H23")
class TestThirtyRunsWithAgents:
    """Each asks three agents at once; there is room for some of these only."""

    @pytest.mark.parametrize("used", [4_000, 20_000], ids=["less", "more"])
    def test_overspend(
        self, options, function_model, submission, used, record_property
    ):
        asked = []

        async def model(request):
            asked.append(1)
            await asyncio.sleep(0.01)
            usage = Usage(input_tokens=used, output_tokens=0)
            is_agent = "You are one." in request.messages[0]["content"]
            is_first = request.messages[-1]["role"] == "user"
            if is_agent or not is_first:
                return reply("Done.", usage=usage)
            tasks = [{"agent": one, "task": "Do it."} for one in NAMES]
            calls = [call("ask_agent", task) for task in tasks]
            return reply("", *calls, usage=usage)

        function_model(model)
        options(
            BUDGETS=[{"scope": "site", "window": "month", "tokens": LIMIT}],
            LIMITS={"RUNS_PER_USER": 1000},
        )
        with registry.restored():
            for name in NAMES:
                ai_assistant.agent(name)(lambda context: "You are one.")
            accepted = [accept(submission()) for _ in range(RUNS)]
            while holds := claim_runs(this_process(), RUNS):
                at_once(
                    *[lambda hold=hold: asyncio.run(_execute(hold)) for hold in holds]
                )

        over = _spent() - LIMIT
        record_property("figures", f"{len(asked)} calls, {over} of {LIMIT} over")
        assert over <= (RUNS * used if used > 10_000 else 0)
        assert not UsageLedger.objects.filter(state="reserved").exists()
        assert _calls_after_the_limit() == 0
        states = set(Run.objects.values_list("state", flat=True))
        assert states <= {"limited", "succeeded"}
        assert "limited" in states
        parents = Run.objects.filter(root=None)
        assert parents.count() == len(accepted) == RUNS
        below = Run.objects.exclude(root=None)
        assert below.count() == ToolCall.objects.count()
        assert not ToolCall.objects.filter(result__isnull=True).exists()


@pytest.mark.row("U02")
def test_as_many_are_reserved_as_fit(submission, options):
    """Thirty ask at the same moment, and the budget has room for ten."""
    options(LIMITS={"RUNS_PER_USER": 1000})
    run = Run.objects.get(pk=accept(submission()).run_id)
    budget = Budget(scope="site", window="day", tokens=10_000)
    cost = CallCost(
        step_index=0, model="m", input_tokens=900, output_tokens=100, usd=None
    )
    spender = Spender(user=run.user, run_id=run.pk)
    least = Amount(tokens=1000, usd=Decimal(0))

    def reserving():
        return _reserve(lambda: reserve(run, cost), [budget], spender, least)

    said = at_once(*[reserving] * RUNS)

    assert said.count("limited") == RUNS - 10
    assert _spent() == UsageLedger.objects.count() * 1000 == 10_000
    run.conversation.delete()


def _calls_after_the_limit():
    """Return how many calls were reserved when the settled ones had used it all."""
    rows = list(UsageLedger.objects.order_by("created_at"))
    return sum(
        sum(one.tokens for one in rows if one.settled_at < row.created_at - COMMIT)
        >= LIMIT
        for row in rows
    )


@pytest.mark.faults
@pytest.mark.timeout(600)
def test_on_postgresql(postgres_server):
    """The same in a process of its own, whose database is a PostgreSQL."""
    if os.environ.get("DATABASE_URL", "").startswith("postgres"):
        pytest.skip("This is that process.")
    url = postgres_server.new_database()

    # Its pools keep their connections: the database goes with its server.
    assert passed_on(url, "-k", "not postgresql", __file__) == 5
