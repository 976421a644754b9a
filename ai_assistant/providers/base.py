"""From a profile to its provider, whose request and reply are masked."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Any

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant, ModelError
from ai_assistant.providers.addresses import AddressChecked, is_allowed
from ai_assistant.providers.openai_compatible.connections import (
    is_installed as is_direct_installed,
)
from ai_assistant.providers.openai_compatible.servers import is_known, is_preferred
from ai_assistant.providers.stream import Filters, filter_stream
from ai_assistant.text.redaction.redact import Mask, redact_values, redact_values_json
from ai_assistant.types import ModelChunk, Provider

LITELLM = "ai_assistant.providers.litellm.LiteLLMProvider"
DIRECT = "ai_assistant.providers.openai_compatible.provider.OpenAICompatibleProvider"
OFFLINE = "ai_assistant.providers.offline.provider.OfflineProvider"
# How a profile names the shipped ones in short.
NAMES: Mapping[str, str] = {"direct": DIRECT, "litellm": LITELLM, "offline": OFFLINE}
# What goes before TIMEOUTS of the settings, in a profile.
FIRST_BYTE, IDLE, MODEL_CALL = TIMES = ("FIRST_BYTE_S", "IDLE_S", "MODEL_CALL_S")
# What a profile has that is a row of the admin: its key, and why it cannot be used.
OF_ROW, PROBLEM = "ROW", "PROBLEM"


def provider_path(profile: Mapping[str, Any]) -> str:
    """
    Return the dotted path of the profile's provider: what it names, else the best one.

    That is `direct` where the server speaks its protocol, else `litellm`; and of two
    that could, the one that is installed.
    """
    if named := profile.get("PROVIDER"):
        return NAMES.get(named, named)
    direct_can = is_preferred(profile) or (
        is_known(profile) and not is_litellm_installed()
    )
    if direct_can and (is_direct_installed() or not is_litellm_installed()):
        return DIRECT
    return LITELLM


@cache
def is_litellm_installed() -> bool:
    """Return whether litellm is there; it is not imported."""
    return find_spec("litellm") is not None


def provider_for(profile: Mapping[str, Any]) -> Provider:
    """
    Return a provider for a model profile.

    Raise ModelError `not_configured` if the profile names none that can be had.
    """
    provider = _provider_of(profile)
    base = str(profile.get("API_BASE") or "")
    if not profile.get(OF_ROW) or not base:
        return provider
    if not may_call(profile):
        raise ModelError("blocked_host", "Only the provider 'direct' calls it.")
    return AddressChecked(profile, provider)


def may_call(profile: Mapping[str, Any]) -> bool:
    """
    Return whether the provider of a row may call its base URL.

    litellm follows redirects, so that it is kept to hosts that MODEL_HOSTS names.
    """
    return provider_path(profile) == DIRECT or is_allowed(str(profile["API_BASE"]))


def _provider_of(profile: Mapping[str, Any]) -> Provider:
    if problem := profile.get(PROBLEM):
        raise ModelError("not_configured", str(problem))
    if not profile.get("MODEL"):
        raise ModelError("not_configured", "The profile has no MODEL.")
    try:
        path = provider_path(profile)
        provider = conf.import_named("PROFILES", path)(profile)
    except ImproperlyConfiguredAssistant as error:
        raise ModelError("not_configured", str(error)) from error
    if not isinstance(provider, Provider):
        raise ModelError("not_configured", f"{path!r} is not a subclass of Provider.")
    return provider


def warm_up(profile: Mapping[str, Any]) -> None:
    """Begin to load what the profile's provider needs, if it needs anything."""
    with suppress(ModelError):
        _provider_of(profile).warm_up()


def timeouts_of(profile: Mapping[str, Any]) -> dict[str, float]:
    """Return how long a call of a profile may take, as `with_timeouts` has it."""
    names = {"first_byte_s": FIRST_BYTE, "idle_s": IDLE, "total_s": MODEL_CALL}
    return {
        name: float(profile.get(key) or conf.get("TIMEOUTS", key))
        for name, key in names.items()
    }


MASKS = Filters(growing=Mask, words=redact_values, fields=redact_values_json)


def with_masked_secrets(
    stream: AsyncGenerator[ModelChunk, None],
) -> AsyncGenerator[ModelChunk, None]:
    """Yield the chunks of `stream`, with API keys masked if a server echoes them."""
    return filter_stream(stream, MASKS)
