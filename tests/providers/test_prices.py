"""What a call costs, by the profile or by litellm's list; and what nobody knows."""

import asyncio
from decimal import Decimal

import pytest

from ai_assistant.providers.litellm import LiteLLMProvider
from ai_assistant.providers.prices import price_usd, priced
from ai_assistant.testing import ScriptedProvider
from ai_assistant.types import ReplyEnd, Usage

PRICED = {"INPUT_USD_PER_MTOK": 0.25, "OUTPUT_USD_PER_MTOK": 2}
MILLION = 1_000_000


@pytest.fixture(scope="module")
def litellm():
    """Return a provider of a model, when litellm is loaded."""
    asyncio.run(LiteLLMProvider({"MODEL": "x"}).ready())
    return lambda model: LiteLLMProvider({"MODEL": model})


class TestPrice:
    def test_price_of_the_profile(self):
        found = price_usd(PRICED, ScriptedProvider(), MILLION, MILLION)

        assert found == Decimal("2.25")

    def test_price_of_the_profile_goes_first(self, litellm):
        provider = litellm("gpt-4o-mini")

        assert price_usd(PRICED, provider, MILLION, 0) == Decimal("0.25")

    def test_price_of_the_list(self, litellm):
        provider = litellm("gpt-4o-mini")

        assert price_usd({}, provider, MILLION, MILLION) == Decimal("0.75")

    def test_price_not_in_the_list(self, litellm):
        assert price_usd({}, litellm("openai/our-own"), 1, 1) is None

    def test_price_of_a_provider_without_a_list(self):
        assert price_usd({}, ScriptedProvider(), 1, 1) is None

    def test_price_of_half_a_price(self):
        half = {"INPUT_USD_PER_MTOK": 1}

        assert price_usd(half, ScriptedProvider(), 1, 1) is None


class TestCost:
    usage = Usage(input_tokens=MILLION, output_tokens=500_000, cost_usd=Decimal(9))

    @pytest.mark.parametrize(
        ("profile", "cost"), [({}, Decimal(9)), (PRICED, Decimal("1.25"))]
    )
    def test_cost_is_by_the_profile_else_what_the_provider_says(self, profile, cost):
        end = priced(profile, ReplyEnd(finish_reason="stop", usage=self.usage))

        assert end.usage.cost_usd == cost

    def test_cost_of_a_provider_that_does_not_count_is_as_it_says(self):
        end = ReplyEnd(finish_reason="stop", usage=Usage())

        assert priced(PRICED, end) is end
