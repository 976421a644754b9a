"""Policy, budgets, other sites, and the models that the data tools leave alone."""

import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.apps import apps
from django.conf import settings
from django.contrib.admin.sites import all_sites
from django.core.checks import CheckMessage
from django.core.exceptions import FieldDoesNotExist
from django.db import models

from ai_assistant import conf
from ai_assistant.changes.capture.files import backup_storage
from ai_assistant.checks.messages import has_model, problem
from ai_assistant.checks.profiles import is_provider
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.models.policy import pattern_error
from ai_assistant.models.usage import budget_problem
from ai_assistant.providers import price_list
from ai_assistant.providers.base import DIRECT, provider_path
from ai_assistant.providers.prices import INPUT, OUTPUT, has_prices
from ai_assistant.registry import registry
from ai_assistant.safety.limits import Rate
from ai_assistant.safety.policy.policy import DECISIONS, meant_by
from ai_assistant.safety.policy.sensitive import (
    WORD_BREAKS,
    is_opened_field,
    is_sensitive_field,
    is_sensitive_model,
)
from ai_assistant.types import Provider


def check_safety() -> Iterator[CheckMessage]:
    """Yield what is wrong with AI_ASSISTANT['POLICY']."""
    for tools, decision in conf.get("POLICY").items():
        yield from _wrong_rule(tools, decision)


def _wrong_rule(tools: Any, decision: object) -> Iterator[CheckMessage]:
    place = conf.typed("POLICY", tools)
    if decision not in DECISIONS:
        yield problem(
            "ai_assistant.E070",
            f"{place} is {decision!r}.",
            "Use 'allow', 'ask' or 'deny'.",
        )
    error = pattern_error(tools) if isinstance(tools, str) else "is not a string"
    if error:
        yield problem(
            "ai_assistant.E170",
            f"Pattern {tools!r} of AI_ASSISTANT['POLICY'] {error}.",
            "Write a simpler one, or the name of a tool.",
        )
        return
    registered = registry.tools()
    matching = [registered[name] for name in meant_by(tools, registered)]
    if not matching:
        names = ", ".join(sorted(registered)) or "none"
        yield problem(
            "ai_assistant.W071",
            f"AI_ASSISTANT['POLICY'] names {tools!r}, but there is no tool of that "
            "name.",
            f"Correct or remove it. Registered are: {names}.",
        )
    elif decision == "allow" and all(tool.effect == "destructive" for tool in matching):
        yield problem(
            "ai_assistant.W072",
            f"{place} is 'allow', but the tool is destructive: it asks anyway.",
            "Use 'ask' or 'deny'.",
        )


KEYS = frozenset({"scope", "window", "tokens", "usd", "group", "user"})


def check_budgets() -> list[CheckMessage]:
    """Return what is wrong with limits of use."""
    messages = list(_wrong_budgets())
    return [*messages, *_wrong_rates(), *_prices(), *([] if messages else _no_price())]


def _wrong_budgets() -> Iterator[CheckMessage]:
    for number, budget in enumerate(conf.get("BUDGETS")):
        if unknown := sorted(set(budget) - KEYS, key=str):
            fault_text = f"has no key {unknown[0]!r}."
        elif sentence := budget_problem(budget):
            fault_text = f"is {budget!r}. {sentence}"
        else:
            continue
        yield problem(
            "ai_assistant.E150",
            f"AI_ASSISTANT['BUDGETS'][{number}] {fault_text}",
            "Write it like {'scope': 'user', 'window': 'day', 'tokens': 100000}; "
            "docs/budgets.md lists the keys.",
        )


def _wrong_rates() -> Iterator[CheckMessage]:
    for name in conf.get("RATES"):
        try:
            Rate.configured(name)
        except ImproperlyConfiguredAssistant as error:
            yield problem(
                "ai_assistant.E151", str(error), "Leave it empty for no limit."
            )


def _prices() -> Iterator[CheckMessage]:
    for name, profile in conf.get("PROFILES").items():
        if not isinstance(profile, Mapping):
            continue  # E010 reports it
        prices = {key: profile[key] for key in (INPUT, OUTPUT) if key in profile}
        if all(_is_price(value) for value in prices.values()) and len(prices) != 1:
            continue
        yield problem(
            "ai_assistant.E152",
            f"AI_ASSISTANT['PROFILES'][{name!r}] has the prices {prices!r}.",
            f"Give {INPUT!r} and {OUTPUT!r}, each 0 or more: the price of a "
            "million tokens in US dollars.",
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
            yield problem(
                "ai_assistant.W153",
                "A budget limits money, but it is not known what a call with the "
                f"profile {name!r} costs: it counts as nothing.",
                f"Give the profile {INPUT!r} and {OUTPUT!r}, or limit tokens.",
            )


def _may_have_price(profile: Mapping[str, Any]) -> bool:
    if has_prices(profile) or not profile.get("MODEL"):
        return True
    path = provider_path(profile)
    if path == DIRECT:
        return price_list.is_there()
    try:
        provider = conf.import_named("PROFILES", path)
    except ImproperlyConfiguredAssistant:
        return True  # E012 reports it
    return not is_provider(provider) or provider.price_usd is not Provider.price_usd


FORM = "Write it like 'https://app.example.com' or 'https://*.example.com'."
LOCAL = ("localhost", "127.0.0.1", "::1")


def check_doors() -> list[CheckMessage]:
    """Return what is wrong with CORS_ORIGINS and the settings of tokens."""
    return [*_origins(), *_tokens(), *_agui()]


def _origins() -> Iterator[CheckMessage]:
    for origin in conf.get("CORS_ORIGINS"):
        parts = _parts(origin)
        if parts is None:
            yield problem(
                "ai_assistant.E180",
                f"AI_ASSISTANT['CORS_ORIGINS'] has {origin!r}, which is not an origin.",
                f"{FORM} It has a scheme, a lower-case host and optionally a port, "
                "but no path and no trailing slash.",
            )
        elif parts.scheme == "http" and parts.hostname not in LOCAL:
            yield problem(
                "ai_assistant.W181",
                f"AI_ASSISTANT['CORS_ORIGINS'] has {origin!r}, whose pages anybody on "
                "the network path can change, and so take their access token.",
                "Serve them over https.",
            )


def _agui() -> Iterator[CheckMessage]:
    if conf.get("CORS_ORIGINS") and find_spec("ag_ui") is None:
        yield problem(
            "ai_assistant.I184",
            "Pages of CORS_ORIGINS can use the REST API, but not AG-UI: ag-ui-protocol "
            "is not installed, and 'agui/' answers 501.",
            "Install it if they need it: pip install 'ai-assistant[agui]'.",
        )


def _parts(origin: str) -> SplitResult | None:
    """Return the parts of an origin or a pattern of origins, else None."""
    try:
        parts = urlsplit(origin)
        host = parts.hostname or ""
        _ = parts.port  # raises for an invalid port
    except ValueError:
        return None
    normalized = f"{parts.scheme}://{parts.netloc}"
    is_plain = origin == normalized == normalized.lower() and "@" not in parts.netloc
    domain = host.removeprefix("*.")
    has_host = bool(domain) and "*" not in domain and not any(map(str.isspace, origin))
    is_web = parts.scheme in ("http", "https")
    return parts if is_plain and has_host and is_web else None


def _tokens() -> Iterator[CheckMessage]:
    days, max_days = conf.get("TOKENS", "DAYS"), conf.get("TOKENS", "MAX_DAYS")
    if max_days is not None and days > max_days:
        yield problem(
            "ai_assistant.E182",
            f"{conf.typed('TOKENS', 'DAYS')} is {days}, more than "
            f"MAX_DAYS, which is {max_days:g}.",
            "Lower the one or raise the other.",
        )


# Some of these are secrets, most are not: the site has to decide.
SUSPECT = re.compile(r"(^|_)(key|code|seed|digest)s?\d*($|_)", re.IGNORECASE)
HARMLESS = re.compile(
    r"(^|_)(post|postal|zip|country|currency|language|area|sort)_(key|code)s?($|_)",
    re.IGNORECASE,
)
TEXTS = (models.CharField, models.TextField, models.BinaryField)
SUSPECTS_NAMED = 20


def check_secrets() -> Iterator[CheckMessage]:
    """Yield one message that names the fields of the admin which may be secrets."""
    registered: set[Any] = {model for site in all_sites for model in site._registry}
    suspects = sorted(
        f"{model._meta.label_lower}.{field.name}"
        for model in registered
        if issubclass(model, models.Model) and not is_sensitive_model(model)
        for field in model._meta.concrete_fields
        if _is_suspect(field)
    )
    if not suspects:
        return
    rest = (
        f" and {len(suspects) - SUSPECTS_NAMED} more"
        if len(suspects) > SUSPECTS_NAMED
        else ""
    )
    yield problem(
        "ai_assistant.I131",
        "The assistant may read these fields, and judging by their names some may be "
        f"secrets: {', '.join(suspects[:SUSPECTS_NAMED])}{rest}.",
        "Name those that are secret in AI_ASSISTANT['DATA']['SENSITIVE'], and the "
        "others in AI_ASSISTANT['DATA']['NOT_SENSITIVE'], as 'shop.order.pickup_code'.",
    )


def _is_suspect(field: Any) -> bool:
    name = WORD_BREAKS.sub("_", field.name)
    is_text = isinstance(field, TEXTS) and not field.choices and not field.is_relation
    is_named = SUSPECT.search(name) and not HARMLESS.search(name)
    is_open = not is_sensitive_field(field) and not is_opened_field(field)
    return bool(is_text and is_named and is_open)


def check_data() -> Iterator[CheckMessage]:
    """Yield what is wrong with MODELS_EXCLUDED and READ_ONLY of AI_ASSISTANT['DATA']."""
    for name in ("MODELS_EXCLUDED", "READ_ONLY"):
        for label in conf.get("DATA", name):
            if not _is_known(str(label).lower(), may_be_field=name == "READ_ONLY"):
                yield problem(
                    "ai_assistant.E130",
                    f"AI_ASSISTANT['DATA'][{name!r}] names {label!r}, but there is "
                    "no such model.",
                    "Write app.model, as 'shop.order', or remove it.",
                )


def _is_known(label: str, *, may_be_field: bool) -> bool:
    if may_be_field and label.count(".") == 2:
        label, _dot, field = label.rpartition(".")
        model = apps.get_model(label) if has_model(label) else None
        return model is not None and field in {
            one.name for one in model._meta.get_fields()
        }
    return has_model(label)


def check_changes() -> list[CheckMessage]:
    """Return what is wrong with the settings of the images of changes."""
    return [*_storage(), *_written_along()]


def _storage() -> Iterator[CheckMessage]:
    setting = conf.get("STASH_STORAGE")
    try:
        storage = backup_storage()
    except Exception as error:  # noqa: BLE001 - storages raise what they like
        yield problem(
            "ai_assistant.E140",
            f"AI_ASSISTANT['STASH_STORAGE'] is {setting!r}, which is not a storage: "
            f"{error}",
            "Give a name of STORAGES or the dotted path of a storage class.",
        )
        return
    location = getattr(storage, "location", None)
    folders = filter(None, (settings.MEDIA_ROOT, settings.STATIC_ROOT))
    served = [Path(str(folder)).resolve() for folder in folders]
    if location and any(map(Path(location).resolve().is_relative_to, served)):
        yield problem(
            "ai_assistant.E141",
            f"AI_ASSISTANT['STASH_STORAGE'] keeps old files in {str(location)!r}, "
            "which the site serves.",
            "Give a storage outside of MEDIA_ROOT and STATIC_ROOT.",
        )


def _written_along() -> Iterator[CheckMessage]:
    for name in conf.get("DATA", "WRITTEN_ALONG"):
        app, _dot, path = str(name).partition(".")
        model, _dot, field = path.partition(".")
        try:
            options = apps.get_model(app.lower(), model)._meta
            if field:
                options.get_field(field)
        except (LookupError, FieldDoesNotExist):
            yield problem(
                "ai_assistant.E142",
                f"AI_ASSISTANT['DATA']['WRITTEN_ALONG'] names {name!r}, but there is no "
                "such model or field.",
                "Write app.model or app.model.field, as 'shop.order.changed_by', or "
                "remove it.",
            )
