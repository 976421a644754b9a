"""
What models cost and can, by litellm's list, which is read as data.

litellm itself is not imported, and of the list only the part that is asked for stays.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from ai_assistant.providers.prices import has_prices
from ai_assistant.types import Usage

FILE = "model_prices_and_context_window_backup.json"
SMALLEST_USD = Decimal("1e-9")
ABOVE = re.compile(r"_above_(\d+)(k?)_tokens")
CAN = "supports_"


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFacts:
    """What the list says of one model. Prices are in US dollars a token."""

    window_tokens: int | None = None  # of the request
    abilities: frozenset[str] = frozenset()  # "function_calling", "vision", ...
    prices: Mapping[str, Decimal]  # by the names of the list

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> Self:
        able = {key.removeprefix(CAN) for key in entry if key.startswith(CAN)}
        window = entry.get("max_input_tokens")
        return cls(
            window_tokens=window if isinstance(window, int) else None,
            abilities=frozenset(name for name in able if entry[CAN + name] is True),
            prices={
                key: Decimal(str(value))
                for key, value in entry.items()
                if "cost" in key and isinstance(value, int | float)
            },
        )

    def cost_usd(self, usage: Usage) -> Decimal | None:
        """Return what a call costs; None if no price is known."""
        price = self._price("input_cost_per_token", usage)
        told = self._price("output_cost_per_token", usage)
        if price is None or told is None:
            return None
        again = self._price("cache_read_input_token_cost", usage)
        thought = self._price("output_cost_per_reasoning_token", usage)
        cached = min(usage.cached_tokens, usage.input_tokens)
        thoughts = min(usage.reasoning_tokens, usage.output_tokens)
        cost = (
            price * (usage.input_tokens - cached)
            + (price if again is None else again) * cached
            + told * (usage.output_tokens - thoughts)
            + (told if thought is None else thought) * thoughts
        )
        return cost.quantize(SMALLEST_USD)

    def _price(self, name: str, usage: Usage) -> Decimal | None:
        """Return a price; long requests of some models have another one."""
        found, reached = self.prices.get(name), 0
        for key, price in self.prices.items():
            match = ABOVE.fullmatch(key.removeprefix(name))
            if match is None:
                continue
            above = int(match[1]) * (1000 if match[2] else 1)
            if reached < above < usage.input_tokens:
                found, reached = price, above
        return found


ONE_EACH = Usage(input_tokens=1_000_000, output_tokens=1_000_000)


def is_there() -> bool:
    """Return whether there is a list."""
    return _path() is not None


@lru_cache(maxsize=100)
def facts_of(model: str) -> ModelFacts | None:
    """Return what the list says of a model string; None if that is nothing."""
    path = _path()
    if path is None:
        return None
    text = path.read_text(encoding="utf-8")
    vendor, _, name = model.partition("/")
    for key in (model, name):
        entry = _entry(text, key) if key else None
        if entry and (key == model or entry.get("litellm_provider") == vendor):
            return ModelFacts.from_entry(entry)
    return None


def is_priced(profile: Mapping[str, Any]) -> bool:
    """Return whether the price of a profile's model is known, by itself or the list."""
    if has_prices(profile):
        return True
    facts = facts_of(str(profile.get("MODEL") or ""))
    return facts is not None and facts.cost_usd(ONE_EACH) is not None


def window_tokens(profile: Mapping[str, Any]) -> int | None:
    """Return how much the model of a profile can read: as it says, or by the list."""
    own = profile.get("WINDOW_TOKENS")
    if own:
        return int(own)
    facts = facts_of(str(profile.get("MODEL", "")))
    return facts.window_tokens if facts is not None else None


def _path() -> Path | None:
    spec = find_spec("litellm")
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder) / FILE
        if path.is_file():
            return path
    return None


def _entry(text: str, key: str) -> Mapping[str, Any] | None:
    """Return the entry of `key`, parsed alone: the whole list takes 10 MB."""
    at = re.search(rf"{re.escape(json.dumps(key))}\s*:\s*(?={{)", text)
    if at is None:
        return None
    entry: Mapping[str, Any] = json.JSONDecoder().raw_decode(text, at.end())[0]
    return entry
