"""What serves the site: ASGI, the channel layer, Celery, the database."""

import os
from collections import deque
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from types import FunctionType
from typing import Any

from channels.layers import InMemoryChannelLayer
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.db import DEFAULT_DB_ALIAS, connection, router
from django.utils.module_loading import import_string

from ai_assistant import conf
from ai_assistant.models.clock import NOW
from ai_assistant.models.run import Run
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


def _parts(found: Any) -> Iterator[Any]:
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


IN_MEMORY = "channels.layers.InMemoryChannelLayer"
REDIS = "channels_redis.core.RedisChannelLayer"


def check_layer() -> list[CheckMessage]:
    """Return what keeps news from reaching the open panels at once."""
    layers = getattr(settings, "CHANNEL_LAYERS", None) or {}
    backend = layers.get("default", {}).get("BACKEND", "")
    if not backend:
        return [
            Error(
                "CHANNEL_LAYERS has no layer 'default'.",
                hint=f"Set it to {{'default': {{'BACKEND': {IN_MEMORY!r}}}}}.",
                id="ai_assistant.E040",
            )
        ]
    try:
        layer = import_string(backend)
    except ImportError as error:
        return [
            Error(
                f"CHANNEL_LAYERS['default'] names {backend!r}, which cannot be "
                f"imported: {error}",
                hint="Correct the path, or: pip install 'ai-assistant[redis]'.",
                id="ai_assistant.E041",
            )
        ]
    return [*_reach(layer)]


def _reach(layer: object) -> Iterator[CheckMessage]:
    if not (isinstance(layer, type) and issubclass(layer, InMemoryChannelLayer)):
        return
    if reason := _several_processes():
        yield Warning(
            f"The channel layer is in memory, but {reason}: what one process does "
            "reaches the panels of another only when they poll.",
            hint=f"Use a layer between processes, for example {REDIS!r}.",
            id="ai_assistant.W042",
        )


def _several_processes() -> str:
    if conf.get("EXECUTOR") == "worker":
        return "AI_ASSISTANT['EXECUTOR'] is 'worker'"
    count = os.environ.get("WEB_CONCURRENCY", "")
    if count.isdecimal() and int(count) > 1:
        return f"WEB_CONCURRENCY is {count}"
    return ""


# Brokers that deliver a message again after a time, and their default for it.
VISIBILITY_S = {"redis": 3600, "rediss": 3600, "sentinel": 3600, "sqs": 1800}


def check_background() -> list[CheckMessage]:
    """Return what keeps long tools from being carried out."""
    wanted = conf.get("BACKGROUND")
    if wanted == "threads":
        return []
    broker = getattr(settings, "CELERY_BROKER_URL", None)
    if wanted == "auto" and not broker:
        return []
    if find_spec("celery") is None:
        return [_no_celery(wanted)]
    from celery import current_app  # noqa: PLC0415 - Celery is optional

    return [*_celery_app(current_app.conf)]


def _no_celery(wanted: str) -> CheckMessage:
    hint = "Install it: pip install 'ai-assistant[celery]'."
    if wanted == "celery":
        return Error(
            "AI_ASSISTANT['BACKGROUND'] is 'celery', but the package 'celery' is not "
            "installed.",
            hint=hint,
            id="ai_assistant.E050",
        )
    return Warning(
        "CELERY_BROKER_URL is set, but the package 'celery' is not installed: long "
        "tools run in threads of the web process.",
        hint=f"{hint} Or set AI_ASSISTANT['BACKGROUND'] to 'threads'.",
        id="ai_assistant.W052",
    )


def _celery_app(app: Any) -> Iterator[CheckMessage]:
    broker = app.broker_write_url or app.broker_url
    if not broker:
        yield Error(
            "Long tools go to Celery, but the current Celery app has no broker.",
            hint=(
                "Set CELERY_BROKER_URL, and import the site's Celery app in the "
                "__init__.py of the project, so that tasks find it."
            ),
            id="ai_assistant.E051",
        )
        return
    default_s = VISIBILITY_S.get(str(broker).partition(":")[0])
    if default_s is None:
        return
    options = app.broker_transport_options or {}
    visible_s, limit_s = options.get("visibility_timeout"), app.task_time_limit
    if (visible_s or default_s) < (limit_s or default_s):
        takes = (
            f"a task may take {limit_s} s" if limit_s else "a task has no time limit"
        )
        yield Warning(
            f"The broker delivers a message again after {visible_s or default_s} s, "
            f"but {takes}: it comes while its call is worked on.",
            hint=(
                "Set CELERY_BROKER_TRANSPORT_OPTIONS['visibility_timeout'] to at least "
                "CELERY_TASK_TIME_LIMIT and a minute more."
            ),
            id="ai_assistant.W053",
        )


IMMEDIATE = "'OPTIONS': {'transaction_mode': 'IMMEDIATE'}"


def check_database() -> list[CheckMessage]:
    """Return what makes writes fail. Opens no connection."""
    if connection.vendor not in NOW:
        return [
            Error(
                f"The database 'default' is {connection.vendor!r}, on which the "
                "assistant does not run.",
                hint="Use SQLite or PostgreSQL.",
                id="ai_assistant.E060",
            )
        ]
    return [*_alias(), *_sqlite(), *_atomic_requests()]


def _alias() -> Iterator[CheckMessage]:
    alias = router.db_for_write(Run)
    if alias != DEFAULT_DB_ALIAS:
        yield Error(
            f"DATABASE_ROUTERS send the assistant's tables to {alias!r}.",
            hint="Leave the app 'ai_assistant' in the database 'default'.",
            id="ai_assistant.E063",
        )


def _mode() -> str | None:
    """Return the transaction mode that SQLite will have, None for another database."""
    if connection.vendor != "sqlite":
        return None
    own = connection.settings_dict.get("OPTIONS", {}).get("transaction_mode")
    default = "IMMEDIATE" if conf.get("SQLITE_IMMEDIATE") else "DEFERRED"
    return str(own or default).upper()


def _sqlite() -> Iterator[CheckMessage]:
    mode = _mode()
    if mode in (None, "IMMEDIATE", "EXCLUSIVE"):
        return
    yield Warning(
        f"SQLite begins transactions in the mode {mode}: while runs are active, saves "
        'that read before they write fail with "database is locked".',
        hint=(
            "Set AI_ASSISTANT['SQLITE_IMMEDIATE'] to True, or give the database "
            f"{IMMEDIATE}. The price: atomic blocks that only read take the write lock "
            "too."
        ),
        id="ai_assistant.W061",
    )


def _atomic_requests() -> Iterator[CheckMessage]:
    if connection.settings_dict.get("ATOMIC_REQUESTS") and _mode() == "IMMEDIATE":
        yield Warning(
            "ATOMIC_REQUESTS is on for an SQLite database in the mode IMMEDIATE: every "
            "request holds the write lock from its beginning to its end.",
            hint=(
                "Turn ATOMIC_REQUESTS off and use transaction.atomic() where it is "
                "needed, or use PostgreSQL."
            ),
            id="ai_assistant.W062",
        )
