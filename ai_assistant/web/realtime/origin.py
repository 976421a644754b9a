"""Check the origin of a socket: only pages of this site, or named ones."""

import re
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.utils.http import is_same_domain

from ai_assistant import conf

# As a browser writes it: no path, no name of a user, no part for the page alone.
ORIGIN = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9.-]+|\[[a-f0-9:.]+\])(?::(?P<port>\d+))?",
    re.IGNORECASE | re.ASCII,
)
DEFAULT_PORTS = {"http": "80", "https": "443"}


class Handshake(HttpRequest):
    """The request that opens a socket, so that Django reads its host and scheme."""

    def __init__(self, headers: list[tuple[bytes, bytes]], scheme: str) -> None:
        super().__init__()
        self._scheme = {"ws": "http", "wss": "https"}.get(scheme, scheme)
        for name, value in headers:
            key = f"HTTP_{name.decode('latin-1').upper().replace('-', '_')}"
            said = value.decode("latin-1")
            self.META[key] = f"{self.META[key]},{said}" if key in self.META else said
        self.META.setdefault("HTTP_HOST", "")
        header, secure = settings.SECURE_PROXY_SSL_HEADER or ("", "")
        # Some proxies, such as Traefik, give the scheme of a socket by its own name.
        if self.META.get(header) == "wss":
            self.META[header] = secure

    def _get_scheme(self) -> str:
        return self._scheme


def is_own_origin(headers: list[tuple[bytes, bytes]], *, scheme: str = "ws") -> bool:
    """
    Return whether the Origin header names this site. A missing one does not.

    The rule is that of Django's CSRF protection: scheme, host and port are those
    of the request, or the site has named the origin. The host that was asked for
    must itself be one of ALLOWED_HOSTS.
    """
    asked = Handshake(headers, scheme)
    origin = asked.META.get("HTTP_ORIGIN", "")
    try:
        host = asked.get_host()
    except DisallowedHost:
        return False
    named = (*conf.get("ALLOWED_ORIGINS"), *settings.CSRF_TRUSTED_ORIGINS)
    if any(is_named(origin, one) for one in named):
        return True
    own = "https" if _is_https(asked) else "http"
    said = _parts(origin)
    return said is not None and said == _parts(f"{own}://{host}")


def is_named(origin: str, name: str) -> bool:
    """Return whether the site's setting `name` means `origin`; it may be a pattern."""
    if "*" not in name:
        return origin == name
    # As Django reads CSRF_TRUSTED_ORIGINS: "https://*.example.com".
    try:
        said, meant = urlsplit(origin), urlsplit(name)
    except ValueError:
        return False
    if origin != f"{said.scheme}://{said.netloc}" or "@" in said.netloc:
        return False
    below = is_same_domain(said.netloc.lower(), meant.netloc.lower().lstrip("*"))
    return said.scheme == meant.scheme and below


def _parts(origin: str) -> tuple[str, str, str] | None:
    """Return scheme, host and port of an origin; None if it is malformed."""
    found = ORIGIN.fullmatch(origin)
    if found is None:
        return None
    scheme = found["scheme"].lower()
    return scheme, found["host"].lower(), found["port"] or DEFAULT_PORTS[scheme]


def _is_https(request: HttpRequest) -> bool:
    """Return whether the site is served over https: a plain page is not its own."""
    return (
        request.is_secure()
        or settings.SESSION_COOKIE_SECURE
        or settings.SECURE_SSL_REDIRECT
    )
