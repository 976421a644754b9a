"""Whether a page may open the socket: only pages of this site, or named ones."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.http import is_same_domain

from ai_assistant import conf

DEFAULT_PORTS = {"http": 80, "https": 443}


def is_own_origin(headers: list[tuple[bytes, bytes]], *, scheme: str = "ws") -> bool:
    """
    Tell whether the Origin header names this site. A missing one does not.

    The host that was asked for must itself be one of ALLOWED_HOSTS.
    """
    values = {name.lower(): value.decode("latin-1") for name, value in headers}
    origin, host = values.get(b"origin", ""), values.get(b"host", "")
    if settings.USE_X_FORWARDED_HOST:
        host = values.get(b"x-forwarded-host", host)
    if not origin or not _is_allowed_host(host):
        return False
    named = (*conf.get("ALLOWED_ORIGINS"), *settings.CSRF_TRUSTED_ORIGINS)
    if any(is_named(origin, one) for one in named):
        return True
    try:
        parts = urlsplit(origin)
        port = parts.port or DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return False
    if parts.scheme not in DEFAULT_PORTS or parts.path or not parts.hostname:
        return False
    if parts.scheme == "http" and _is_https(scheme, values):
        return False
    wanted_host, wanted_port = split_domain_port(host.lower())
    own_port = int(wanted_port) if wanted_port else DEFAULT_PORTS[parts.scheme]
    return _bare(parts.hostname) == _bare(wanted_host) and port == own_port


def is_named(origin: str, name: str) -> bool:
    """Tell whether the site's setting `name` means `origin`; it may be a pattern."""
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


def _is_https(scheme: str, headers: dict[bytes, str]) -> bool:
    """Tell whether the site is served over https: a plain page is not its own."""
    proxy = settings.SECURE_PROXY_SSL_HEADER
    if proxy is not None:
        name = proxy[0].removeprefix("HTTP_").replace("_", "-").lower()
        if headers.get(name.encode(), "").split(",")[0].strip() == proxy[1]:
            return True
    return (
        scheme == "wss"
        or settings.SESSION_COOKIE_SECURE
        or settings.SECURE_SSL_REDIRECT
    )


def _is_allowed_host(host: str) -> bool:
    domain, _port = split_domain_port(host)
    allowed = settings.ALLOWED_HOSTS
    if settings.DEBUG and not allowed:
        allowed = [".localhost", "127.0.0.1", "[::1]"]
    return bool(domain) and validate_host(domain, allowed)


def _bare(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()
