"""Servers that speak OpenAI's chat completions: where they are, what each refuses."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ai_assistant.exceptions import ModelError

Body = dict[str, Any]  # of a request
Message = Mapping[str, Any]

# --- where they are ---


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """What the first part of a model string stands for, as litellm has it."""

    base: str = ""  # "": API_BASE says where
    key_env: str = ""  # "": it asks for no key
    base_env: tuple[str, ...] = ()
    preferred: bool = True  # chosen unless the profile names another provider


SERVERS: Mapping[str, Server] = {
    "openai": Server(
        base="https://api.openai.com/v1",
        key_env="OPENAI_API_KEY",
        base_env=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    ),
    "openrouter": Server(
        base="https://openrouter.ai/api/v1",
        key_env="OPENROUTER_API_KEY",
        base_env=("OPENROUTER_API_BASE",),
    ),
    "mistral": Server(
        base="https://api.mistral.ai/v1",
        key_env="MISTRAL_API_KEY",
        base_env=("MISTRAL_API_BASE",),
    ),
    "deepseek": Server(
        base="https://api.deepseek.com/v1",
        key_env="DEEPSEEK_API_KEY",
        base_env=("DEEPSEEK_API_BASE",),
    ),
    "groq": Server(
        base="https://api.groq.com/openai/v1",
        key_env="GROQ_API_KEY",
        base_env=("GROQ_API_BASE",),
    ),
    "hosted_vllm": Server(base_env=("HOSTED_VLLM_API_BASE",)),
    "lm_studio": Server(base_env=("LM_STUDIO_API_BASE",)),
    # litellm speaks Ollama's own protocol, with other OPTIONS.
    "ollama": Server(base="http://localhost:11434/v1", preferred=False),
    "ollama_chat": Server(base="http://localhost:11434/v1", preferred=False),
}
NO_KEY = "none"  # for a server of one's own, which asks for no key
PATH = "/chat/completions"

# OPTIONS of which only litellm knows what they mean.
LITELLM_OPTIONS = frozenset(
    {
        *("additional_drop_params", "allowed_openai_params", "api_base", "api_key"),
        *("api_type", "api_version", "base_url", "cache", "caching", "client"),
        *("custom_llm_provider", "drop_params", "fallbacks", "headers", "hooks"),
        *("max_retries", "mock_response", "model_list", "num_retries", "organization"),
        *("ssl_verify", "stream_timeout", "timeout", "use_litellm_proxy"),
    }
)
# Models that OpenAI serves with tools by its Responses API alone.
BY_RESPONSES = re.compile(
    r"responses/|gpt-5\.([4-9]|\d\d)|gpt-([6-9]|\d\d)|.*-(pro|codex|deep-research)\b"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """Where a request goes, and what it is allowed with."""

    url: str
    model: str
    key: str = field(default="", repr=False)


def is_preferred(profile: Mapping[str, Any]) -> bool:
    """Return whether litellm would only stand between us and the profile's model."""
    prefix, _, name = str(profile.get("MODEL") or "").partition("/")
    server = SERVERS.get(prefix)
    if not name or server is None or not server.preferred:
        return False
    if prefix == "openai" and not profile.get("API_BASE") and BY_RESPONSES.match(name):
        return False
    return not LITELLM_OPTIONS & set(profile.get("OPTIONS") or ())


def is_known(profile: Mapping[str, Any]) -> bool:
    """Return whether it is known where to send a request of this profile."""
    prefix, _, name = str(profile.get("MODEL") or "").partition("/")
    return bool(profile.get("API_BASE")) or not name or prefix in SERVERS


def find_endpoint(model: str, *, base: str = "", key: str = "") -> Endpoint:
    """
    Return where `model` answers: at `base`, else where its server is known to be.

    A key of the environment goes only to the server that it is of. Raise ModelError
    `not_configured` if the address or the key is missing.
    """
    if not model:
        raise ModelError("not_configured", "The profile has no MODEL.")
    prefix, _, name = model.partition("/")
    server = SERVERS.get(prefix)
    if not name:  # a bare name is one of OpenAI's, or of the server at `base`
        server, name = SERVERS["openai"], model
    elif server is None:
        server, name = Server(), model
    elif prefix == "openrouter" and "/" not in name:
        name = model  # "openrouter/auto" is what it calls it itself
    found = base or _from_environment(server) or server.base
    if not found:
        raise ModelError("not_configured", f"Not set: the API_BASE of {model!r}.")
    if not base and not key and server.key_env:
        key = os.environ.get(server.key_env, "")
        if not key:
            raise ModelError("not_configured", f"Not set: {server.key_env}.")
    return Endpoint(url=_address(found), model=name, key=_checked(key or NO_KEY))


def _from_environment(server: Server) -> str:
    found = (os.environ.get(name, "") for name in server.base_env)
    return next(filter(None, found), "")


def _address(base: str) -> str:
    parts = _parts(base)
    if parts is None or parts.scheme not in ("http", "https") or "@" in parts.netloc:
        raise ModelError(
            "not_configured",
            "The API_BASE is no address of the form https://host/v1. A key does not "
            "stand in it; give that as API_KEY_ENV.",
        )
    path = parts.path.rstrip("/")
    if not path.endswith(PATH):
        path += PATH
    return parts._replace(path=path, fragment="").geturl()


def _parts(base: str) -> SplitResult | None:
    try:
        parts = urlsplit(base)
        _ = parts.port  # raises what is no port
    except ValueError:
        return None
    return parts if parts.hostname else None


def _checked(key: str) -> str:
    if key.isascii() and key.isprintable():
        return key
    raise ModelError(
        "not_configured",
        "The key has a character that no key has, such as a line break at its end.",
    )


# --- what each refuses ---


@dataclass(frozen=True, kw_only=True, slots=True)
class Quirk:
    """
    A refusal that is answered by another request, and how that differs.

    `change` gets the body and the field that the group `field` of `refused` names, and
    returns the new body.
    """

    name: str
    refused: re.Pattern[str]
    change: Callable[[Body, str], Body]


Learned = tuple[Quirk, str]  # with the field

# What OpenAI's protocol has, may be left out, and not every model takes.
OPTIONAL = frozenset(
    {
        *("frequency_penalty", "logit_bias", "logprobs", "metadata", "n"),
        *("parallel_tool_calls", "presence_penalty", "prompt_cache_key"),
        *("reasoning_effort", "safety_identifier", "seed", "service_tier", "stop"),
        *("store", "temperature", "top_logprobs", "top_p", "user", "verbosity"),
    }
)
MESSAGE_KEYS = frozenset({"role", "content", "name", "tool_calls", "tool_call_id"})
CALL_KEYS = frozenset({"id", "type", "function"})
NOT_TAKEN = (
    r"(?:unsupported|not supported|not permitted|unknown|unrecognized|forbidden)"
)


def _without(body: Body, *names: str) -> Body:
    return {name: value for name, value in body.items() if name not in names}


def _renamed(body: Body, old: str, new: str) -> Body:
    return {new if name == old else name: value for name, value in body.items()}


def _without_optional(body: Body, name: str) -> Body:
    return _without(body, name) if name in OPTIONAL else body


def _without_reasoning(body: Body, _: str) -> Body:
    return {**body, "reasoning_effort": "none"} if body.get("tools") else body


def _only_standard(body: Body, _: str) -> Body:
    return {**body, "messages": [_standard(one) for one in body["messages"]]}


def _standard(message: Message) -> Body:
    plain = {key: value for key, value in message.items() if key in MESSAGE_KEYS}
    if calls := plain.get("tool_calls"):
        plain["tool_calls"] = [
            {key: value for key, value in call.items() if key in CALL_KEYS}
            for call in calls
        ]
    return plain


def _with_short_ids(body: Body, _: str) -> Body:
    return {**body, "messages": [_with_short_id(one) for one in body["messages"]]}


def _with_short_id(message: Message) -> Body:
    changed = dict(message)
    if "tool_call_id" in changed:
        changed["tool_call_id"] = _short_id(changed["tool_call_id"])
    if calls := changed.get("tool_calls"):
        changed["tool_calls"] = [{**one, "id": _short_id(one["id"])} for one in calls]
    return changed


def _short_id(call_id: str) -> str:
    """Return an id of nine letters and digits, the same one each time."""
    if len(call_id) == 9 and call_id.isascii() and call_id.isalnum():
        return call_id
    return sha256(call_id.encode()).hexdigest()[:9]


def _with_thoughts(body: Body, _: str) -> Body:
    return {**body, "messages": [_thinking(one) for one in body["messages"]]}


def _thinking(message: Message) -> Body:
    """Return `message` with what it was thought with, or a blank for what is lost."""
    if message.get("role") != "assistant" or message.get(THOUGHTS):
        return dict(message)
    return {**message, THOUGHTS: " "}


THOUGHTS = "reasoning_content"
THINKS_ON = Quirk(
    name="wants its thoughts back",
    refused=re.compile(rf"{THOUGHTS}.{{0,80}}(?:passed back|field in the assistant)"),
    change=_with_thoughts,
)
# The most special first; a change that changes nothing is passed over.
QUIRKS: tuple[Quirk, ...] = (
    Quirk(
        name="no stream_options",
        refused=re.compile("stream_options"),
        change=lambda body, _: _without(body, "stream_options"),
    ),
    Quirk(
        name="max_completion_tokens",
        refused=re.compile("max_tokens.*'max_completion_tokens' instead"),
        change=lambda body, _: _renamed(body, "max_tokens", "max_completion_tokens"),
    ),
    Quirk(
        name="max_tokens",
        refused=re.compile(f"max_completion_tokens.*{NOT_TAKEN}"),
        change=lambda body, _: _renamed(body, "max_completion_tokens", "max_tokens"),
    ),
    Quirk(
        name="no reasoning with tools",
        refused=re.compile("tools with reasoning_effort are not supported"),
        change=_without_reasoning,
    ),
    Quirk(
        name="ids of nine letters",
        refused=re.compile(r"(?i)tool call ids? .{0,120}length (?:of )?9"),
        change=_with_short_ids,
    ),
    THINKS_ON,
    Quirk(
        name="only fields of the protocol in messages",
        refused=re.compile(
            rf"messages\W+\d.*{NOT_TAKEN}|{NOT_TAKEN}.*messages\W+\d", re.IGNORECASE
        ),
        change=_only_standard,
    ),
    Quirk(
        name="not every option",
        refused=re.compile(
            rf"""(?:unsupported|unknown|unrecognized)\ [\w\ ]+:\ '?(?P<field>\w+)
            |body\W+(?P<loc>\w+)\W.*{NOT_TAKEN}""",
            re.IGNORECASE | re.VERBOSE,
        ),
        change=_without_optional,
    ),
)


def quirk_behind(refusal: str, body: Body) -> tuple[Learned, Body] | None:
    """Return what a refusal teaches, and the body that heeds it; None for nothing."""
    told = " ".join(refusal.split())
    for quirk in QUIRKS:
        match = quirk.refused.search(told)
        if match is None:
            continue
        name = next(filter(None, match.groups()), "")
        changed = quirk.change(body, name)
        if changed != body:
            return (quirk, name), changed
    return None
