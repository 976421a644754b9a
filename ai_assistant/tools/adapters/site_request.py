"""
What the site adds to a request of a tool: keys of the session, middlewares, a context.

The real request of a page passes all middlewares and has the whole session. A tool's
gets what `DATA` names: only what reads who the person is, and nothing that stores.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from copy import copy
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.core.cache import caches
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import ToolFailed
from ai_assistant.models.run import Run
from ai_assistant.safety.identity.session import (
    SessionStamp,
    session_values,
    stamp_of_run,
)
from ai_assistant.tools.adapters.commit_hooks import CommitHooks

T = TypeVar("T")
# Middlewares that say who writes; a site may add more.
KNOWN = (
    "auditlog.middleware.AuditlogMiddleware",
    "crum.CurrentRequestUserMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "easyaudit.middleware.easyaudit.EasyAuditMiddleware",
    "simple_history.middleware.HistoryRequestMiddleware",
)
KEY = "assistant"  # of a session that is in no store
OF_PAGES = "views.decorators.cache."  # keys of Django's cache of whole answers


# Whose session the requests of a block have, whatever the run: that of who asks for it.
_asking: ContextVar[SessionStamp | None] = ContextVar(
    "ai_assistant_asking_session", default=None
)


@contextmanager
def in_session(stamp: SessionStamp) -> Iterator[None]:
    """Let the requests of the block have the keys of this session, and of no other."""
    token = _asking.set(stamp)
    try:
        yield
    finally:
        _asking.reset(token)


class KeptSession(SessionBase):
    """Some keys of the session of a run, read when they are needed. It is not stored."""

    def __init__(self, run_id: UUID | None = None) -> None:
        super().__init__(KEY)  # without one nothing is loaded
        self.run_id = run_id

    def load(self) -> dict[str, Any]:
        """Return the keys that `DATA` names, as long as the session is there."""
        names, asking = conf.get("DATA", "SESSION_KEYS"), _asking.get()
        if not names:
            return {}
        stamp = stamp_of_run(self.run_id) if asking is None else asking
        return session_values(stamp, names)

    def exists(self, session_key: str) -> bool:
        """Return False: none is stored."""
        return False

    def create(self) -> None:
        """Store nothing."""

    def save(self, *_args: Any, **_kwargs: Any) -> None:
        """Store nothing."""

    def delete(self, session_key: str | None = None) -> None:
        """Delete nothing."""

    @classmethod
    def clear_expired(cls) -> None:
        """Delete nothing."""


def through_site(request: HttpRequest, work: Callable[[], T]) -> T:
    """
    Do `work` as the view of `request`, within what the site puts around a view.

    No middleware sees an exception: as in Django, it would have become a response. What
    `work` leaves for after the commit is then done within such a request as well.
    """
    results: list[T] = []
    errors: list[BaseException] = []
    hooks = CommitHooks()

    def at_commit(hook: Callable[[], object]) -> object:
        return through_site(copy(request), hook)

    def view() -> HttpResponse:
        try:
            with (
                hooks.of_view(at_commit),
                _without_cached_pages(),
                _own_context(request),
            ):
                results.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors.append(error)
        done = results[0] if results else None
        return done if isinstance(done, HttpResponse) else HttpResponse()

    request.assistant_view = view  # type: ignore[attr-defined]
    _chain(tuple(settings.MIDDLEWARE), _allowed())(request)
    hooks.call_others()
    if errors:
        raise errors[0]
    if not results:
        raise ToolFailed(
            _("The admin page does not allow it.")
        )  # a middleware answered
    return results[0]


def has_middlewares() -> bool:
    """Return whether a request of a tool passes any middleware of the site."""
    return not set(_allowed()).isdisjoint(settings.MIDDLEWARE)


def _allowed() -> tuple[str, ...]:
    return (*KNOWN, *conf.get("DATA", "MIDDLEWARE"))


def _own_context(request: HttpRequest) -> AbstractContextManager[Any]:
    path = conf.get("DATA", "REQUEST_CONTEXT")
    if not path:
        return nullcontext()
    run_id = getattr(request.session, "run_id", None)
    run = Run.objects.filter(pk=run_id).first() if run_id else None
    return import_string(path)(request, run)  # type: ignore[no-any-return]


class PagelessCache:
    """A cache of the site that neither tells nor keeps whole answers of views."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __contains__(self, key: Any) -> bool:
        return key in self._real

    def get(self, key: Any, default: Any = None, *args: Any, **options: Any) -> Any:
        """Return what is there, unless it is the answer of a view."""
        if str(key).startswith(OF_PAGES):
            return default
        return self._real.get(key, default, *args, **options)

    def set(self, key: Any, *args: Any, **options: Any) -> None:
        """Keep a value, unless it is the answer of a view."""
        if not str(key).startswith(OF_PAGES):
            self._real.set(key, *args, **options)


@contextmanager
def _without_cached_pages() -> Iterator[None]:
    """
    Let views answer themselves, whoever asks.

    `cache_page` tells people apart by their cookies, which requests of tools do not
    have: one would be told what another has asked for.
    """
    real = {alias: caches[alias] for alias in caches.settings}
    for alias, cache in real.items():
        caches[alias] = PagelessCache(cache)  # type: ignore[assignment] # it acts as one
    try:
        yield
    finally:
        for alias, cache in real.items():
            caches[alias] = cache


@lru_cache(maxsize=8)
def _chain(
    installed: tuple[str, ...], allowed: tuple[str, ...]
) -> Callable[[HttpRequest], Any]:
    """Return the middlewares of the site that are allowed, in its own order."""
    handler: Callable[[HttpRequest], Any] = _call_view
    for path in reversed([one for one in installed if one in allowed]):
        middleware = import_string(path)
        if not getattr(middleware, "sync_capable", True):
            continue
        try:
            handler = middleware(handler) or handler
        except MiddlewareNotUsed:
            continue
    return handler


def _call_view(request: HttpRequest) -> Any:
    return request.assistant_view()  # type: ignore[attr-defined]
