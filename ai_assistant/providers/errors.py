"""When the model could not answer: the codes, and one sentence for the person each."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from ai_assistant.exceptions import ModelError

# What happened, what is safe, what to do. Nothing of the provider's own words.
SENTENCES: Mapping[str, object] = {
    "bad_request": _(
        "The model did not accept the request. Your message is kept. Try again, or "
        "start a new conversation; if this persists, tell an administrator."
    ),
    "context_too_long": _(
        "The conversation is too long for the model. Everything said so far is kept. "
        "Start a new conversation, or ask for less at once."
    ),
    "content_refused": _(
        "The model's provider refused to answer this. Your message is kept. Rephrase "
        "it, or ask for something else."
    ),
    "bad_key": _(
        "The model did not accept the key of this site. Your message is kept. An "
        "administrator has to check the key; then try again."
    ),
    "no_access": _(
        "The key of this site may not use the model. Your message is kept. An "
        "administrator has to choose another model or allow this one; then try again."
    ),
    "no_model": _(
        "The model that this site asks for does not exist. Your message is kept. An "
        "administrator has to check its name; then try again."
    ),
    "rate_limited": _(
        "The model's rate limit is reached. Your message is kept. Wait a little, then "
        "try again."
    ),
    "provider_down": _(
        "The model's provider reported an error. What was said so far is kept. Try "
        "again in a minute."
    ),
    "unreachable": _(
        "The model cannot be reached. Your message is kept. Try again in a minute; if "
        "this persists, an administrator has to check the network and the address."
    ),
    "first_byte_timeout": _(
        "The model did not begin to answer in time. Your message is kept. Try again."
    ),
    "idle_timeout": _(
        "The model stopped in the middle of its answer. What it said so far is kept. "
        "Try again."
    ),
    "total_timeout": _(
        "The model took too long to answer. What it said so far is kept. Ask for less "
        "at once, or try again."
    ),
    "cut": _(
        "The answer was cut off. What the model said so far is kept, but it is not the "
        "whole answer. Try again."
    ),
    "empty": _(
        "The model ended without saying anything. Your message is kept. Try again, or "
        "rephrase it."
    ),
    "malformed": _(
        "The model sent an invalid answer. What it said before is kept. Try again; if "
        "this persists, an administrator has to check the model's address."
    ),
    "not_configured": _(
        "The assistant has no model. Your message is kept. An administrator has to "
        "set up a model, its key and its package; then try again."
    ),
    "blocked_host": _(
        "The model's address may not be called from this site. Your message is kept. An "
        "administrator has to check the address; then try again."
    ),
    "no_agent": _(
        "The agent of this conversation is not available: it was removed or changed, "
        "or you may not use it. Your message is kept. Choose another one, then send it "
        "again."
    ),
}
UNKNOWN = _(
    "The model could not answer. What was said so far is kept. Try again; if this "
    "persists, tell an administrator."
)


def error_text(error: ModelError) -> str:
    """Return what the person reads about `error`, in the active language."""
    if error.code == "rate_limited" and error.retry_after_s:
        return _come_back(max(1, round(error.retry_after_s)))
    return str(SENTENCES.get(error.code, UNKNOWN))


# Why another profile answers: `other` does, since `model` could not.
FALLBACKS: Mapping[str, object] = {
    **dict.fromkeys(
        ("bad_key", "no_access"),
        _("%(other)s answers: the key of %(model)s was not accepted."),
    ),
    "rate_limited": _("%(other)s answers: the rate limit of %(model)s is reached."),
    "first_byte_timeout": _(
        "%(other)s answers: %(model)s did not begin to answer in time."
    ),
    **dict.fromkeys(
        ("provider_down", "unreachable"),
        _("%(other)s answers: %(model)s cannot be reached."),
    ),
}
FALLBACK = _("%(other)s answers: %(model)s could not answer this.")
# What another model would not answer either, or must not be asked.
FINAL = frozenset({"content_refused", "no_agent"})


def fallback_text(code: str, *, model: str, other: str) -> str:
    """Return what the person reads where `other` has answered in place of `model`."""
    return str(FALLBACKS.get(code, FALLBACK)) % {"model": model, "other": other}


def _come_back(seconds: int) -> str:
    told = gettext("The model's rate limit is reached. Your message is kept.")
    if seconds < 120:
        wait = ngettext(
            "Try again in %(count)d second.", "Try again in %(count)d seconds.", seconds
        ) % {"count": seconds}
    else:
        minutes = -(-seconds // 60)
        wait = ngettext(
            "Try again in %(count)d minute.", "Try again in %(count)d minutes.", minutes
        ) % {"count": minutes}
    return f"{told} {wait}"


# --- from what a server says to a code ---

STATUSES: Mapping[int, str] = {
    400: "bad_request",
    401: "bad_key",
    402: "no_access",
    403: "no_access",
    404: "no_model",
    413: "context_too_long",
    422: "bad_request",
    429: "rate_limited",
}
RETRYABLE = frozenset(
    {"rate_limited", "provider_down", "unreachable", "first_byte_timeout", "cut"}
)
WAITING = frozenset({"rate_limited", "provider_down"})  # may say how long
MAX_DETAIL = 2_000
MIN_KEY = 8  # shorter ones are placeholders


def without_key(error: ModelError, key: str) -> ModelError:
    """Return `error` with no `key` in its detail: some providers repeat it."""
    if len(key) < MIN_KEY:
        return error
    return ModelError(
        error.code,
        error.detail.replace(key, "[key]"),
        retry_after_s=error.retry_after_s,
        retryable=error.retryable,
    )


def retry_after_seconds(retry_after: str) -> float | None:
    """Return the seconds that a Retry-After header means; None if it means nothing."""
    try:
        seconds = float(retry_after)
        return max(0.0, seconds) if isfinite(seconds) else None
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
