"""A call of a model outside of the loop: a short text, in one go."""

from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from ai_assistant.providers.base import with_masked_secrets
from ai_assistant.providers.prices import priced
from ai_assistant.types import ModelRequest, Provider, ReplyEnd, TextDelta, Usage

# Errors after which the provider wants no money.
UNUSED = ("bad_key", "rate_limited", "no_model", "bad_request", "not_configured")
SAID_CHARS = 4000  # of a model that does not stop


def request_of(
    profile: Mapping[str, Any], messages: list[dict[str, str]]
) -> ModelRequest:
    """Return the request for the model of a profile."""
    return ModelRequest(
        model=str(profile.get("MODEL", "")),
        messages=messages,
        api_base=str(profile.get("API_BASE") or ""),
        api_key=str(profile.get("API_KEY") or ""),
        options=profile.get("OPTIONS", {}),
    )


async def ask(
    provider: Provider,
    request: ModelRequest,
    profile: Mapping[str, Any],
    most: int = SAID_CHARS,
) -> tuple[str, Usage]:
    """Return what the model says, and what that took. Raise ModelError."""
    said = ""
    async with aclosing(with_masked_secrets(provider.stream(request))) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextDelta):
                said = (said + chunk.text)[:most]
            elif isinstance(chunk, ReplyEnd):
                return said, priced(profile, chunk).usage
    return said, Usage()
