"""The model profiles: model, provider, package and key."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from itertools import chain
from typing import Any

from django.core.checks import CheckMessage

from ai_assistant import conf
from ai_assistant.checks.messages import problem
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.providers.base import TIMES, provider_path
from ai_assistant.providers.litellm import LiteLLMProvider
from ai_assistant.providers.openai_compatible.connections import PACKAGES
from ai_assistant.providers.openai_compatible.provider import OpenAICompatibleProvider
from ai_assistant.providers.readiness import key_is_missing
from ai_assistant.providers.reasoning import reasoning_problem
from ai_assistant.types import Provider

TEXTS = ("PROVIDER", "MODEL", "API_BASE", "API_KEY_ENV", "API_KEY", "LABEL", "FALLBACK")


def check_profiles() -> Iterator[CheckMessage]:
    """Yield what keeps the model from answering."""
    profiles = conf.get("PROFILES")
    if "default" not in {**profiles, **conf.profiles()}:
        yield problem(
            "ai_assistant.E010",
            "AI_ASSISTANT['PROFILES'] has no profile 'default'.",
            "Add it: a conversation uses it unless its user chooses another one.",
        )
        return
    for setting in ("TITLE_PROFILE", "SUMMARY_PROFILE"):
        if (named := conf.get(setting)) and named not in profiles:
            yield problem(
                "ai_assistant.E010",
                f"AI_ASSISTANT[{setting!r}] is {named!r}, which is no profile.",
                f"Use one of {sorted(profiles)}, or '' for the one that has answered.",
            )
    yield from _fallbacks(profiles)
    for name, profile in profiles.items():
        if "ROW" in conf.profiles().get(name, {}):
            continue  # a profile of the admin has its place; the doctor looks at those
        messages = list(_wrong_form(name, profile))
        yield from messages or chain(_model(name, profile), _provider(name, profile))


def _fallbacks(profiles: Mapping[str, Any]) -> Iterator[CheckMessage]:
    for name, profile in profiles.items():
        other = profile.get("FALLBACK", "") if isinstance(profile, Mapping) else ""
        if (
            isinstance(other, str)
            and other
            and (other not in profiles or other == name)
        ):
            yield problem(
                "ai_assistant.E010",
                f"{conf.typed('PROFILES', name, 'FALLBACK')} is {other!r}, which is no "
                "other profile.",
                f"Use one of {sorted({*profiles} - {name})}, or leave it out.",
            )


def _wrong_form(name: str, profile: object) -> Iterator[CheckMessage]:
    if not isinstance(profile, Mapping):
        yield _error(conf.typed("PROFILES", name), profile, "a dict")
        return
    for key, value in profile.items():
        if key in TEXTS and not isinstance(value, str):
            # A key's value must not stand in a message.
            safe_value = "..." if key == "API_KEY" else value
            yield _error(conf.typed("PROFILES", name, key), safe_value, "a string")
        elif key == "REASONING" and (wrong := reasoning_problem(profile)):
            yield problem(
                "ai_assistant.E010",
                f"{conf.typed('PROFILES', name, key)} {wrong}",
                "docs/settings.md shows a profile.",
            )
        elif (key == "WINDOW_TOKENS" and not _is_count(value)) or (
            key in TIMES and not _is_time(value)
        ):
            yield _error(conf.typed("PROFILES", name, key), value, "a number above 0")
        elif key == "OPTIONS" and not isinstance(value, Mapping):
            yield _error(conf.typed("PROFILES", name, key), value, "a dict")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _error(place: str, value: object, expected: str) -> CheckMessage:
    return problem(
        "ai_assistant.E010",
        f"{place} is {value!r}, not {expected}.",
        f"Give {expected}; docs/settings.md shows a profile.",
    )


def _model(name: str, profile: Mapping[str, Any]) -> Iterator[CheckMessage]:
    if not profile.get("MODEL"):
        yield problem(
            "ai_assistant.W011",
            f"{conf.typed('PROFILES', name, 'MODEL')} is not set: no message can be answered.",
            "Set it to a litellm model name, for example 'openai/gpt-5-mini', or add a "
            "model profile in the admin.",
        )
    elif key_is_missing(profile):
        yield problem(
            "ai_assistant.W014",
            f"The environment variable {profile['API_KEY_ENV']!r}, which "
            f"{conf.typed('PROFILES', name, 'API_KEY_ENV')} names, is not set.",
            "Set it to the key of the model's provider, where the server starts.",
        )


def _provider(name: str, profile: Mapping[str, Any]) -> Iterator[CheckMessage]:
    path = provider_path(profile)
    try:
        provider = conf.import_named("PROFILES", path)
    except ImproperlyConfiguredAssistant:
        yield problem(
            "ai_assistant.E012",
            f"{conf.typed('PROFILES', name, 'PROVIDER')} names {path!r}, which cannot be imported.",
            "Give 'direct', 'litellm' or the dotted path of a class, and install what "
            "it imports.",
        )
        return
    if not is_provider(provider):
        yield problem(
            "ai_assistant.E012",
            f"{conf.typed('PROFILES', name, 'PROVIDER')} names {path!r}, which is not a subclass of "
            "ai_assistant.types.Provider.",
            "Give it that base class.",
        )
    elif profile.get("MODEL"):
        yield from _packages(name, provider)


def _packages(name: str, provider: type[Provider]) -> Iterator[CheckMessage]:
    """Yield what a shipped provider needs and is not there; nothing is imported."""
    needed: Mapping[type[Provider], tuple[str, tuple[str, ...]]] = {
        LiteLLMProvider: ("litellm", ("litellm",)),
        OpenAICompatibleProvider: ("openai", PACKAGES),
    }
    kind = next((one for one in needed if issubclass(provider, one)), None)
    if kind is None:
        return
    extra, packages = needed[kind]
    for package in packages:
        if find_spec(package):
            continue
        yield problem(
            "ai_assistant.E013",
            f"{conf.typed('PROFILES', name)} needs the package {package!r}, which is not installed.",
            f"Install it: pip install 'ai-assistant[{extra}]'.",
        )
        return


def is_provider(provider: object) -> bool:
    """Return whether it is a provider class that can answer."""
    return isinstance(provider, type) and issubclass(provider, Provider)
