"""
From litellm's exceptions to the codes of ModelError.

By type and by status, not by text. litellm is not imported; its module is passed
in. What it raises is often a wrapper, so that the causes are looked at as well.
"""

import json
from collections.abc import Iterator
from types import ModuleType

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.errors import (
    MAX_DETAIL,
    RETRYABLE,
    STATUSES,
    WAITING,
    retry_after_seconds,
)

# The most special first. A name that a version of litellm lacks is passed over.
TYPES: tuple[tuple[str, str], ...] = (
    ("ContextWindowExceededError", "context_too_long"),
    ("ContentPolicyViolationError", "content_refused"),
    ("RejectedRequestError", "content_refused"),
    ("LiteLLMUnknownProvider", "not_configured"),
    ("PaymentRequiredError", "no_access"),
    ("AuthenticationError", "bad_key"),
    ("PermissionDeniedError", "no_access"),
    ("NotFoundError", "no_model"),
    ("RateLimitError", "rate_limited"),
    ("UnprocessableEntityError", "bad_request"),
    ("BadRequestError", "bad_request"),
)


def model_error(
    error: BaseException, *, litellm: ModuleType, spoke: bool
) -> ModelError:
    """Return what `error` means; `spoke` says whether a chunk came before it."""
    code = _code(error, litellm, spoke=spoke)
    return ModelError(
        code,
        f"{type(error).__name__}: {error}"[:MAX_DETAIL],
        retry_after_s=_retry_after_s(error) if code in WAITING else None,
        retryable=not spoke and code in RETRYABLE,
    )


def came_from_provider(error: BaseException) -> bool:
    """Return whether `error` is an answer; else it arose before anything was sent."""
    return _answered(list(_causes(error)))


def _code(error: BaseException, litellm: ModuleType, *, spoke: bool) -> str:
    causes = list(_causes(error))
    for cause in causes:
        for name, code in TYPES:
            kind = getattr(litellm.exceptions, name, None)
            if kind is not None and isinstance(cause, kind):
                return code
    if code := _transport_code(causes, spoke=spoke):
        return code
    codes = (STATUSES.get(getattr(cause, "status_code", 0)) for cause in causes)
    return next(filter(None, codes), "provider_down")


def _transport_code(causes: list[BaseException], *, spoke: bool) -> str:
    """Return the code of a fault of the connection or its bytes, or nothing."""
    if _answered(causes):
        return ""
    for cause in causes:
        if isinstance(cause, (UnicodeDecodeError, json.JSONDecodeError)):
            return "malformed"
        names = _names(cause)
        if names & {"ConnectTimeout", "ConnectError", "InvalidURL"}:
            return "unreachable"
        if names & {"TimeoutException", "APITimeoutError", "TimeoutError"}:
            return "idle_timeout" if spoke else "first_byte_timeout"
        if names & {"TransportError"}:
            return "cut" if spoke else "unreachable"
    return ""


def _answered(causes: list[BaseException]) -> bool:
    return any("HTTPStatusError" in _names(cause) for cause in causes)


def _names(cause: BaseException) -> set[str]:
    """Return the names of the classes of `cause`: those of httpx and openai."""
    return {kind.__name__ for kind in type(cause).__mro__}


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield `error` and what is behind it, without going in circles."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        wrapped = getattr(error, "original_exception", None)
        error = wrapped or error.__cause__ or error.__context__


def _retry_after_s(error: BaseException) -> float | None:
    """Return the wait that a Retry-After header asks for, in either form."""
    for cause in _causes(error):
        response = getattr(cause, "response", None)
        for headers in (
            getattr(cause, "litellm_response_headers", None),
            getattr(response, "headers", None),
        ):
            if headers is not None and (value := headers.get("retry-after")):
                return retry_after_seconds(str(value))
    return None
