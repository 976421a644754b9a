"""litellm's list, read without litellm: the same prices as it says itself."""

import asyncio
from decimal import Decimal

import pytest

from ai_assistant.providers import price_list
from ai_assistant.providers.litellm import ensure_loaded
from ai_assistant.providers.litellm_stream import usage_from_chunk
from ai_assistant.providers.openai_compatible.provider import OpenAICompatibleProvider
from ai_assistant.providers.price_list import ModelFacts, facts_of
from ai_assistant.types import Usage

MODELS = (
    *("openai/gpt-4o-mini", "openai/gpt-5-mini", "openai/gpt-4.1", "openai/o3"),
    *("mistral/mistral-large-latest", "deepseek/deepseek-chat", "gpt-4o"),
    *("deepseek/deepseek-reasoner", "openai/gpt-5.4"),
)


@pytest.fixture(scope="module")
def litellm():
    return asyncio.run(ensure_loaded())


class TestPrices:
    @pytest.mark.parametrize("model", MODELS)
    @pytest.mark.parametrize(
        "usage",
        [
            Usage(input_tokens=1000, output_tokens=500),
            Usage(input_tokens=1000, output_tokens=500, cached_tokens=900),
            Usage(input_tokens=300_000, output_tokens=5000, cached_tokens=10),
            Usage(input_tokens=7, output_tokens=500, reasoning_tokens=400),
        ],
    )
    def test_prices_are_those_of_litellm(self, litellm, model, usage):
        told = litellm.Usage(
            prompt_tokens=usage.input_tokens,
            completion_tokens=usage.output_tokens,
            total_tokens=usage.input_tokens + usage.output_tokens,
            prompt_tokens_details={"cached_tokens": usage.cached_tokens},
            completion_tokens_details={"reasoning_tokens": usage.reasoning_tokens},
        )

        expected = usage_from_chunk(litellm, model, told).cost_usd

        assert facts_of(model).cost_usd(usage) == expected

    @pytest.mark.parametrize("model", ["openai/our-own", "", "mistral/gpt-4o-mini"])
    def test_unknown(self, model):
        assert facts_of(model) is None

    def test_prices_of_a_provider(self):
        ours = OpenAICompatibleProvider({"MODEL": "openai/gpt-4o-mini"})

        assert ours.price_usd(1_000_000, 1_000_000) == Decimal("0.75")

    def test_entry_without_prices(self):
        assert ModelFacts.from_entry({"mode": "chat"}).cost_usd(Usage()) is None


class TestFacts:
    def test_window_and_abilities(self):
        facts = facts_of("openai/gpt-4o-mini")

        assert facts.window_tokens == 128_000
        assert {"function_calling", "vision"} <= facts.abilities
        assert "reasoning" not in facts.abilities

    def test_facts_without_litellm(self, monkeypatch):
        monkeypatch.setattr(price_list, "find_spec", lambda name: None)
        facts_of.cache_clear()

        assert not price_list.is_there()
        assert facts_of("openai/gpt-4o-mini") is None
        facts_of.cache_clear()
