"""What the site puts around the requests of the tools: middlewares and a context."""

import inspect
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage

from ai_assistant import conf
from ai_assistant.checks.messages import imported, nearest, problem
from ai_assistant.tools.adapters.site_middleware import (
    allowed,
    extended_by,
    is_async_only,
    is_of_browsers,
    works_at_views,
)

SETTING = "AI_ASSISTANT['DATA']['MIDDLEWARE']"
CONTEXT = "AI_ASSISTANT['DATA']['REQUEST_CONTEXT']"
FORM = (
    "Give the dotted path of a context manager that takes the request and the run: "
    "@contextmanager def audited(request, run)."
)


def check_requests() -> list[CheckMessage]:
    """Return what is wrong with what the site puts around a request of a tool."""
    return [*_named(), *_installed(), *_context()]


def _named() -> Iterator[CheckMessage]:
    """Yield what keeps the middlewares of the setting from being passed."""
    for path in map(str, conf.get("DATA", "MIDDLEWARE")):
        middleware, fault = imported(path)
        if fault:
            similar = nearest(path, settings.MIDDLEWARE)
            meant = f" Is {similar!r} meant?" if similar and similar != path else ""
            yield problem(
                "ai_assistant.E132",
                f"{SETTING} names {path!r}, {fault}",
                f"Correct or remove it.{meant}",
            )
            continue
        if is_of_browsers(middleware):
            yield problem(
                "ai_assistant.E133",
                f"{SETTING} names {path!r}, which makes the session, the user, the "
                "messages or the CSRF token of a browser's request. A request of a tool "
                "has its own.",
                "Remove it. For keys of the session there is "
                "AI_ASSISTANT['DATA']['SESSION_KEYS'].",
            )
        elif path not in settings.MIDDLEWARE:
            yield problem(
                "ai_assistant.W134",
                f"{SETTING} names {path!r}, which is not in MIDDLEWARE: it does not run "
                "around a write.",
                "Add it to MIDDLEWARE, or remove it.",
            )
        elif works_at_views(middleware):
            yield problem(
                "ai_assistant.W139",
                f"{SETTING} names {path!r}, whose process_view() is not called: what it "
                "does there is not done around a write.",
                f"Do it in __call__(), or in {CONTEXT}; or remove it.",
            )


def _installed() -> Iterator[CheckMessage]:
    """Yield what leaves out middlewares of the site that should be passed."""
    for path in settings.MIDDLEWARE:
        middleware, _fault = imported(path)  # Django names it when it loads them
        if path in allowed():
            if is_async_only(middleware):
                yield problem(
                    "ai_assistant.W135",
                    f"MIDDLEWARE has {path!r}, which is async only: it does not run "
                    "around a write of the assistant, which is sync.",
                    "Let it be sync and async, with @sync_and_async_middleware, or do "
                    f"in {CONTEXT} what it does for a write.",
                )
        elif known := extended_by(middleware):
            yield problem(
                "ai_assistant.W136",
                f"MIDDLEWARE has {path!r}, which extends {known!r}, but does not run "
                "around a write of the assistant as that would.",
                f"Add it to {SETTING}.",
            )


def _context() -> Iterator[CheckMessage]:
    path = conf.get("DATA", "REQUEST_CONTEXT")
    if not path:
        return
    manager, fault = imported(path)
    if fault:
        yield problem("ai_assistant.E137", f"{CONTEXT} is {path!r}, {fault}", FORM)
    elif fault := _fault_of(manager):
        yield problem("ai_assistant.E138", f"{CONTEXT} is {path!r}, {fault}.", FORM)


def _fault_of(manager: Any) -> str:
    """Return why it is no context manager of a request and a run; empty if it may be."""
    if not callable(manager):
        return "which cannot be called"
    if isinstance(manager, type):
        if not (hasattr(manager, "__enter__") and hasattr(manager, "__exit__")):
            return "a class without __enter__() and __exit__()"
    elif inspect.isgeneratorfunction(manager):
        return "a generator without @contextmanager"
    elif _is_async(manager):
        return "which is async, while a write is sync"
    if not _takes_both(manager):
        return "which does not take two arguments, the request and the run"
    return ""


def _is_async(manager: Any) -> bool:
    own = inspect.unwrap(manager)  # of @asynccontextmanager
    return inspect.iscoroutinefunction(manager) or inspect.isasyncgenfunction(own)


def _takes_both(manager: Any) -> bool:
    with suppress(ValueError):  # code in C does not tell
        try:
            inspect.signature(manager).bind(object(), None)
        except TypeError:
            return False
    return True
