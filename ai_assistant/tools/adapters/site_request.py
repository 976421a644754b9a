"""
What the site adds to a request of a tool: keys of the session, middlewares, a context.

The real request of a page passes all middlewares and has the whole session. A tool's
gets what `DATA` names: only what reads who the person is, and nothing that stores.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.sessions.backends.base import SessionBase
from django.core.cache import caches
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import Error as DatabaseFault
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import AssistantError, ToolFailed
from ai_assistant.models.run import Run
from ai_assistant.safety.identity.session import (
    SessionStamp,
    session_values,
    stamp_of_run,
)
from ai_assistant.tools.adapters.commit_hooks import CommitHooks
from ai_assistant.tools.adapters.site_middleware import through_middlewares

logger = logging.getLogger("ai_assistant")

T = TypeVar("T")
# No faults: code of the site says so, or a busy database, which is asked once more.
TOLD = (AssistantError, Http404, PermissionDenied, ValidationError, DatabaseFault)
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


def has_own_context() -> bool:
    """Return whether the site puts code of its own around a request of a tool."""
    return bool(conf.get("DATA", "REQUEST_CONTEXT"))


def through_site(request: HttpRequest, work: Callable[[], T]) -> T:
    """
    Do `work` as the view of `request`, within what the site puts around a view.

    No middleware sees an exception: as in Django, it would have become a response. What
    `work` leaves for after the commit is then done within such a request as well.
    Raise ToolFailed if code that the site puts there fails, or answers by itself.
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
                _own_context(request, errors),
            ):
                try:
                    results.append(work())
                except BaseException as error:
                    errors.append(error)
                    raise
        except BaseException as error:  # noqa: BLE001 - raised again below
            errors[:] = [error]
        done = results[0] if results else None
        return done if isinstance(done, HttpResponse) else HttpResponse()

    with _no_faults("a middleware of the site"):
        response = through_middlewares(request, view)
        hooks.call_others()
    if errors:
        raise errors[0]
    if not results:
        status = getattr(response, "status_code", None)
        logger.warning("a middleware of the site has answered a tool with %s", status)
        raise ToolFailed(_("The admin page does not allow it."))
    return results[0]


@contextmanager
def _own_context(request: HttpRequest, errors: list[BaseException]) -> Iterator[None]:
    """Enter the REQUEST_CONTEXT of the site; `errors` are not its own."""
    path = conf.get("DATA", "REQUEST_CONTEXT")
    if not path:
        yield
        return
    run_id = getattr(request.session, "run_id", None)
    run = Run.objects.filter(pk=run_id).first() if run_id else None
    with _no_faults(f"REQUEST_CONTEXT {path!r}", errors):  # noqa: SIM117 - it fails in there
        with import_string(path)(request, run):
            yield


@contextmanager
def _no_faults(what: str, errors: list[BaseException] | None = None) -> Iterator[None]:
    """Raise ToolFailed for a fault of `what`; all `errors` pass."""
    try:
        yield
    except TOLD:
        raise
    except Exception as error:
        if any(error is one for one in errors or ()):
            raise
        logger.exception("%s fails around a request of a tool", what)
        raise ToolFailed(
            _("What the site does around this request failed. Nothing was saved."),
            suggestion=_("Tell the person that the log of the site says why."),
        ) from error


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
