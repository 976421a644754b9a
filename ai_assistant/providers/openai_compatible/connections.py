"""
Connections to servers: one pool for each event loop, by aiohttp.

aiohttp and orjson are imported when they are needed, in a thread.
"""

import asyncio
import atexit
import errno
import importlib
import os
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.addresses import leads_inside
from ai_assistant.providers.warmup import Warmup

if TYPE_CHECKING:
    import aiohttp

PACKAGES = ("aiohttp", "orjson")
INSTALL = "pip install 'ai-assistant[openai]'"
CA_FILES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@dataclass(frozen=True, kw_only=True, slots=True)
class Library:
    """What is imported, and what is made of it once for a process."""

    aiohttp: ModuleType
    loads: Callable[[bytes], Any]
    dumps: Callable[[Any], bytes]
    context: ssl.SSLContext


@cache
def is_installed() -> bool:
    """Return whether the packages are there; they are not imported."""
    return all(find_spec(name) for name in PACKAGES)


def _load() -> Library:
    try:
        aiohttp, orjson = map(importlib.import_module, PACKAGES)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"Package {error.name!r} is not installed. Install it with: {INSTALL}."
        ) from error
    return Library(
        aiohttp=aiohttp,
        loads=orjson.loads,
        dumps=orjson.dumps,
        context=trusted_context(),
    )


LIBRARY = Warmup(_load, slow=False)


async def ensure_loaded() -> Library:
    """Return what is imported. Raise ModelError `not_configured` if that fails."""
    try:
        return LIBRARY.loaded or await LIBRARY.wait()
    except (ImportError, OSError) as error:  # OSError: of the files of authorities
        raise ModelError("not_configured", str(error)) from error


def trusted_context() -> ssl.SSLContext:
    """
    Return whom to trust, by the environment: as other HTTP clients of Python read it.

    Without a word there it is whom the system trusts, and certifi where it is.
    """
    file = next(filter(None, map(os.environ.get, CA_FILES)), None)
    folder = os.environ.get("SSL_CERT_DIR")
    if file or folder:
        return ssl.create_default_context(cafile=file, capath=folder)
    context = ssl.create_default_context()
    if find_spec("certifi"):
        context.load_verify_locations(importlib.import_module("certifi").where())
    return context


def proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names for `url`; None for none."""
    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.netloc):
        return None
    if "://" not in proxy:
        return f"http://{proxy}"
    scheme = proxy.partition("://")[0]
    if scheme not in ("http", "https"):
        raise ModelError(
            "not_configured",
            f"The proxy of the environment is of type {scheme!r}; only 'http' and "
            "'https' are spoken. Use another one, or the provider 'litellm'.",
        )
    return proxy


# --- pools ---


@dataclass(eq=False, kw_only=True, slots=True)
class Pool:
    """The connections of one event loop."""

    session: "aiohttp.ClientSession"
    keeper: AsyncGenerator["Pool", None] | None = None
    proxies: dict[str, str | None] = field(default_factory=dict)  # by address
    pid: int = field(default_factory=os.getpid)

    def proxy(self, url: str) -> str | None:
        """Return the proxy for `url`, looked up once for each server."""
        if url not in self.proxies:
            self.proxies[url] = proxy_for(url)
        return self.proxies[url]


USED_BEFORE = "used before"


async def _note_reuse(_: object, context: Any, __: object) -> None:
    context.trace_request_ctx[USED_BEFORE] = True


_pools: dict[asyncio.AbstractEventLoop, Pool] = {}


async def pool_here(library: Library) -> Pool:
    """Return the pool of the running loop, which closes it at its own end."""
    loop = asyncio.get_running_loop()
    pool = _pools.get(loop)
    if pool is None:
        # A loop closes the generators that were begun on it before it is closed.
        keeper = _kept(library, loop)
        pool = _pools[loop] = await anext(keeper)
        pool.keeper = keeper
        await _forget_closed_loops()
    return pool


async def _kept(
    library: Library, loop: asyncio.AbstractEventLoop
) -> AsyncGenerator[Pool, None]:
    aiohttp = library.aiohttp
    trace = aiohttp.TraceConfig()
    # A server may close an open connection at any moment, also the one that is taken.
    trace.on_connection_reuseconn.append(_note_reuse)
    session = aiohttp.ClientSession(
        # No limit of its own: that of the runs side by side is ours.
        connector=aiohttp.TCPConnector(
            limit=0, ssl=library.context, resolver=_resolver(aiohttp)
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),  # those of a call are the engine's
        trust_env=False,  # else a .netrc would go before the key
        trace_configs=[trace],
    )
    try:
        yield Pool(session=session)
    finally:
        _pools.pop(loop, None)
        await session.close()


def _resolver(aiohttp: ModuleType) -> Any:
    """Return who looks names up: one that was public must not lead inside now."""

    class Resolver(aiohttp.DefaultResolver):  # type: ignore[misc, name-defined]
        async def resolve(self, host: str, *where: Any, **how: Any) -> list[Any]:
            found: list[Any] = await super().resolve(host, *where, **how)
            if leads_inside(host, [str(one["host"]) for one in found]):
                told = f"{host!r} leads to a private address now"
                raise OSError(errno.EHOSTUNREACH, told)
            return found

    return Resolver()


async def _forget_closed_loops() -> None:
    """Drop the pools of loops that were closed without closing their generators."""
    for loop in [loop for loop in list(_pools) if loop.is_closed()]:
        # Its transports went with the loop: nothing waits, so that any loop will do.
        await _pools.pop(loop).session.close()


@atexit.register
def _close_all() -> None:
    """Close what a server leaves open at the end of the process, as Daphne does."""
    for loop, pool in list(_pools.items()):
        with suppress(RuntimeError):  # of a loop of another thread
            if loop.is_closed():
                asyncio.run(_forget_closed_loops())
            elif pool.pid == os.getpid() and pool.keeper and not loop.is_running():
                loop.run_until_complete(pool.keeper.aclose())
