"""From a profile to its provider, whose request and reply are masked."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import Any

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant, ModelError
from ai_assistant.providers.stream import Filters, filter_stream
from ai_assistant.text.redaction.redact import Mask, redact_values, redact_values_json
from ai_assistant.types import ModelChunk, Provider

DEFAULT = "ai_assistant.providers.litellm.LiteLLMProvider"


def provider_for(profile: Mapping[str, Any]) -> Provider:
    """
    Return a provider for a model profile.

    Raise ModelError `not_configured` if the profile names none that can be had.
    """
    if not profile.get("MODEL"):
        raise ModelError("not_configured", "The profile has no MODEL.")
    try:
        path = profile.get("PROVIDER", DEFAULT)
        provider = conf.import_named("PROFILES", path)(profile)
    except ImproperlyConfiguredAssistant as error:
        raise ModelError("not_configured", str(error)) from error
    if not isinstance(provider, Provider):
        raise ModelError("not_configured", f"{path!r} is not a subclass of Provider.")
    return provider


def warm_up(profile: Mapping[str, Any]) -> None:
    """Begin to load what the profile's provider needs, if it needs anything."""
    with suppress(ModelError):
        provider_for(profile).warm_up()


MASKS = Filters(growing=Mask, words=redact_values, fields=redact_values_json)


def with_masked_secrets(
    stream: AsyncGenerator[ModelChunk, None],
) -> AsyncGenerator[ModelChunk, None]:
    """Yield the chunks of `stream`, with API keys masked if a server echoes them."""
    return filter_stream(stream, MASKS)
