"""Which addresses a profile of the admin may name: no private ones but those allowed."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import ModelError
from ai_assistant.types import ModelChunk, ModelRequest, Provider

PORTS = {"http": 80, "https": 443}
# Names that networks give to what is inside of them.
PRIVATE_NAMES = ("localhost", "local", "internal", "intranet", "lan", "home.arpa")
# IPv6 addresses that lead to the IPv4 address in their last four bytes.
TRANSLATED = (ip_network("64:ff9b::/96"), ip_network("::/96"))
# Services for the machines of a cloud, at an address that is public by its form.
OF_CLOUDS = frozenset({ip_address("168.63.129.16"), ip_address("fd00:ec2::254")})
Address = IPv4Address | IPv6Address


def form_problem(base: str) -> str:
    """Return what is wrong with a base URL as it is written; empty for nothing."""
    parts = _parts(base)
    if parts is None:
        return _("Write it like https://host/v1, without spaces.")
    if "@" in parts.netloc or parts.query or parts.fragment:
        return _(
            "A base URL has no user, password, “?” or “#”. A key belongs into its own "
            "field."
        )
    if is_allowed(base):
        return ""
    if parts.scheme != "https":
        return _(
            "Begin it with https. Without encryption only the hosts that the setting "
            "MODEL_HOSTS names are called."
        )
    return ""


def is_allowed(base: str) -> bool:
    """Return whether MODEL_HOSTS names the host of a base URL, with any port or this."""
    parts = _parts(base)
    if parts is None:
        return False
    host = _host(parts)
    shown = f"[{host}]" if ":" in host else host
    port = parts.port or PORTS[parts.scheme]
    allowed = {str(name).lower() for name in conf.get("MODEL_HOSTS")}
    return not allowed.isdisjoint({host, shown, f"{shown}:{port}"})


def private_host(base: str) -> str:
    """
    Return the host of a base URL if it is private, or leads to a private address.

    Empty if it does not, if MODEL_HOSTS allows it, or if its name is not known now: it
    is looked up again before each call. May wait for a name server.
    """
    parts = _parts(base)
    if parts is None or is_allowed(base):
        return ""
    host = _host(parts)
    try:
        found = socket.getaddrinfo(host, parts.port or PORTS[parts.scheme])
    except OSError:
        found = []
    return host if _is_private(host, (one[4][0] for one in found)) else ""


async def check_address(base: str) -> None:
    """
    Raise ModelError `blocked_host` if a base URL is private and not allowed.

    Its name may lead elsewhere a moment later: see `leads_inside`.
    """
    wrong = form_problem(base)
    host = "" if wrong else await asyncio.to_thread(private_host, base)
    if wrong or host:
        detail = f"{host!r} is private, and MODEL_HOSTS does not name it."
        raise ModelError("blocked_host", wrong or detail)
    parts = _parts(base)
    if parts is not None and not is_allowed(base):
        _public.add(_host(parts))


_public: set[str] = set()  # hosts of profiles of the admin, that have to stay public


def leads_inside(host: str, found: Iterable[str]) -> bool:
    """Return whether one of these hosts, as it is connected to, leads inside."""
    return host.rstrip(".").lower() in _public and _is_private(host, found)


def _parts(base: str) -> SplitResult | None:
    """Return the parts of an address that all libraries read in the same way."""
    if not base.isascii() or not base.isprintable() or {*base} & {" ", "\\"}:
        return None
    try:
        parts = urlsplit(base)
        _ = parts.port  # raises what is no port
    except ValueError:
        return None
    return parts if parts.hostname and parts.scheme in PORTS else None


def _host(parts: SplitResult) -> str:
    return (parts.hostname or "").partition("%")[0].rstrip(".").lower()


def _is_private(host: str, found: Iterable[str | int]) -> bool:
    has_private_name = host.endswith(tuple(f".{name}" for name in PRIVATE_NAMES))
    if ":" not in host and ("." not in host or has_private_name):
        return True
    addresses = [str(one).partition("%")[0] for one in found]
    try:
        # 127.1 and 0x7f.1 are addresses too.
        addresses.append(socket.inet_ntoa(socket.inet_aton(host)))
    except OSError:
        addresses += [host] if ":" in host else []
    try:
        return any(_is_inside(ip_address(one)) for one in addresses)
    except ValueError:
        return True  # of a form that is not known


def _is_inside(address: Address) -> bool:
    inner = _inner(address)
    if inner is not None:
        return _is_inside(inner)
    return (
        address in OF_CLOUDS
        or not address.is_global
        or address.is_multicast
        or address.is_reserved
        or (isinstance(address, IPv6Address) and address.is_site_local)
    )


def _inner(address: Address) -> IPv4Address | None:
    """Return the IPv4 address to which an IPv6 address leads, if it does."""
    if isinstance(address, IPv4Address):
        return None
    last = IPv4Address(int(address) & 0xFFFFFFFF)
    if any(address in network for network in TRANSLATED) and int(address) > 1:
        return last
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)


class AddressChecked(Provider):
    """The provider of a row, whose address is looked up before each call."""

    def __init__(self, profile: Mapping[str, Any], provider: Provider) -> None:
        super().__init__(profile)
        self._provider = provider
        self.gives_titles = provider.gives_titles
        self.sums_up = provider.sums_up

    async def ready(self) -> None:
        """Wait until the provider is loaded."""
        await self._provider.ready()

    def price_usd(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        """Return what the provider knows."""
        return self._provider.price_usd(input_tokens, output_tokens)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Yield the chunks of the provider. Raise ModelError `blocked_host`."""
        await check_address(str(self.profile["API_BASE"]))
        async with aclosing(self._provider.stream(request)) as chunks:
            async for chunk in chunks:
                yield chunk
