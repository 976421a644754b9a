"""The ASGI application: there, importable, and with the assistant in front."""

from collections import deque
from collections.abc import Iterator
from functools import partial
from types import FunctionType
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name
from django.utils.module_loading import import_string

from ai_assistant import conf
from ai_assistant.routing import assistant_application

MAX_OBJECTS = 1000  # that are looked at for the wrapper
WRAPPER = f"{assistant_application.__qualname__}.<locals>.application"
NOT_SET = ("ai_assistant.E023", "ai_assistant.W023")
UNWRAPPED = ("ai_assistant.E025", "ai_assistant.W025")
HINT = "Wrap it: application = assistant_application(get_asgi_application())."


def check_asgi() -> list[CheckMessage]:
    """Return what keeps sockets and runs out of the web process."""
    path = getattr(settings, "ASGI_APPLICATION", None)
    if not path:
        return [_missing("ASGI_APPLICATION is not set", NOT_SET)]
    try:
        application = import_string(path)
    except Exception as error:  # noqa: BLE001 - a site's module may raise anything
        return [
            Error(
                f"ASGI_APPLICATION names {path!r}, which cannot be imported: "
                f"{type(error).__name__}: {error}",
                hint="Give the dotted path of the application in asgi.py.",
                id="ai_assistant.E024",
            )
        ]
    if is_wrapped(application):
        return []
    return [_missing(f"ASGI_APPLICATION {path!r} is without the assistant", UNWRAPPED)]


def _missing(what: str, ids: tuple[str, str]) -> CheckMessage:
    as_error, as_warning = ids
    if conf.get("EXECUTOR") == "worker":
        return Warning(
            f"{what}: the panel has no socket and looks for news by polling.",
            hint=HINT,
            id=as_warning,
        )
    return Error(
        f"{what}: nothing executes runs, and the panel has no socket.",
        hint=HINT,
        id=as_error,
    )


def is_wrapped(application: object) -> bool:
    """
    Tell whether what `assistant_application` returned is in `application`.

    It may stand inside others: a static files handler, a router, a middleware.
    """
    queue: deque[Any] = deque([application])
    seen: dict[int, object] = {}
    while queue and len(seen) < MAX_OBJECTS:
        found = queue.popleft()
        if id(found) in seen:
            continue
        seen[id(found)] = found
        if getattr(found, "__qualname__", "") == WRAPPER:
            return True
        queue.extend(_parts(found))
    return False


def _parts(found: Any) -> Iterator[Any]:  # noqa: ANN401 - any ASGI application
    if isinstance(found, dict):
        yield from found.values()
    elif isinstance(found, list | tuple):
        yield from found
    elif isinstance(found, partial):
        yield from (found.func, *found.args, *found.keywords.values())
    elif isinstance(found, FunctionType):
        yield from _captured(found)
    elif not isinstance(found, type | str | bytes):
        yield getattr(found, "__self__", None)
        yield from getattr(found, "__dict__", {}).values()


def _captured(function: FunctionType) -> Iterator[Any]:
    yield getattr(function, "__wrapped__", None)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue  # not filled yet
