"""The context of a request that its threads get, and the work that outlives it."""

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, ParamSpec, Self, TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.conf.urls.i18n import is_language_prefix_patterns_used
from django.http import HttpRequest
from django.urls import (
    Resolver404,
    ResolverMatch,
    get_resolver,
    get_script_prefix,
    get_urlconf,
    resolve,
    set_script_prefix,
)
from django.utils.translation import (
    activate,
    get_language,
    get_language_from_path,
    override,
)

P = ParamSpec("P")
T = TypeVar("T")

# How many runs that code of the site has started stand above what is called here.
start_depth: contextvars.ContextVar[int] = contextvars.ContextVar(
    "ai_assistant_start_depth", default=0
)


_thread = threading.local()


def keep_last_context() -> None:
    """
    Let this thread stay in the language and below the prefix of its last work.

    For a thread in which all work is `as_here`: to set both back each time takes
    longer than short work.
    """
    _thread.keeps_last = True


class Place(NamedTuple):
    """Where code is at work: its language, the prefix of addresses, and `start_depth`."""

    language: str | None
    prefix: str
    depth: int

    @classmethod
    def here(cls) -> Self:
        """Return that of now."""
        return cls(get_language(), get_script_prefix(), start_depth.get())

    def carry(self, work: Callable[P, T]) -> Callable[P, T]:
        """
        Return `work` for another thread, in the language and below the prefix of here.

        Code of the site that is called there belongs to the same run.
        """
        language, prefix, depth = self

        def as_there(*args: "P.args", **kwargs: "P.kwargs") -> T:
            if depth != start_depth.get():
                with at_depth(depth):
                    return as_there(*args, **kwargs)
            if get_language() == language and get_script_prefix() == prefix:
                return work(*args, **kwargs)  # to set both takes as long as short work
            if language and getattr(_thread, "keeps_last", False):
                activate(language)
                set_script_prefix(prefix)
                return work(*args, **kwargs)
            with below(prefix), override(language):
                return work(*args, **kwargs)

        # All that `wraps` does takes longer than short work.
        as_there.__name__ = getattr(work, "__name__", as_there.__name__)
        return as_there


def as_here(work: Callable[P, T]) -> Callable[P, T]:
    """Return `work` for another thread, to be at work as it would be here."""
    return Place.here().carry(work)


@contextmanager
def at_depth(depth: int) -> Iterator[None]:
    """Let so many runs that code of the site has started stand above the block."""
    token = start_depth.set(depth)
    try:
        yield
    finally:
        start_depth.reset(token)


_running: set[asyncio.Future[Any]] = set()


def outliving(work: Awaitable[T]) -> asyncio.Future[T]:
    """Begin work that outlives its request."""
    task = asyncio.ensure_future(work)
    _running.add(task)  # the reference keeps it from being collected
    task.add_done_callback(_running.discard)
    return task


async def to_the_end(work: Awaitable[T]) -> T:
    """Do what was accepted, even if its client has left; return the result."""
    return await asyncio.shield(outliving(work))


def of_no_request() -> contextvars.Context:
    """Return a context for work that outlives the request that started it."""
    context = contextvars.Context()
    context.run(set_script_prefix, settings.FORCE_SCRIPT_NAME or "/")
    return context


def script_prefix() -> str:
    """Return the prefix of all addresses of the site, with a slash at its end."""
    # A thread may not know the prefix of any request; the setting holds everywhere.
    forced = (settings.FORCE_SCRIPT_NAME or "").rstrip("/")
    return f"{forced}/" if forced else get_script_prefix()


@contextmanager
def below(prefix: str) -> Iterator[None]:
    """Make addresses below `prefix` meanwhile; below that of the site if it is empty."""
    before = get_script_prefix()
    set_script_prefix(prefix or script_prefix())
    try:
        yield
    finally:
        set_script_prefix(before)


def full_path(request: HttpRequest) -> str:
    """
    Return the path of the request, as its browser shows it, with the query.

    Not `get_full_path()`: a proxy may have taken the prefix off.
    """
    return script_prefix().rstrip("/") + request.get_full_path_info()


def below_prefix(path: str) -> str | None:
    """Return `path` without the prefix of the site; None if it is not below it."""
    prefix = script_prefix()
    return "/" + path[len(prefix) :] if path.startswith(prefix) else None


def language_of(path: str) -> str | None:
    """Return the language that `path` names, as `i18n_patterns` do; else the active."""
    has_prefixes, _ = is_language_prefix_patterns_used(
        get_urlconf() or settings.ROOT_URLCONF
    )
    named = get_language_from_path(below_prefix(path) or "") if has_prefixes else None
    return named or get_language()


def language_of_page(url: str) -> str | None:
    """Return the language that the whole address of a page names; else the active."""
    try:
        path = urlsplit(url).path
    except ValueError:  # a browser sends no such address
        path = ""
    return language_of(path)


def addresses_here() -> Hashable:
    """Return all on which it depends where an address leads, to remember it by."""
    forced = settings.FORCE_SCRIPT_NAME
    return get_resolver(get_urlconf()), get_script_prefix(), forced, get_language()


def match_of(path: str) -> ResolverMatch | None:
    """Return what a path of this site leads to, or None; with prefix, without query."""
    own = below_prefix(path)
    if own is None:
        return None
    try:
        with override(language_of(path)):
            return resolve(own)
    except Resolver404:
        return None


def request_meta(request: HttpRequest) -> dict[str, str]:
    """Return the META that an internal request needs for what the admin asks of it."""
    host, _, port = _host().partition(":")
    return {
        "HTTP_ACCEPT_LANGUAGE": get_language() or settings.LANGUAGE_CODE,
        "REQUEST_METHOD": request.method or "GET",
        "PATH_INFO": request.path_info,
        "SCRIPT_NAME": script_prefix().rstrip("/"),
        "SERVER_NAME": host,
        "SERVER_PORT": port or "80",
    }


def _host() -> str:
    """Return a host that the site answers for: it stands in links of results."""
    named = [host.lstrip(".") for host in settings.ALLOWED_HOSTS if host != "*"]
    return named[0] if named else "localhost"
