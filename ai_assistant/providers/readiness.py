"""Whether a model profile can answer: what it lacks, and one real call to try it."""

import asyncio
import os
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant, ModelError
from ai_assistant.providers.base import (
    DIRECT,
    LITELLM,
    is_litellm_installed,
    provider_for,
    provider_path,
    with_masked_secrets,
)
from ai_assistant.providers.errors import error_text
from ai_assistant.providers.openai_compatible.connections import (
    is_installed as is_direct_installed,
)
from ai_assistant.providers.openai_compatible.servers import find_endpoint
from ai_assistant.types import ModelRequest, ReplyEnd, TextDelta

TRY_TIMEOUT_S = 60.0  # a local server may have to load its model first
TRY_PROMPT = "Reply with the word OK."
SAID_CHARS = 200
NOT_SET = "Not set: "


def missing_of(name: str) -> str:
    """
    Return what the profile `name` lacks, as an operator would name it; empty: nothing.

    That is a setting, an environment variable or a package. Nothing is imported, and
    no server is asked.
    """
    try:
        profile = conf.profile(name)
    except ImproperlyConfiguredAssistant:
        return conf.typed("PROFILES", name)
    if not profile.get("MODEL"):
        return conf.typed("PROFILES", name, "MODEL")
    own = conf.get("PROFILES")[name]
    # A server of one's own may ask for no key.
    if key_is_missing(own) and not own.get("API_BASE"):
        return str(own["API_KEY_ENV"])
    return _missing_of_provider(profile)


def _missing_of_provider(profile: Mapping[str, Any]) -> str:
    path = provider_path(profile)
    if path == LITELLM:
        return "" if is_litellm_installed() else "litellm"
    if path != DIRECT:
        return ""
    if not is_direct_installed():
        return "ai-assistant[openai]"
    base, key = str(profile.get("API_BASE") or ""), str(profile.get("API_KEY") or "")
    try:
        find_endpoint(str(profile["MODEL"]), base=base, key=key)
    except ModelError as error:
        return error.detail.removeprefix(NOT_SET).rstrip(".")
    return ""


def key_is_missing(profile: Mapping[str, Any]) -> bool:
    """
    Return whether the variable that holds the profile's key is empty.

    The provider's own variable, OPENAI_API_KEY for example, will do as well.
    """
    variable = profile.get("API_KEY_ENV", "")
    if not variable or profile.get("API_KEY") or os.environ.get(variable):
        return False
    key_name = f"{str(profile.get('MODEL')).partition('/')[0].upper()}_API_KEY"
    return bool(profile.get("API_BASE")) or not os.environ.get(key_name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """
    What one call of a model has come to.

    `text` is what the model said, or the sentence about its error; `detail` is for the
    operator alone.
    """

    ok: bool
    text: str
    seconds: float
    code: str = ""
    detail: str = ""


async def try_model(profile: Mapping[str, Any]) -> Trial:
    """Make one short call of the profile's model, and tell what came of it."""
    begun = time.monotonic()
    try:
        async with asyncio.timeout(TRY_TIMEOUT_S):
            said = await _ask(profile)
    except TimeoutError:
        return _failed(ModelError("first_byte_timeout"), begun)
    except ModelError as error:
        return _failed(error, begun)
    text = said.strip()[:SAID_CHARS] or _("It ended without a word.")
    return Trial(ok=True, text=text, seconds=time.monotonic() - begun)


async def _ask(profile: Mapping[str, Any]) -> str:
    provider = provider_for(profile)
    await provider.ready()
    request = ModelRequest(
        model=str(profile["MODEL"]),
        messages=[{"role": "user", "content": TRY_PROMPT}],
        api_base=str(profile.get("API_BASE") or ""),
        api_key=str(profile.get("API_KEY") or ""),
        options=profile.get("OPTIONS", {}),
    )
    said = ""
    async with aclosing(with_masked_secrets(provider.stream(request))) as chunks:
        async for chunk in chunks:
            if isinstance(chunk, TextDelta):
                said = (said + chunk.text)[:SAID_CHARS]
            elif isinstance(chunk, ReplyEnd):
                break
    return said


def _failed(error: ModelError, begun: float) -> Trial:
    return Trial(
        ok=False,
        text=error_text(error),
        seconds=time.monotonic() - begun,
        code=error.code,
        detail=error.detail,
    )
