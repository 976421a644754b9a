"""Where a link of the model may go, and what is shown of it."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

REL = "noopener noreferrer nofollow"

_SCHEME = re.compile(r"^[a-z][a-z0-9+.\-]*:", re.IGNORECASE)
# What a browser reads differently from a URL parser is refused, not repaired.
_ODD = re.compile(r"[\x00-\x20\\\x7f-\x9f]")
_HOST = re.compile(
    r"(?:[a-z0-9_](?:[a-z0-9_\-.]*[a-z0-9_])?\.?|\[[0-9a-f:.]+\])(?::\d{1,5})?",
    re.IGNORECASE,
)
_MAIL = re.compile(r"[^\s@<>()?&,;:]+@[a-z0-9.\-]+", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """`host` is what the reader is shown: the host, or the address of a mail."""

    kind: Literal["foreign", "local", "mail", "refused"]
    href: str = ""
    host: str = ""


REFUSED = Target(kind="refused")


def target(href: str) -> Target:
    """
    Tell where `href` goes.

    Foreign is all that names a host, also without a scheme. Refused is every
    other scheme, a host with a user name, and what parsers disagree about.
    """
    if not href or _ODD.search(href):
        return REFUSED
    if href.startswith("//"):
        return _foreign(href, href[2:])
    if not _SCHEME.match(href):
        return Target(kind="local", href=href)
    scheme, rest = href.split(":", 1)
    if scheme.lower() in {"http", "https"} and rest.startswith("//"):
        return _foreign(href, rest[2:])
    if scheme.lower() == "mailto":
        return _mail(href, rest)
    return REFUSED


def _foreign(href: str, rest: str) -> Target:
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if not _HOST.fullmatch(host):
        return REFUSED
    return Target(kind="foreign", href=href, host=host.lower())


def _mail(href: str, rest: str) -> Target:
    address = rest.split("?", 1)[0]
    if not _MAIL.fullmatch(address):
        return REFUSED
    return Target(kind="mail", href=href, host=address)


def last_segment(href: str) -> str:
    """Return the file name of `href`, or else all of it."""
    return unquote(urlsplit(href).path).rstrip("/").rsplit("/", 1)[-1] or href
