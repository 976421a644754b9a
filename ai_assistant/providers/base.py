"""From a profile to its provider."""

from collections.abc import Mapping
from typing import Any

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant, ModelError
from ai_assistant.types import Provider

DEFAULT = "ai_assistant.providers.litellm.LiteLLMProvider"


def provider_for(profile: Mapping[str, Any]) -> Provider:
    """
    Return a provider for a model profile.

    A provider is any class with `stream`, taking the profile. Raise ModelError
    `not_configured` if the profile names none that can be had.
    """
    if not profile.get("MODEL"):
        raise ModelError("not_configured", "The profile names no MODEL.")
    try:
        path = profile.get("PROVIDER", DEFAULT)
        provider: Provider = conf.load("PROFILES", path)(profile)
    except ImproperlyConfiguredAssistant as error:
        raise ModelError("not_configured", str(error)) from error
    return provider


def warm_up(profile: Mapping[str, Any]) -> None:
    """Begin to load what the profile's provider needs, if it needs anything."""
    try:
        provider = provider_for(profile)
    except ModelError:
        return
    begin = getattr(provider, "warm_up", None)
    if begin is not None:
        begin()
