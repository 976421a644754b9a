"""The price of a model call: by the profile's own prices, or the provider's list."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from ai_assistant.types import Provider, ReplyEnd

INPUT, OUTPUT = "INPUT_USD_PER_MTOK", "OUTPUT_USD_PER_MTOK"
MILLION = 1_000_000
SMALLEST_USD = Decimal("1e-8")  # as the ledger has it


def has_prices(profile: Mapping[str, Any]) -> bool:
    """Return whether the profile says what its model costs."""
    return profile.get(INPUT) is not None and profile.get(OUTPUT) is not None


def price_usd(
    profile: Mapping[str, Any],
    provider: Provider,
    input_tokens: int,
    output_tokens: int,
) -> Decimal | None:
    """Return the price of the tokens; None if it is unknown."""
    if has_prices(profile):
        return _by_profile(profile, input_tokens, output_tokens)
    return provider.price_usd(input_tokens, output_tokens)


def priced(profile: Mapping[str, Any], end: ReplyEnd) -> ReplyEnd:
    """Return the end of a reply with its cost by the profile's own prices, if any."""
    usage = end.usage
    is_counted = usage.input_tokens or usage.output_tokens  # else it is unknown
    if not is_counted or not has_prices(profile):
        return end
    cost = _by_profile(profile, usage.input_tokens, usage.output_tokens)
    return replace(end, usage=replace(usage, cost_usd=cost))


def _by_profile(
    profile: Mapping[str, Any], input_tokens: int, output_tokens: int
) -> Decimal:
    price = (
        Decimal(str(profile[INPUT])) * input_tokens
        + Decimal(str(profile[OUTPUT])) * output_tokens
    )
    return (price / MILLION).quantize(SMALLEST_USD)
