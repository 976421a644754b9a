"""
The provider for most models, based on litellm.

Importing litellm takes seconds and much memory, so it is done once per process, in
a thread, together with two calls that fill its caches.
"""

import asyncio
import contextlib
import importlib
import logging
import os
import socket
from collections.abc import AsyncGenerator, Mapping
from decimal import Decimal
from functools import lru_cache
from types import ModuleType
from typing import Any

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.errors import without_key
from ai_assistant.providers.litellm_errors import came_from_provider, model_error
from ai_assistant.providers.litellm_stream import (
    ChunkReader,
    iterate_once,
    litellm_price_usd,
    usage_from_chunk,
)
from ai_assistant.providers.warmup import Warmup
from ai_assistant.types import ModelChunk, ModelRequest, Provider, ReplyEnd

LINGER_S = 1.0  # what may follow a finish reason: usage and the end
SOCKET_TIMEOUT_S = 600.0  # the last resort: the limits of the run are shorter
NO_KEY = "none"  # for a server of one's own, which asks for no key
# What litellm makes of a missing key or an unknown name, before anything is sent.
SUSPECT = frozenset({"bad_key", "bad_request", "provider_down"})
QUIET: Mapping[str, bool] = {
    "telemetry": False,
    "suppress_debug_info": True,
    "disable_hf_tokenizer_download": True,
}
ALWAYS: Mapping[str, Any] = {
    "stream": True,
    "stream_options": {"include_usage": True},
    "drop_params": True,
    "num_retries": 0,  # retries are the business of `with_retries`
    "max_retries": 0,
    # With tools it would import its MCP gateway, and fail where that is missing.
    "_skip_mcp_handler": True,
}
WORDS = [{"role": "user", "content": "Are you ready?"}]
TOOLS = [{"type": "function", "function": {"name": "ready", "parameters": {}}}]


class LiteLLMProvider(Provider):
    """
    Asks any model that litellm knows.

    A profile has MODEL (a litellm model string), API_BASE, API_KEY and OPTIONS (a
    dict that litellm.acompletion gets as it is); what a request says comes first.
    """

    @classmethod
    def warm_up(cls) -> None:
        """Begin to load litellm; returns at once."""
        LIBRARY.start()

    async def ready(self) -> None:
        """Wait until litellm is loaded; the limits of a call are not for that wait."""
        await ensure_loaded()

    def price_usd(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        """Return what a call costs by litellm's list; None if that does not say."""
        litellm = LIBRARY.loaded
        if litellm is None:
            return None
        return litellm_price_usd(
            litellm, self.profile.get("MODEL", ""), input_tokens, output_tokens
        )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Yield the chunks of one reply; closing closes the connection."""
        arguments = self._arguments(request)
        litellm = await ensure_loaded()
        reader = ChunkReader()
        spoke = False
        marked = with_cache_mark(litellm, arguments, request.stable_chars)
        try:
            answer = await litellm.acompletion(**marked)
            iterate_once(answer)
            async with contextlib.aclosing(answer):
                async for chunk in _all_of(answer, reader):
                    for piece in reader.read(chunk):
                        spoke = True
                        yield piece
                _check_whole(answer, reader, spoke=spoke)
        except ModelError:
            raise
        except Exception as error:  # litellm raises whatever its providers raise
            fault = model_error(error, litellm=litellm, spoke=spoke)
            if fault.code in SUSPECT and not came_from_provider(error):
                fault = configuration_error(litellm, arguments) or fault
            raise without_key(fault, arguments.get("api_key", "")) from error
        yield ReplyEnd(
            finish_reason=reader.finish_reason,
            usage=usage_from_chunk(litellm, arguments["model"], reader.usage),
            provider_fields=reader.provider_fields,
        )

    def _arguments(self, request: ModelRequest) -> dict[str, Any]:
        model = request.model or self.profile.get("MODEL", "")
        if not model:
            raise ModelError("not_configured", "The profile has no MODEL.")
        base = request.api_base or self.profile.get("API_BASE", "")
        key = request.api_key or self.profile.get("API_KEY", "")
        is_of_row = "ROW" in self.profile
        if base and not key and (is_of_row or model.startswith("openai/")):
            # Without this, a key of the environment would go to whoever answers there.
            key = NO_KEY
        arguments: dict[str, Any] = {
            "model": model,
            "messages": request.messages,
            "timeout": SOCKET_TIMEOUT_S,
            **ALWAYS,
            **self.profile.get("OPTIONS", {}),
            **request.options,
        }
        optional = {"api_base": base, "api_key": key, "tools": request.tools}
        return arguments | {name: value for name, value in optional.items() if value}


async def _all_of(answer: Any, reader: ChunkReader) -> AsyncGenerator[Any, None]:
    """Yield litellm's chunks; do not wait long for what follows the finish reason."""
    async for chunk in answer:
        reader.received = reader.received or _received(answer)
        yield chunk
        if reader.finish_reason:
            break
    while True:
        try:
            async with asyncio.timeout(LINGER_S):
                chunk = await anext(answer)
        except (StopAsyncIteration, TimeoutError):
            return
        yield chunk


def _received(answer: Any) -> bool:
    """
    Return whether the provider itself has given a finish reason.

    litellm makes one up when a stream is cut; what it received stands on the
    answer, for some providers only as long as the chunk that brought it.
    """
    if not hasattr(answer, "received_finish_reason"):
        return True  # not its stream wrapper, nothing is made up
    return bool(answer.received_finish_reason or answer.intermittent_finish_reason)


def _check_whole(answer: Any, reader: ChunkReader, *, spoke: bool) -> None:
    """Raise ModelError if the stream ended without a finish reason."""
    if reader.received and reader.finish_reason:
        return
    kind = _content_type(answer)
    if kind and "event-stream" not in kind and "json" not in kind:
        raise ModelError("malformed", f"The answer is of type {kind!r}.")
    raise ModelError("cut", "no finish reason", retryable=not spoke)


def configuration_error(
    litellm: ModuleType, arguments: Mapping[str, Any]
) -> ModelError | None:
    """Return an error that names what is not set up, if something is not."""
    model = arguments["model"]
    try:
        litellm.get_llm_provider(model=model, api_base=arguments.get("api_base"))
    except Exception as error:  # noqa: BLE001 - of several types, for one reason
        return ModelError("not_configured", str(error))
    if arguments.get("api_key"):
        return None
    names = litellm.validate_environment(model=model)["missing_keys"]
    if not names:
        return None
    return ModelError("not_configured", f"Not set: {', '.join(names)}.")


def _content_type(answer: Any) -> str:
    hidden = getattr(answer, "_hidden_params", None) or {}
    headers = hidden.get("additional_headers") or {}
    return str(headers.get("llm_provider-content-type", ""))


# --- loading ---


async def ensure_loaded() -> ModuleType:
    """Return litellm, loaded and warm. Raise ModelError `not_configured` if missing."""
    try:
        return await LIBRARY.wait()
    except Exception as error:  # whatever a broken installation raises
        raise ModelError(
            "not_configured", f"{type(error).__name__}: {error}"
        ) from error


def _load() -> ModuleType:
    # Else it fetches its price list from the network, and reads a `.env` file.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    try:
        litellm = importlib.import_module("litellm")
    except ModuleNotFoundError as error:
        if error.name != "litellm":
            raise
        raise ImportError(
            "Package 'litellm' is not installed. "
            "Install it with: pip install 'ai-assistant[litellm]'."
        ) from error
    _quieten(litellm)
    # Whatever the rehearsal meets, the library is there.
    with contextlib.suppress(Exception):
        asyncio.run(_rehearse(litellm))
    return litellm


def _quieten(litellm: ModuleType) -> None:
    for name, value in QUIET.items():
        setattr(litellm, name, value)
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logger = logging.getLogger(name)
        # Faults become ModelError; its own lines would log them a second time.
        if logger.level < logging.CRITICAL:
            logger.setLevel(logging.CRITICAL)


async def _rehearse(litellm: ModuleType) -> None:
    """Make a mock call and a refused one: the first real call then stalls no loop."""
    call = {"model": "openai/warm-up", "messages": WORDS, "tools": TOOLS, **ALWAYS}
    answer = await litellm.acompletion(**call, mock_response="I am ready.")
    async for _ in answer:
        pass
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # never listens: the call is refused at once
        base = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        with contextlib.suppress(Exception):
            await litellm.acompletion(**call, api_base=base, api_key=NO_KEY)


LIBRARY = Warmup(_load)


FAMILIES = frozenset({"anthropic", "bedrock", "bedrock_converse", "vertex_ai"})
CLAUDE = "claude"
MARK: Mapping[str, Any] = {"cache_control": {"type": "ephemeral"}}
OF_SITE = "cache_control_injection_points"  # the option with which a site sets its own


def with_cache_mark(
    litellm: ModuleType, arguments: Mapping[str, Any], stable_chars: int
) -> dict[str, Any]:
    """Return the arguments of a call with a mark behind the first `stable_chars`."""
    first, *others = arguments["messages"]
    text = first.get("content")
    is_prompt = first.get("role") == "system" and isinstance(text, str)
    if not (stable_chars and is_prompt) or OF_SITE in arguments:
        return {**arguments}
    if not _takes_marks(litellm, arguments["model"]):
        return {**arguments}
    blocks = [{"type": "text", "text": text[:stable_chars], **MARK}]
    if rest := text[stable_chars:]:
        blocks.append({"type": "text", "text": rest})
    return {**arguments, "messages": [{**first, "content": blocks}, *others]}


@lru_cache(maxsize=100)
def _takes_marks(litellm: ModuleType, model: str) -> bool:
    try:
        name, family, *_others = litellm.get_llm_provider(model=model)
        if family not in FAMILIES or CLAUDE not in name:
            return False  # of some others litellm would ask their server
        return bool(litellm.utils.supports_prompt_caching(model=model))
    except Exception:  # noqa: BLE001 - the call itself tells what is wrong with it
        return False
