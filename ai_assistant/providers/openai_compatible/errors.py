"""From what a server answers, or from its silence, to the codes of ModelError."""

import json
import re
from collections.abc import Mapping
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.errors import (
    MAX_DETAIL,
    RETRYABLE,
    STATUSES,
    WAITING,
    retry_after_seconds,
)

# What several servers say where the status alone does not tell.
TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context length"
    r"|available context size|context window|prompt is too long|input is too long"
    r"|too large for model with",
    re.IGNORECASE,
)
REFUSED = re.compile(
    r"content_filter|content_policy|content management policy|ResponsibleAI"
    r"|safety system|moderation|flagged",
    re.IGNORECASE,
)
MAY_BE_TOO_LONG = frozenset({400, 413, 422, 500})
MAY_BE_REFUSED = frozenset({400, 403})
MAX_READ = 500  # of what was said: the rest may repeat the request


def refusal(status: int, headers: Mapping[str, str], said: str) -> ModelError:
    """Return what an answer that is none means."""
    if 300 <= status < 400:
        return _redirect(status, headers.get("Location", ""))
    code = _code(status, said[:MAX_READ])
    retry_after = headers.get("Retry-After", "")
    return ModelError(
        code,
        f"{status}: {said}"[:MAX_DETAIL],
        retry_after_s=retry_after_seconds(retry_after) if code in WAITING else None,
        retryable=code in RETRYABLE,
    )


def told_error(error: Any) -> ModelError:
    """Return an error that a server tells in the middle of its answer."""
    said = message_of({"error": error})
    status = error.get("code") if isinstance(error, Mapping) else None
    if not isinstance(status, int):
        status = 429 if "rate_limit" in said else 500
    code = _code(status, said[:MAX_READ])
    return ModelError(code, said[:MAX_DETAIL], retryable=code in RETRYABLE)


def message_of(answer: Any) -> str:
    """Return what an answer in JSON says is wrong, with its own codes."""
    if isinstance(answer, list) and answer:
        answer = answer[0]
    if not isinstance(answer, Mapping):
        return str(answer)
    error = answer.get("error") or answer
    if not isinstance(error, Mapping):
        return str(error)
    message = error.get("message") or error.get("detail") or ""
    if not isinstance(message, str):
        message = json.dumps(message)
    codes = [str(error[key]) for key in ("type", "code") if error.get(key)]
    return f"{message} ({', '.join(codes)})" if codes else message or str(error)


def text_of(body: bytes) -> str:
    """Return what the body of a refusal says, in JSON or not."""
    text = body.decode(errors="replace").strip()
    try:
        return message_of(json.loads(text))
    except ValueError:
        return text[:MAX_READ]


def _code(status: int, said: str) -> str:
    if status in MAY_BE_TOO_LONG and TOO_LONG.search(said):
        return "context_too_long"
    if status in MAY_BE_REFUSED and REFUSED.search(said):
        return "content_refused"
    return STATUSES.get(status, "provider_down")


def _redirect(status: int, location: str) -> ModelError:
    to = urlsplit(location)
    where = f"{to.scheme}://{to.hostname}{to.path}" if to.hostname else "elsewhere"
    return ModelError(
        "unreachable",
        f"{status}: it redirects to {where!r}, where the key must not go. Set API_BASE "
        "to the address that answers.",
    )


def transport_error(
    error: Exception, *, aiohttp: ModuleType, spoke: bool
) -> ModelError:
    """Return what a fault of the connection means; `spoke`: something had come."""
    code = _transport_code(error, aiohttp, spoke=spoke)
    # Of an answer of a proxy the words alone: its address may hold a password.
    said = getattr(error, "message", "") or str(error)
    return ModelError(
        code,
        f"{type(error).__name__}: {said}"[:MAX_DETAIL],
        retryable=not spoke and code in RETRYABLE,
    )


def _transport_code(error: Exception, aiohttp: ModuleType, *, spoke: bool) -> str:
    never = (
        aiohttp.ClientConnectorError,
        aiohttp.ConnectionTimeoutError,
        aiohttp.ClientHttpProxyError,
        aiohttp.InvalidURL,
    )
    if isinstance(error, never):
        return "unreachable"
    if isinstance(error, TimeoutError):
        return "idle_timeout" if spoke else "first_byte_timeout"
    if isinstance(error, aiohttp.ClientResponseError | ValueError):
        return "malformed"  # not the bytes of an answer
    return "cut" if spoke else "unreachable"
