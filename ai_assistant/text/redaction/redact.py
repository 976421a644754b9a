"""Take secrets out of texts and JSON."""

import html
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from re import Match
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

from django.conf import settings
from django.core.signals import setting_changed

from ai_assistant import conf
from ai_assistant.text.redaction.patterns import (
    OWN_CHARS,
    OWN_HINT,
    OWN_TOKEN,
    Pattern,
    patterns,
)

LEAST_CHARS = 8  # a shorter one would hit innocent words
LEAST_ENV_CHARS = 16
NAMES = re.compile(
    r"(^|_)(SECRET|SECRET_KEY|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|"
    r"SIGNING_KEY|AUTH_TOKEN|ACCESS_TOKEN|API_TOKEN|TOKEN)$"
)
URLS = re.compile(r"(_URL|_DSN|_BACKEND)$")
FALLBACKS = "SECRET_KEY_FALLBACKS"


def site_secrets() -> tuple[str, ...]:
    """Return the site's secrets, as they are configured now."""
    names = [profile.get("API_KEY_ENV") for profile in conf.get("PROFILES").values()]
    return _configured(tuple(os.environ.get(name or "", "") for name in names))


@lru_cache(maxsize=4)
def _configured(_of_profiles: tuple[str, ...]) -> tuple[str, ...]:
    """Return every secret of the site, longest first, each in all its forms."""
    found = {form for secret in _secrets() for form in _forms(secret)}
    return tuple(sorted(found, key=lambda secret: (-len(secret), secret)))


def _secrets() -> Iterator[str]:
    for value in (*_of_profiles(), *_of_settings(), *_of_environment()):
        if isinstance(value, bytes):
            value = value.decode(errors="ignore")  # noqa: PLW2901
        if isinstance(value, str) and len(value) >= LEAST_CHARS and " " not in value:
            yield value


def _of_profiles() -> Iterator[Any]:
    yield conf.get("AUDIT", "KEY")
    for profile in conf.get("PROFILES").values():
        yield profile.get("API_KEY")
        yield os.environ.get(profile.get("API_KEY_ENV") or "")
        yield _password(profile.get("API_BASE"))


def _of_settings() -> Iterator[Any]:
    yield from getattr(settings, FALLBACKS, ())
    # Django's own defaults hold no secret, and reading some of them is deprecated.
    for name in filter(settings.is_overridden, dir(settings)):  # type: ignore[misc]
        if NAMES.search(name):
            yield getattr(settings, name)
        elif URLS.search(name):
            yield _password(getattr(settings, name))
    # A password that is the name of its user protects nothing, and would hit a word.
    for database in settings.DATABASES.values():
        if database.get("PASSWORD") != database.get("USER"):
            yield database.get("PASSWORD")
    yield from _inside(getattr(settings, "CACHES", {}))
    yield from _inside(getattr(settings, "CHANNEL_LAYERS", {}))
    yield from _inside(getattr(settings, "MAILERS", {}))


def _inside(value: object) -> Iterator[Any]:
    """Yield passwords in a nested setting: under their names, and in addresses."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, str) and NAMES.search(str(name).upper()):
                yield item
            yield from _inside(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _inside(item)
    elif isinstance(value, str):
        yield _password(value)


def _of_environment() -> Iterator[str]:
    for name, value in os.environ.items():
        if NAMES.search(name) and len(value) >= LEAST_ENV_CHARS:
            yield value
        elif URLS.search(name):
            yield _password(value)


def _password(url: object) -> str:
    if not isinstance(url, str) or "@" not in url:
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    password = parts.password or ""
    return "" if password == parts.username else password


def _forms(secret: str) -> Iterator[str]:
    """Yield the secret as it is, and as texts, addresses and pages spell it."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield html.escape(secret)
    plain = unquote(secret)
    if len(plain) >= LEAST_CHARS:
        yield plain


MARK = "[redacted]"


def redact(text: str) -> str:
    """Return `text` without the site's secrets, and without what looks like one."""
    return _without_patterns(redact_values(text))


def redact_values(text: str) -> str:
    """Return `text` without the secrets that this site is configured with or made."""
    for secret in site_secrets():
        if secret in text:
            text = text.replace(secret, MARK)
    return OWN_TOKEN.sub(MARK, text) if OWN_HINT in text else text


def redact_json(value: Any) -> Any:
    """Return the JSON `value`, keys and texts redacted."""
    return _mapped(value, redact)


def redact_values_json(value: Any) -> Any:
    """Return the JSON `value` without the secrets of this site."""
    return _mapped(value, redact_values)


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
        text = found.string
        return text[found.start() : start] + MARK + text[end : found.end()]

    return masked


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
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
    _configured.cache_clear()


setting_changed.connect(_reset)

# What may be the beginning of an access token, at the end of a text.
OWN_BEGINNING = re.compile(r"(?:a|ai|aia|aia_[A-Za-z0-9_-]*)\Z")


class Mask:
    """Keeps back what may be the beginning of a secret until it is known."""

    def __init__(self) -> None:
        self._kept = ""

    def add(self, piece: str) -> str:
        """Return what can be told after `piece`."""
        text = redact_values(self._kept + piece)
        kept = _beginning(text)
        self._kept = text[len(text) - kept :]
        return text[: len(text) - kept]

    def end(self) -> str:
        """Return what is left when no more comes."""
        kept, self._kept = self._kept, ""
        return kept


def _beginning(text: str) -> int:
    """Return how many characters at the end may be the beginning of a secret."""
    beginnings, longest = _beginnings(site_secrets())
    own = OWN_BEGINNING.search(text, max(0, len(text) - OWN_CHARS + 1))
    least = len(own[0]) if own else 0
    for length in range(min(longest, len(text)), least, -1):
        if text[-length:] in beginnings:
            return length
    return least


@lru_cache(maxsize=4)
def _beginnings(every: tuple[str, ...]) -> tuple[frozenset[str], int]:
    found = {secret[:n] for secret in every for n in range(1, len(secret))}
    return frozenset(found), max(map(len, found), default=0)
