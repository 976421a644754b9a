"""What the doctor says of the services that a chat needs: database, layer, executor."""

import asyncio
import uuid
from dataclasses import dataclass
from typing import Any

from channels.layers import get_channel_layer
from django.apps import apps
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from ai_assistant import conf
from ai_assistant.engine.calls.background import uses_celery
from ai_assistant.engine.execution.presence import count_apart, present, queued_for_s

LABEL = "ai_assistant"
TIMEOUT_S = 3
QUEUED_S = 10.0  # after which a message should have been taken


@dataclass(eq=False)
class DoctorProblem(Exception):
    """Raised by a check; `blocks` says that no chat can work because of it."""

    id: str
    text: str
    hint: str = ""
    blocks: bool = True

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.id}: {self.text}", self.hint) if part)


def executor_facts() -> str:
    try:
        waits_s, apart, count = queued_for_s(), count_apart(), len(present())
    except DatabaseError:
        waits_s, apart, count = 0.0, 0, 0  # the check of the database reports it
    if waits_s > QUEUED_S:
        raise DoctorProblem(
            "doctor.executor",
            f"A message has waited for {waits_s:.0f} s, and no process executes runs.",
            "Serve the site with an ASGI server through `assistant_application`, or "
            "set EXECUTOR to 'worker' and start `manage.py runworker`.",
        )
    if apart > 1:
        raise DoctorProblem(
            "doctor.apart",
            f"{apart} processes execute runs, but the channel layer is in memory: what "
            "one does reaches the panels of another only when they poll.",
            "Use a layer that connects processes, for example channels_redis.",
            blocks=False,
        )
    if conf.get("EXECUTOR") == "worker":
        return "worker: `manage.py runworker` has to run"
    if not apps.is_installed("daphne"):
        return (
            "web: an ASGI server's processes. Without 'daphne', `runserver` is not "
            "one: no chat can work under it"
        )
    if not count:
        return (
            "web: the ASGI server's processes; none runs now, and under WSGI alone "
            "each message is refused"
        )
    return f"web: the ASGI server's processes, {count} now"


def server_facts() -> str:
    if not apps.is_installed("daphne"):
        return "an ASGI server of your choice"
    return (
        "Daphne, under `runserver`. uvicorn (with uvloop and httptools) and granian "
        "are quicker: see “Servers” in docs/operations.md"
    )


def made_before(loader: MigrationLoader) -> str:
    """Return why the assistant's tables, of an earlier version, cannot be migrated."""
    on_disk = {name for app, name in loader.disk_migrations if app == LABEL}
    applied = {name for app, name in loader.applied_migrations if app == LABEL}
    if gone := sorted(applied - on_disk):
        return f"The tables were made by '{LABEL}.{gone[0]}', which no longer exists."
    # The first one was edited before the first release.
    if applied == on_disk and (missing := _missing_columns()):
        return f"The tables lack {missing[0]!r}: an earlier '0001_initial' made them."
    return ""


def _missing_columns() -> list[str]:
    """Return the columns of the assistant's models that are not in the database."""
    existing: set[str] = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table.startswith(LABEL):
                cursor.execute(f"SELECT * FROM {table} LIMIT 0")  # noqa: S608
                existing |= {f"{table}.{column[0]}" for column in cursor.description}
    models = apps.get_app_config(LABEL).get_models()
    fields = [field for model in models for field in model._meta.local_concrete_fields]
    columns = {f"{field.model._meta.db_table}.{field.column}" for field in fields}
    return sorted(columns - existing)


def database_facts() -> str:
    try:
        connection.ensure_connection()
        executor = MigrationExecutor(connection)
    except DatabaseError as error:
        raise DoctorProblem(
            "doctor.database",
            f"The database does not answer: {type(error).__name__}.",
            "Start it, or correct DATABASES.",
        ) from error
    leaves = executor.loader.graph.leaf_nodes(LABEL)
    missing = [
        f"{migration.app_label}.{migration.name}"
        for migration, _ in executor.migration_plan(leaves)
    ]
    if reason := made_before(executor.loader):
        raise DoctorProblem(
            "doctor.migrations",
            reason,
            "Start with a new database: see “Upgrading” in docs/operations.md.",
        )
    if missing:
        raise DoctorProblem(
            "doctor.migrations",
            f"{len(missing)} migrations of the assistant, or of what it needs, are "
            f"not applied, first {missing[0]!r}.",
            "Run `python manage.py migrate`.",
        )
    return f"{connection.vendor}, the assistant's tables are migrated"


def layer_facts() -> str:
    try:
        layer = get_channel_layer()
        asyncio.run(_send_and_receive(layer))
    except Exception as error:  # any layer, any failure
        raise DoctorProblem(
            "doctor.layer",
            f"The channel layer does not answer: {type(error).__name__}.",
            "Start what CHANNEL_LAYERS names, or correct it.",
        ) from error
    return type(layer).__name__


async def _send_and_receive(layer: Any) -> None:
    channel = f"aia.doctor.{uuid.uuid4().hex}"
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await layer.send(channel, {"type": "aia.doctor"})
            await layer.receive(channel)
    finally:
        close = getattr(layer, "close_pools", None)
        if close is not None:
            await close()


def background_facts() -> str:
    if not uses_celery():
        threads = conf.get("LIMITS", "BACKGROUND_THREADS")
        return f"threads, {threads} in each process"
    from celery import current_app  # noqa: PLC0415 - Celery is optional

    try:
        with current_app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=TIMEOUT_S)
    except Exception as error:  # any broker, any failure
        raise DoctorProblem(
            "doctor.broker",
            f"The broker of Celery does not answer: {type(error).__name__}.",
            "Start it, or correct CELERY_BROKER_URL. Long tools wait meanwhile.",
            blocks=False,
        ) from error
    workers = current_app.control.ping(timeout=1)
    if not workers:
        raise DoctorProblem(
            "doctor.worker",
            "No Celery worker answers.",
            "Start one: `celery -A <project> worker`. Long tools wait meanwhile.",
            blocks=False,
        )
    return f"Celery, {len(workers)} workers"
