"""Whether a model profile can answer: what it lacks, and one real call to try it."""

import asyncio
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant, ModelError
from ai_assistant.providers.base import (
    DIRECT,
    LITELLM,
    PROBLEM,
    is_litellm_installed,
    provider_for,
    provider_path,
    timeouts_of,
    with_masked_secrets,
)
from ai_assistant.providers.errors import error_text
from ai_assistant.providers.openai_compatible.connections import (
    is_installed as is_direct_installed,
)
from ai_assistant.providers.openai_compatible.servers import find_endpoint
from ai_assistant.providers.reasoning import reasoning_options
from ai_assistant.providers.retry import with_timeouts
from ai_assistant.types import ModelRequest, ReplyEnd, TextDelta, ToolCallDelta

TRY_TIMEOUT_S = 60.0  # a local server may have to load its model first
TRY_PROMPT = "Reply with the word OK."
TOOL_PROMPT = "Call the tool report_ready now, and say nothing else."
TRY_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "report_ready",
        "description": "Report that you can call tools.",
        "parameters": {"type": "object", "properties": {}},
    },
}
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
    if profile.get(PROBLEM):
        return _("a usable key of profile “%(name)s”") % {"name": name}
    if not profile.get("MODEL"):
        return conf.typed("PROFILES", name, "MODEL")
    own = conf.profiles()[name]
    # A server of one's own may ask for no key.
    if key_is_missing(own) and not own.get("API_BASE"):
        return str(own["API_KEY_ENV"])
    return _missing_of_provider(profile)


def _missing_of_provider(profile: Mapping[str, Any]) -> str:
    if package := missing_package(profile):
        return package
    if provider_path(profile) != DIRECT:
        return ""
    base, key = str(profile.get("API_BASE") or ""), str(profile.get("API_KEY") or "")
    try:
        find_endpoint(str(profile["MODEL"]), base=base, key=key)
    except ModelError as error:
        return error.detail.removeprefix(NOT_SET).rstrip(".")
    return ""


def missing_package(profile: Mapping[str, Any]) -> str:
    """Return what has to be installed before the profile's model can be called."""
    path = provider_path(profile)
    if path == LITELLM:
        return "" if is_litellm_installed() else "litellm"
    if path == DIRECT and not is_direct_installed():
        return "ai-assistant[openai]"
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
    What came of two calls of a model: one with a short answer, one with a tool.

    `text` is what the model said, or what is wrong in the words of an operator, as is
    `warning` of a model that answers; `detail` is the provider's own.
    """

    ok: bool
    text: str
    seconds: float
    first_s: float = 0.0  # to the first word
    warning: str = ""
    code: str = ""
    detail: str = ""


async def try_model(profile: Mapping[str, Any]) -> Trial:
    """Make two short calls of the profile's model as a run does, and tell what came."""
    begun = time.monotonic()
    spoken: list[float] = []
    try:
        async with asyncio.timeout(TRY_TIMEOUT_S):
            said, _calls = await _ask(profile, TRY_PROMPT, spoken=spoken)
    except TimeoutError:
        return _failed(profile, ModelError("first_byte_timeout"), begun)
    except ModelError as error:
        return _failed(profile, error, begun)
    ended = time.monotonic()
    first_s = min(spoken, default=ended) - begun
    warnings = [*_slowness(profile, first_s), await _tool_problem(profile)]
    return Trial(
        ok=True,
        text=said.strip()[:SAID_CHARS] or _("It ended without a word."),
        seconds=ended - begun,
        first_s=first_s,
        warning=" ".join(filter(None, warnings)),
    )


async def _tool_problem(profile: Mapping[str, Any]) -> str:
    """Return why the model that has answered is of no use for tools; empty if it is."""
    try:
        async with asyncio.timeout(TRY_TIMEOUT_S):
            _said, calls = await _ask(profile, TOOL_PROMPT, tools=[TRY_TOOL])
    except TimeoutError:
        return advice_for(profile, ModelError("first_byte_timeout"))
    except ModelError as error:
        if error.code in NO_TOOLS:
            return _("It takes no tools, so the assistant can talk but not act.")
        return advice_for(profile, error)
    if TRY_TOOL["function"]["name"] in calls:
        return ""
    return _("It did not call the tool that it was asked to call: it may be unable to.")


def _slowness(profile: Mapping[str, Any], first_s: float) -> Iterator[str]:
    limit_s = timeouts_of(profile)["first_byte_s"]
    if first_s > limit_s / 2:
        yield _(
            "It began to speak after %(first)s s; calls are given up after %(limit)s s."
        ) % {"first": f"{first_s:.1f}", "limit": f"{limit_s:g}"}


async def _ask(
    profile: Mapping[str, Any],
    prompt: str,
    *,
    tools: Sequence[dict[str, Any]] = (),
    spoken: list[float] | None = None,
) -> tuple[str, str]:
    """Return what the model says, and the names of tools that it calls."""
    provider = provider_for(profile)
    await provider.ready()
    request = ModelRequest(
        model=str(profile["MODEL"]),
        messages=[{"role": "user", "content": prompt}],
        tools=list(tools),
        api_base=str(profile.get("API_BASE") or ""),
        api_key=str(profile.get("API_KEY") or ""),
        options=reasoning_options(profile),
    )
    said, calls = "", ""
    patient = with_timeouts(provider.stream(request), **timeouts_of(profile))
    async with aclosing(with_masked_secrets(patient)) as chunks:
        async for chunk in chunks:
            if spoken is not None:
                spoken.append(time.monotonic())
            if isinstance(chunk, TextDelta):
                said = (said + chunk.text)[:SAID_CHARS]
            elif isinstance(chunk, ToolCallDelta):
                calls += chunk.name
            elif isinstance(chunk, ReplyEnd):
                break
    return said, calls


def _failed(profile: Mapping[str, Any], error: ModelError, begun: float) -> Trial:
    return Trial(
        ok=False,
        text=advice_for(profile, error),
        seconds=time.monotonic() - begun,
        code=error.code,
        detail=error.detail,
    )


# --- what is wrong, for who can mend it ---

# With which servers answer a request that has tools, if they know none.
NO_TOOLS = frozenset({"bad_request", "no_model", "provider_down", "malformed"})
ADVICE: Mapping[str, Any] = {
    "bad_key": gettext_lazy(
        "The provider refused the key. Enter it again, or another one."
    ),
    "no_access": gettext_lazy(
        "The provider accepted the key, but not for this: it may lack credit, or the "
        "right to use this model."
    ),
    "no_model": gettext_lazy(
        "There is no model “%(model)s” at this address. Check its name and the base URL."
    ),
    "rate_limited": gettext_lazy(
        "The key is right, but its rate limit is reached or its credit is used up."
    ),
    "unreachable": gettext_lazy(
        "The address cannot be reached. Check the base URL, and whether a firewall lets "
        "this server out."
    ),
    "blocked_host": gettext_lazy(
        "The base URL is not called: it is a private address. Whoever runs the site can "
        "allow it with the setting MODEL_HOSTS."
    ),
    "first_byte_timeout": gettext_lazy(
        "The model did not begin to answer within %(first)s s. If it only has to be "
        "loaded, try again; else raise the seconds to the first word."
    ),
    "malformed": gettext_lazy(
        "What answers at this address is no model. Check the base URL: it often ends "
        "with /v1."
    ),
    "provider_down": gettext_lazy(
        "The server at this address answers with an error of its own. Try again in a "
        "minute, and check the base URL."
    ),
    "bad_request": gettext_lazy(
        "The provider did not accept the request. Check the model's name and the "
        "options."
    ),
}


def advice_for(profile: Mapping[str, Any], error: ModelError) -> str:
    """Return what is wrong, and what to do, for who can change the profile."""
    if error.code == "not_configured":
        return _("Something is not set up: %(what)s") % {"what": error.detail}
    if error.code not in ADVICE:
        return error_text(error)
    first_s = f"{timeouts_of(profile)['first_byte_s']:g}"
    named = {"model": profile.get("MODEL", ""), "first": first_s}
    return str(ADVICE[error.code]) % named
