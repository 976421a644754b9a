"""Policy, budgets, and what programs and pages of other sites may do."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.core.checks import CheckMessage, Error, Info, Warning
from django.core.checks import Warning as CheckWarning

from ai_assistant import conf
from ai_assistant.checks.profiles import is_provider
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.models.policy import pattern_error
from ai_assistant.models.usage import budget_problem
from ai_assistant.providers.base import DEFAULT
from ai_assistant.providers.prices import INPUT, OUTPUT, has_prices
from ai_assistant.registry import registry
from ai_assistant.safety.limits import Rate
from ai_assistant.safety.policy.rules import DECISIONS, meant_by
from ai_assistant.types import Provider


def check_policy() -> list[CheckMessage]:
    """Return what is wrong with AI_ASSISTANT['POLICY']."""
    policy: Mapping[Any, Any] = conf.get("POLICY")
    return [message for tools, said in policy.items() for message in _one(tools, said)]


def _one(tools: Any, said: object) -> Iterator[CheckMessage]:
    place = f"AI_ASSISTANT['POLICY'][{tools!r}]"
    if said not in DECISIONS:
        yield Error(
            f"{place} is {said!r}.",
            hint="Use 'allow', 'ask' or 'deny'.",
            id="ai_assistant.E070",
        )
    if error := _key_error(tools):
        yield Error(
            f"Pattern {tools!r} of AI_ASSISTANT['POLICY'] {error}.",
            hint="Write a simpler one, or the name of a tool.",
            id="ai_assistant.E170",
        )
        return
    every = registry.tools()
    meant = [every[name] for name in meant_by(tools, every)]
    if not meant:
        known = ", ".join(sorted(registry.tools())) or "none"
        yield Warning(
            f"AI_ASSISTANT['POLICY'] names {tools!r}, and there is no tool of that "
            "name.",
            hint=f"Correct or remove it. Registered are: {known}.",
            id="ai_assistant.W071",
        )
    elif said == "allow" and all(tool.effect == "destructive" for tool in meant):
        yield Warning(
            f"{place} is 'allow', but the tool is destructive: it asks all the same.",
            hint="Use 'ask' or 'deny'.",
            id="ai_assistant.W072",
        )


def _key_error(tools: object) -> str:
    return pattern_error(tools) if isinstance(tools, str) else "is no text"


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
    for name in conf.get("RATES"):
        try:
            Rate.configured(name)
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
    if not is_provider(provider):
        return True  # E012 tells
    return provider.price_usd is not Provider.price_usd


FORM = "Write it like 'https://app.example.com' or 'https://*.example.com'."
LOCAL = ("localhost", "127.0.0.1", "::1")


def check_doors() -> list[CheckMessage]:
    """Return what is wrong with CORS_ORIGINS and the settings of tokens."""
    return [*_origins(), *_tokens(), *_agui()]


def _origins() -> Iterator[CheckMessage]:
    for origin in conf.get("CORS_ORIGINS"):
        parts = _parts(origin)
        if parts is None:
            yield Error(
                f"AI_ASSISTANT['CORS_ORIGINS'] has {origin!r}, which is no origin.",
                hint=f"{FORM} It has a scheme, a host in lower case and perhaps a port, "
                "no path and no slash at its end.",
                id="ai_assistant.E180",
            )
        elif parts.scheme == "http" and parts.hostname not in LOCAL:
            yield CheckWarning(
                f"AI_ASSISTANT['CORS_ORIGINS'] has {origin!r}, whose pages anybody on "
                "the way can change, and take their access token.",
                hint="Serve them over https.",
                id="ai_assistant.W181",
            )


def _agui() -> Iterator[CheckMessage]:
    if conf.get("CORS_ORIGINS") and find_spec("ag_ui") is None:
        yield Info(
            "Pages of CORS_ORIGINS can use the REST API, but not AG-UI: ag-ui-protocol "
            "is not installed, and 'agui/' answers 501.",
            hint="Install it if they need it: pip install 'ai-assistant[agui]'.",
            id="ai_assistant.I184",
        )


def _parts(origin: str) -> SplitResult | None:
    """Return the parts of what is an origin or a pattern of some, else None."""
    try:
        parts = urlsplit(origin)
        host = parts.hostname or ""
        _ = parts.port  # raises what is no port
    except ValueError:
        return None
    own = f"{parts.scheme}://{parts.netloc}"
    plain = origin == own == own.lower() and "@" not in parts.netloc
    bare = host.removeprefix("*.")
    good = bool(bare) and "*" not in bare and not any(map(str.isspace, origin))
    return parts if plain and good and parts.scheme in ("http", "https") else None


def _tokens() -> Iterator[CheckMessage]:
    days, most = conf.get("TOKENS", "DAYS"), conf.get("TOKENS", "MAX_DAYS")
    if most is not None and days > most:
        yield Error(
            f"{conf.typed('TOKENS', 'DAYS')} is {days}, more than "
            f"MAX_DAYS, which is {most:g}.",
            hint="Make the one smaller, or the other greater.",
            id="ai_assistant.E182",
        )
