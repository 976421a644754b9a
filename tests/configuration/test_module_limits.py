"""A run in a module ends at the module's limits, which tighten and never loosen."""

from decimal import Decimal
from typing import ClassVar

import pytest

from ai_assistant import ContextModule, conf, models, register
from ai_assistant.configuration.problems.stored import module_problems
from ai_assistant.models.usage import UsageLedger
from ai_assistant.modules.limits import RunLimits, limits_of
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply, run_assistant
from ai_assistant.types import Usage
from tests.configuration.test_modules import GROUPS, eva

__all__ = ["eva"]

pytestmark = [pytest.mark.django_db, pytest.mark.row("U02")]

LOOK = call("search_objects", {"model": "auth.group"})
LARGE = Usage(input_tokens=900_000, output_tokens=100_000, cost_usd=Decimal(1))


@pytest.fixture
def site(settings):
    """Return a function that changes settings of the assistant."""

    def change(**own):
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, own)

    return change


@pytest.fixture
def of_code():
    """Register a module for the pages of groups, with two steps at most."""
    with registry.restored():

        @register
        class TeamsModule(ContextModule):
            matches: ClassVar = ["admin:auth_group_*"]
            limits: ClassVar = {"steps": 2, "usd": 0.5}

        yield


def play(user, *replies, page=GROUPS):
    """Play a run whose model would never end by itself."""
    said = [*replies, *[[LOOK]] * 12]
    asked = []

    async def model(request):
        asked.append(request)
        return said[len(asked) - 1]

    played = run_assistant(user, page, "Look", provider=model)
    return played, len(asked)


class TestSteps:
    def test_run_ends_at_the_steps_of_its_module(self, eva):
        models.Module.objects.create(name="admin-list", steps=2)

        played, asked = play(eva)

        assert (played.state, played.run.error_code) == ("limited", "limit_steps")
        assert asked == 2
        assert "Stopped after 2 steps" in played.run.error_text

    def test_elsewhere_it_is_not_limited(self, eva):
        models.Module.objects.create(name="admin-list", steps=2)

        assert play(eva, page=f"{GROUPS}add/")[1] > 2

    @pytest.mark.parametrize(
        ("row", "of_site", "ended"), [(1, 10, 1), (5, 10, 2), (None, 10, 2), (5, 1, 1)]
    )
    def test_the_tightest_of_site_code_and_row_holds(
        self, eva, of_code, site, row, of_site, ended
    ):
        site(LIMITS={"STEPS": of_site})
        models.Module.objects.create(name="teams", steps=row)

        assert play(eva)[1] == ended

    def test_module_that_is_switched_off_still_limits_what_its_code_does(
        self, eva, of_code
    ):
        models.Module.objects.create(name="teams", is_active=False)

        assert play(eva)[1] == 2


class TestMoney:
    @pytest.mark.parametrize(
        ("limit", "words"),
        [({"tokens": 500_000}, "500,000 tokens"), ({"usd": "0.5"}, "0.50 US dollars")],
    )
    def test_run_ends_once_its_tokens_or_its_money_are_used(self, eva, limit, words):
        models.Module.objects.create(name="admin-list", **limit)

        played, asked = play(eva, reply("", LOOK, usage=LARGE))

        assert (played.state, asked) == ("limited", 1)
        assert f"The budget of one answer, {words}, is used up." in (
            played.run.error_text
        )

    def test_the_next_run_counts_anew(self, eva):
        models.Module.objects.create(name="admin-list", tokens=500_000)
        play(eva, reply("", LOOK, usage=LARGE))

        assert run_assistant(eva, GROUPS, "Hi", replies=["Hello."]).state == "succeeded"

    def test_limit_that_no_request_fits_into_is_said_to_be_too_small(self, eva):
        models.Module.objects.create(name="admin-list", tokens=1)

        played, asked = play(eva)

        assert (played.state, asked) == ("limited", 0)
        assert "The limit of the module “admin-list”" in played.run.error_text

    def test_nothing_is_reserved_where_no_limit_is_set(self, eva):
        models.Module.objects.create(name="admin-list", steps=3)

        played, _asked = play(eva)

        assert played.state == "limited"
        assert not UsageLedger.objects.exclude(state="settled").exists()


@pytest.mark.parametrize(
    ("profile", "is_told"),
    [
        ({"MODEL": "openai/nobody-knows"}, True),
        ({"MODEL": "openai/gpt-4o"}, False),
        (
            {"MODEL": "x/y", "INPUT_USD_PER_MTOK": 1, "OUTPUT_USD_PER_MTOK": 1},
            False,
        ),
        ({"MODEL": "offline", "PROVIDER": "offline"}, False),
    ],
)
def test_limit_of_costs_without_a_price_is_told(site, profile, is_told):
    site(PROFILES={"default": None, "own": profile})
    models.Module.objects.create(name="admin-list", profile="own", usd=1)

    told = [problem.text for problem in module_problems()]

    assert ("is not known" in " ".join(told)) == is_told


def test_what_is_no_limit_limits_nothing():
    class Odd(ContextModule):
        limits: ClassVar = {"steps": 0, "run_s": "soon", "usd": -1, "more": 3}

    assert limits_of(Odd()) == RunLimits()
