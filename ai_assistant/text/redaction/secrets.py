"""The secrets of this site, from its settings and its environment."""

import html
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, unquote, urlsplit

from django.conf import settings

from ai_assistant import conf

LEAST_CHARS = 8  # a shorter one would hit innocent words
LEAST_ENV_CHARS = 16
NAMES = re.compile(
    r"(^|_)(SECRET|SECRET_KEY|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|"
    r"SIGNING_KEY|AUTH_TOKEN|ACCESS_TOKEN|API_TOKEN|TOKEN)$"
)
URLS = re.compile(r"(_URL|_DSN|_BACKEND)$")
FALLBACKS = "SECRET_KEY_FALLBACKS"


def configured_secrets() -> tuple[str, ...]:
    """Return every secret of the site, longest first, each in all its forms."""
    forms = {form for secret in _secrets() for form in _forms(secret)}
    return tuple(sorted(forms, key=lambda secret: (-len(secret), secret)))


def _secrets() -> Iterator[str]:
    for value in (*_of_profiles(), *_of_settings(), *_of_environment()):
        if isinstance(value, bytes):
            value = value.decode(errors="ignore")  # noqa: PLW2901
        if isinstance(value, str) and len(value) >= LEAST_CHARS and " " not in value:
            yield value


def _of_profiles() -> Iterator[Any]:
    yield conf.get("AUDIT", "KEY")
    yield from conf.stored_secrets()
    for profile in conf.profiles().values():
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
    unquoted = unquote(secret)
    if len(unquoted) >= LEAST_CHARS:
        yield unquoted
