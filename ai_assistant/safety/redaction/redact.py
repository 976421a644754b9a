"""
Take secrets out of texts and JSON.

`redact` is for everything that is stored, logged or told to a model; what a person
has typed, and what a model says, is only freed from the site's own secrets
(`redact_values`): the person may speak of things that look like a key.
"""

import os
from collections.abc import Callable
from functools import lru_cache
from re import Match
from typing import Any

from django.core.signals import setting_changed

from ai_assistant import conf
from ai_assistant.safety.redaction.patterns import (
    OWN_HINT,
    OWN_TOKEN,
    Pattern,
    patterns,
)
from ai_assistant.safety.redaction.secrets import configured_secrets

MARK = "[redacted]"


def redact(text: str) -> str:
    """Return `text` without the site's secrets, and without what looks like one."""
    return _without_patterns(redact_values(text))


def redact_values(text: str) -> str:
    """Return `text` without the secrets that this site is configured with or made."""
    for secret in secrets():
        if secret in text:
            text = text.replace(secret, MARK)
    return OWN_TOKEN.sub(MARK, text) if OWN_HINT in text else text


def redact_json(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return the JSON `value`, keys and texts redacted."""
    return _mapped(value, redact)


def redact_values_json(value: Any) -> Any:  # noqa: ANN401
    """Return the JSON `value` without the secrets of this site."""
    return _mapped(value, redact_values)


def secrets() -> tuple[str, ...]:
    """Return the site's secrets, as they are configured now."""
    names = [profile.get("API_KEY_ENV") for profile in conf.get("PROFILES").values()]
    return _secrets(tuple(os.environ.get(name or "", "") for name in names))


@lru_cache(maxsize=4)
def _secrets(_of_profiles: tuple[str, ...]) -> tuple[str, ...]:
    return configured_secrets()


def _without_patterns(text: str) -> str:
    for pattern in patterns():
        if pattern.may_match(text):
            text = pattern.regex.sub(_masked(pattern), text)
    return text


def _masked(pattern: Pattern) -> Callable[[Match[str]], str] | str:
    if "secret" not in pattern.regex.groupindex:
        return MARK

    def masked(found: Match[str]) -> str:
        start, end = found.span("secret")
        if start < 0:
            return MARK
        begin = found.start()
        whole = found.group()
        return whole[: start - begin] + MARK + whole[end - begin :]

    return masked


def _mapped(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {
            change(key) if isinstance(key, str) else key: _mapped(item, change)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_mapped(item, change) for item in value]
    return value


def _reset(**_changed: object) -> None:
    _secrets.cache_clear()


setting_changed.connect(_reset)
