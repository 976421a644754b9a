"""Budgets, rates of messages, and the prices without which money is not known."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.models.usage import budget_problem
from ai_assistant.providers.base import DEFAULT
from ai_assistant.providers.prices import INPUT, OUTPUT, has_prices
from ai_assistant.safety.message_rate import message_rate

KEYS = frozenset({"scope", "window", "tokens", "usd", "group", "user"})


def check_budgets() -> list[CheckMessage]:
    """Return what is wrong with limits of use."""
    wrong = list(_wrong_budgets())
    return [*wrong, *_wrong_rates(), *_prices(), *([] if wrong else _no_price())]


def _wrong_budgets() -> Iterator[CheckMessage]:
    for number, budget in enumerate(conf.get("BUDGETS")):
        place = f"AI_ASSISTANT['BUDGETS'][{number}]"
        if unknown := sorted(set(budget) - KEYS, key=str):
            problem = f"has no key {unknown[0]!r}."
        elif sentence := budget_problem(budget):
            problem = f"is {budget!r}. {sentence}"
        else:
            continue
        yield Error(
            f"{place} {problem}",
            hint="Write it like {'scope': 'user', 'window': 'day', 'tokens': 100000}; "
            "docs/budgets.md lists the keys.",
            id="ai_assistant.E150",
        )


def _wrong_rates() -> Iterator[CheckMessage]:
    for name in ("RATE_USER", "RATE_SITE", "API_RATE", "API_WRITE_RATE"):
        try:
            if conf.get(name):
                message_rate(name)
        except ImproperlyConfiguredAssistant as error:
            yield Error(
                str(error), hint="Leave it empty for no limit.", id="ai_assistant.E151"
            )


def _prices() -> Iterator[CheckMessage]:
    for name, profile in conf.get("PROFILES").items():
        if not isinstance(profile, Mapping):
            continue  # E010 tells
        given = {key: profile[key] for key in (INPUT, OUTPUT) if key in profile}
        if all(_is_price(value) for value in given.values()) and len(given) != 1:
            continue
        yield Error(
            f"AI_ASSISTANT['PROFILES'][{name!r}] has the prices {given!r}.",
            hint=f"Give {INPUT!r} and {OUTPUT!r}, each 0 or more: the price of a "
            "million tokens in US dollars.",
            id="ai_assistant.E152",
        )


def _is_price(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value >= 0


def _no_price() -> Iterator[CheckMessage]:
    if not any("usd" in budget for budget in conf.get("BUDGETS")):
        return
    for name, profile in conf.get("PROFILES").items():
        if isinstance(profile, Mapping) and not _may_have_price(profile):
            yield Warning(
                f"A budget limits money, and nobody knows what a call with the profile "
                f"{name!r} costs: it counts as nothing.",
                hint=f"Give the profile {INPUT!r} and {OUTPUT!r}, or limit tokens.",
                id="ai_assistant.W153",
            )


def _may_have_price(profile: Mapping[str, Any]) -> bool:
    if has_prices(profile) or not profile.get("MODEL"):
        return True
    try:
        provider = conf.load("PROFILES", profile.get("PROVIDER", DEFAULT))
    except ImproperlyConfiguredAssistant:
        return True  # E012 tells
    return hasattr(provider, "price_usd")
