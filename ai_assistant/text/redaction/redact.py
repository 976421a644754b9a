"""
Take secrets out of texts and JSON: those of the site, and what looks like one.

Each pattern has hints, of which the text holds one if the pattern can match: looking
for those is fast. Patterns are linear: no start can be tried again and again.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from re import Match
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed

from ai_assistant import conf
from ai_assistant.text.redaction.secrets import configured_secrets

# --- patterns of secrets that are not configured ---

# One start in a run of such characters; what JSON and repr make of a line's end is no
# letter of it.
START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pattern:
    """`regex` names what is taken out `secret`; without that name it is all of it."""

    name: str
    hints: tuple[str, ...]
    regex: re.Pattern[str]
    probe: re.Pattern[str] | None = None  # faster than `regex`, where hints are common

    def may_match(self, text: str) -> bool:
        """Return whether `text` may match, judged by the hints and the probe."""
        if not any(hint in text for hint in self.hints):
            return False
        return self.probe is None or self.probe.search(text) is not None


def _pattern(name: str, hints: str, regex: str, probe: str = "") -> Pattern:
    return Pattern(
        name=name,
        hints=tuple(hints.split()),
        regex=re.compile(regex),
        probe=re.compile(probe) if probe else None,
    )


# An access token of ours: `safety.identity.tokens` makes it. It is this site's, so it is taken
# out as the site's configured secrets are, also of what a person types.
OWN_TOKEN = re.compile(r"aia_[A-Za-z0-9_-]{43}")
OWN_HINT, OWN_CHARS = "aia_", 47

BUILT_IN = (
    _pattern(
        "private key",
        "PRIVATE",
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----"
        r"[^-]{0,20000}+(?:-----END [A-Z ]{0,60}-----)?",
    ),
    _pattern(
        "JWT",
        "eyJ",
        START + r"eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{8,}+",
    ),
    _pattern(
        "signed data",  # of django.core.signing: session data, cookies
        ":",
        r"(?:(?<![\w.-])|(?<=\\[nrt]))\.?[\w-]{20,}+:[A-Za-z0-9]{6}:[\w-]{27,86}+(?![\w-])",
        probe=r":[A-Za-z0-9]{6}:[\w-]{27}",
    ),
    _pattern(
        "API key",
        "sk- sk_ rk_ pk_live gsk_ xai- hf_ npm_ pypi- glpat- SG. AIza dop_v1_",
        START + r"(?:sk-[\w-]{16,}+|[sr]k_(?:live|test)_\w{16,}+|pk_live_\w{16,}+|"
        r"gsk_\w{20,}+|xai-\w{20,}+|hf_[A-Za-z0-9]{20,}+|npm_[A-Za-z0-9]{30,}+|"
        r"pypi-[\w-]{30,}+|glpat-[\w-]{20,}+|SG\.[\w-]{16,}+\.[\w-]{16,}+|"
        r"AIza[\w-]{35}|dop_v1_[a-f0-9]{40,}+)",
    ),
    _pattern(
        "access key",
        "AKIA ASIA",
        START + r"A(?:KIA|SIA)[0-9A-Z]{16}(?![0-9A-Za-z])",
    ),
    _pattern(
        "token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ xoxa- xoxb- xoxp- xoxr- xoxs-",
        START + r"(?:gh[pousr]_[A-Za-z0-9]{30,}+|github_pat_\w{30,}+|"
        r"xox[abprs]-[A-Za-z0-9-]{10,}+)",
    ),
    _pattern(
        "authorization",
        "earer EARER asic uthorization UTHORIZATION",
        r"(?:(?:[Bb]earer|BEARER|[Bb]asic|BASIC)\s{1,5}|"
        r"(?:[Aa]uthorization|AUTHORIZATION)[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
        r"(?:(?:[Tt]oken|[Kk]ey|[Bb]earer|[Bb]asic)\s{1,5})?)"
        r"(?P<secret>[\w.~+/=-]{16,}+)",
    ),
    _pattern(
        "password hash",
        "pbkdf2_ scrypt$ md5$ sha1$ $argon2 $2a$ $2b$ $2x$ $2y$",
        r"(?:pbkdf2_\w{3,10}\$\d{1,9}\$[^\s$\"'<>]{1,128}\$[A-Za-z0-9+/=]{16,}+|"
        r"scrypt\$[^\s$\"'<>]{1,128}\$[^\s$\"'<>]{1,128}\$\d{1,4}\$\d{1,4}\$"
        r"[A-Za-z0-9+/=]{16,}+|"
        r"(?:md5|sha1)\$[^\s$\"'<>]{1,128}\$[0-9a-f]{32,40}|"
        r"(?:argon2)?\$argon2(?:id|i|d)\$[^\s\"'<>]{20,300}|"
        r"(?:bcrypt(?:_sha256)?\$)?\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53})",
    ),
    _pattern(
        "password in an address",
        "://",
        r"://[^\s/:@\"'<>]{0,100}:(?P<secret>[^\s/@\"'<>]{1,200}+)@",
    ),
)
# Django's keys of sessions and of CSRF, behind the name of their cookie or field.
COOKIE = (
    r"(?:%s)(?:%%3[dD]|\\?[\"']?\]?\s{0,3}(?:[=:]\s{0,3}|value=)\\?[\"']?)"
    r"(?P<secret>[A-Za-z0-9]{16,128}+)"
)
FIELD_NAMES = ("csrfmiddlewaretoken", "session_key", "sessionid", "csrftoken")


@lru_cache(maxsize=1)
def patterns() -> tuple[Pattern, ...]:
    """Return the patterns of this site, its own ones last."""
    return (*BUILT_IN, _cookies(), *_own())


def rules() -> tuple[object, ...]:
    """Return what is looked for now; equal to what it was if that has not changed."""
    return patterns(), site_secrets()


def site_secrets() -> tuple[str, ...]:
    """Return the site's secrets, as they are configured now."""
    names = [profile.get("API_KEY_ENV") for profile in conf.profiles().values()]
    from_environment = tuple(os.environ.get(name or "", "") for name in names)
    return _configured(from_environment, conf.stored_secrets())


@lru_cache(maxsize=4)
def _configured(
    _of_environment: tuple[str, ...], _of_rows: tuple[str, ...]
) -> tuple[str, ...]:
    return configured_secrets()


def _cookies() -> Pattern:
    names = {*FIELD_NAMES, settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME}
    ordered = sorted(names, key=lambda name: (-len(name), name))
    return Pattern(
        name="session",
        hints=tuple(ordered),
        regex=re.compile(COOKIE % "|".join(map(re.escape, ordered))),
    )


def _own() -> Iterator[Pattern]:
    for regex in conf.get("REDACT"):
        yield Pattern(name="secret", hints=("",), regex=re.compile(regex))


# --- out of texts and JSON ---

MARK = "[redacted]"


def redact(text: str) -> str:
    """Return `text` without the site's secrets, and without likely secrets."""
    return _without_patterns(redact_values(text))


def redact_values(text: str) -> str:
    """Return `text` without the secrets that this site is configured with or made."""
    return _without_values(text, site_secrets())


def _without_values(text: str, secrets: tuple[str, ...]) -> str:
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, MARK)
    return OWN_TOKEN.sub(MARK, text) if OWN_HINT in text else text


def redact_json(value: Any) -> Any:
    """Return the JSON `value`, keys and texts redacted."""
    return _mapped(value, redact)


def redact_values_json(value: Any) -> Any:
    """Return the JSON `value` without the secrets of this site, as a copy."""
    secrets = site_secrets()
    if not _has_values(value, secrets):
        return _copied(value)  # most values: a history has hundreds of texts
    return _mapped(value, partial(_without_values, secrets=secrets))


def _has_values(value: Any, secrets: tuple[str, ...]) -> bool:
    """Return whether a text of the JSON `value` may hold one of the secrets."""
    texts: list[str] = []
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, dict):
            left += item.keys()
            left += item.values()
        elif isinstance(item, list | tuple):
            left += item
    # What reaches over an end is found here, but in none of the texts.
    whole = "\n".join(texts)
    return any(secret in whole for secret in (*secrets, OWN_HINT))


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: item if isinstance(item, str) else _copied(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [item if isinstance(item, str) else _copied(item) for item in value]
    return value


def _without_patterns(text: str) -> str:
    for pattern in patterns():
        if pattern.may_match(text):
            text = pattern.regex.sub(_masked(pattern), text)
    return text


def _masked(pattern: Pattern) -> Callable[[Match[str]], str] | str:
    if "secret" not in pattern.regex.groupindex:
        return MARK

    def masked(match: Match[str]) -> str:
        start, end = match.span("secret")
        if start < 0:
            return MARK
        text = match.string
        return text[match.start() : start] + MARK + text[end : match.end()]

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
    patterns.cache_clear()


setting_changed.connect(_reset)

# What may be the beginning of an access token, at the end of a text.
OWN_BEGINNING = re.compile(r"(?:a|ai|aia|aia_[A-Za-z0-9_-]*)\Z")


class Mask:
    """Holds back text that may be the beginning of a secret."""

    def __init__(self) -> None:
        self._held = ""
        self._secrets = site_secrets()

    def add(self, piece: str) -> str:
        """Return the text that can be passed on after `piece`."""
        text = _without_values(self._held + piece, self._secrets)
        held_chars = _beginning(text, self._secrets)
        self._held = text[len(text) - held_chars :]
        return text[: len(text) - held_chars]

    def end(self) -> str:
        """Return the text that is still held back."""
        held, self._held = self._held, ""
        return held


def _beginning(text: str, secrets: tuple[str, ...]) -> int:
    """Return how many characters at the end may be the beginning of a secret."""
    firsts, longest = _firsts(secrets)
    own_match = OWN_BEGINNING.search(text, max(0, len(text) - OWN_CHARS + 1))
    start = len(text) - (len(own_match[0]) if own_match else 0)
    for match in firsts.finditer(text, max(0, len(text) - longest), start):
        if any(secret.startswith(text[match.start() :]) for secret in secrets):
            return len(text) - match.start()
    return len(text) - start


@lru_cache(maxsize=4)
def _firsts(secrets: tuple[str, ...]) -> tuple[re.Pattern[str], int]:
    """Return what finds the first character of a secret, and the longest beginning."""
    chars = {re.escape(secret[0]) for secret in secrets if len(secret) > 1}
    regex = f"[{''.join(sorted(chars))}]" if chars else r"(?!)"
    return re.compile(regex), max(map(len, secrets), default=1) - 1
