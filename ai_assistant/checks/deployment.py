"""Checks of the deployment: ASGI, the channel layer, Celery, the database."""

import os
from collections import deque
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from types import FunctionType
from typing import Any

from channels.layers import InMemoryChannelLayer
from django.conf import settings
from django.core.checks import CheckMessage
from django.db import DEFAULT_DB_ALIAS, connection, connections, router
from django.utils.module_loading import import_string

from ai_assistant import conf
from ai_assistant.checks.messages import imported, problem
from ai_assistant.models.clock import NOW
from ai_assistant.models.run import Run
from ai_assistant.routing import assistant_application

MAX_OBJECTS = 1000  # that are looked at for the wrapper
WRAPPER = f"{assistant_application.__qualname__}.<locals>.application"
HINT = "Wrap it: application = assistant_application(get_asgi_application())."


def check_asgi() -> Iterator[CheckMessage]:
    """Yield what keeps sockets and runs from working in the web process."""
    is_error = conf.get("EXECUTOR") != "worker"
    consequence = (
        "nothing executes runs, and the panel has no socket."
        if is_error
        else "the panel has no socket and polls for changes."
    )
    path = getattr(settings, "ASGI_APPLICATION", None)
    if not path:
        check_id = "ai_assistant.E023" if is_error else "ai_assistant.W023"
        yield problem(check_id, f"ASGI_APPLICATION is not set: {consequence}", HINT)
        return
    application, fault = imported(path)
    if fault:
        yield problem(
            "ai_assistant.E024",
            f"ASGI_APPLICATION names {path!r}, {fault}",
            "Give the dotted path of the application in asgi.py.",
        )
        return
    if not is_wrapped(application):
        check_id = "ai_assistant.E025" if is_error else "ai_assistant.W025"
        subject = f"ASGI_APPLICATION {path!r} does not include the assistant"
        yield problem(check_id, f"{subject}: {consequence}", HINT)


def is_wrapped(application: object) -> bool:
    """
    Return whether what `assistant_application` returned is in `application`.

    It may be wrapped by others: a static files handler, a router, a middleware.
    """
    queue: deque[Any] = deque([application])
    seen: dict[int, object] = {}
    while queue and len(seen) < MAX_OBJECTS:
        part = queue.popleft()
        if id(part) in seen:
            continue
        seen[id(part)] = part
        if getattr(part, "__qualname__", "") == WRAPPER:
            return True
        queue.extend(_parts(part))
    return False


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value
    elif isinstance(value, partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, FunctionType):
        yield from _closure_values(value)
    elif not isinstance(value, type | str | bytes):
        yield getattr(value, "__self__", None)
        yield from getattr(value, "__dict__", {}).values()


def _closure_values(function: FunctionType) -> Iterator[Any]:
    yield getattr(function, "__wrapped__", None)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue  # not filled yet


IN_MEMORY = "channels.layers.InMemoryChannelLayer"
REDIS = "channels_redis.core.RedisChannelLayer"


def check_layer() -> Iterator[CheckMessage]:
    """Yield what keeps updates from reaching the open panels at once."""
    layers = getattr(settings, "CHANNEL_LAYERS", None) or {}
    backend = layers.get("default", {}).get("BACKEND", IN_MEMORY)  # see `apps`
    try:
        layer = import_string(backend)
    except Exception as error:  # noqa: BLE001 - a site's module may raise anything
        yield problem(
            "ai_assistant.E041",
            f"CHANNEL_LAYERS['default'] names {backend!r}, which cannot be "
            f"imported: {error}",
            "Correct the path, or: pip install 'ai-assistant[redis]'.",
        )
        return
    in_memory = isinstance(layer, type) and issubclass(layer, InMemoryChannelLayer)
    if in_memory and (reason := _several_processes()):
        yield problem(
            "ai_assistant.W042",
            f"The channel layer is in memory, but {reason}: what one process does "
            "reaches the panels of another only when they poll.",
            f"Use a layer that connects processes, for example {REDIS!r}.",
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


def check_background() -> Iterator[CheckMessage]:
    """Yield what keeps long tools from being executed."""
    setting = conf.get("BACKGROUND")
    has_broker = bool(getattr(settings, "CELERY_BROKER_URL", None))
    if setting == "threads" or (setting == "auto" and not has_broker):
        return
    if find_spec("celery") is None:
        yield _no_celery(setting)
        return
    from celery import current_app  # noqa: PLC0415 - Celery is optional

    yield from _celery_app(current_app.conf)


def _no_celery(setting: str) -> CheckMessage:
    hint = "Install it: pip install 'ai-assistant[celery]'."
    if setting == "celery":
        return problem(
            "ai_assistant.E050",
            "AI_ASSISTANT['BACKGROUND'] is 'celery', but the package 'celery' is not "
            "installed.",
            hint,
        )
    return problem(
        "ai_assistant.W052",
        "CELERY_BROKER_URL is set, but the package 'celery' is not installed: long "
        "tools run in threads of the web process.",
        f"{hint} Or set AI_ASSISTANT['BACKGROUND'] to 'threads'.",
    )


def _celery_app(app: Any) -> Iterator[CheckMessage]:
    broker = app.broker_write_url or app.broker_url
    if not broker:
        yield problem(
            "ai_assistant.E051",
            "Long tools go to Celery, but the current Celery app has no broker.",
            "Set CELERY_BROKER_URL, and import the site's Celery app in the "
            "__init__.py of the project, so that tasks find it.",
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
        yield problem(
            "ai_assistant.W053",
            f"The broker delivers a message again after {visible_s or default_s} s, "
            f"but {takes}: it arrives while its call is still being executed.",
            "Set CELERY_BROKER_TRANSPORT_OPTIONS['visibility_timeout'] to at least "
            "CELERY_TASK_TIME_LIMIT plus one minute.",
        )


TENANT_BACKEND = "ai_assistant.tenant_backend"
IMMEDIATE = "'OPTIONS': {'transaction_mode': 'IMMEDIATE'}"


def check_database() -> Iterator[CheckMessage]:
    """Yield what would make writes fail. Opens no connection."""
    if connection.vendor not in NOW:
        yield problem(
            "ai_assistant.E060",
            f"The database 'default' is {connection.vendor!r}, on which the "
            "assistant does not run.",
            "Use SQLite or PostgreSQL.",
        )
        return
    alias = router.db_for_write(Run)
    if alias != DEFAULT_DB_ALIAS:
        yield problem(
            "ai_assistant.E063",
            f"DATABASE_ROUTERS send the assistant's tables to {alias!r}.",
            "Keep the app 'ai_assistant' in the database 'default'.",
        )
    yield from _tenants()
    if connection.vendor == "sqlite":
        yield from _sqlite()


def _tenants() -> Iterator[CheckMessage]:
    """Yield what would let runs of this process go on in another schema than theirs."""
    schemas = {
        each.alias: getattr(each, "own_schema", "")
        for each in connections.all()
        if hasattr(each, "set_tenant")
    }
    named = set(schemas.values())
    is_of_one = DEFAULT_DB_ALIAS in schemas and len(named) == 1 and "" not in named
    if schemas and not is_of_one:
        yield problem(
            "ai_assistant.E064",
            f"The database {next(iter(schemas))!r} has a schema for each tenant, of "
            "which a run knows none once its request has ended.",
            "Give each tenant a process of its own, with the engine "
            f"{TENANT_BACKEND!r} in all such databases, 'default' among them.",
        )


def _sqlite() -> Iterator[CheckMessage]:
    configured = connection.settings_dict.get("OPTIONS", {}).get("transaction_mode")
    default = "IMMEDIATE" if conf.get("SQLITE_IMMEDIATE") else "DEFERRED"
    mode = str(configured or default).upper()
    if mode not in ("IMMEDIATE", "EXCLUSIVE"):
        yield problem(
            "ai_assistant.W061",
            f"SQLite begins transactions in the mode {mode}: while runs are active, "
            'saves that read before they write fail with "database is locked".',
            "Set AI_ASSISTANT['SQLITE_IMMEDIATE'] to True, or give the database "
            f"{IMMEDIATE}. The price: atomic blocks that only read take the write lock "
            "too.",
        )
    if mode == "IMMEDIATE" and connection.settings_dict.get("ATOMIC_REQUESTS"):
        yield problem(
            "ai_assistant.W062",
            "ATOMIC_REQUESTS is on for an SQLite database in the mode IMMEDIATE: every "
            "request holds the write lock from its beginning to its end.",
            "Turn ATOMIC_REQUESTS off and use transaction.atomic() where it is "
            "needed, or use PostgreSQL.",
        )
