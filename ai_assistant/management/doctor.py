"""The report of `assistant_doctor`: the system checks, and checks at run time."""

import asyncio
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from channels.layers import get_channel_layer
from django.apps import apps
from django.contrib.auth import get_user_model
from django.core.checks import ERROR, run_checks
from django.core.exceptions import FieldError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from ai_assistant import conf
from ai_assistant.checks import TAG
from ai_assistant.engine.calls.background import uses_celery
from ai_assistant.engine.execution.presence import count_apart, present, queued_for_s
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.management.doctor_parts import (
    count_of_budgets,
    count_of_rules,
    count_of_tokens,
    idle_rules,
    known_of_model,
    profile_without_price,
    who_may_call,
)
from ai_assistant.providers.base import provider_path
from ai_assistant.providers.readiness import try_model
from ai_assistant.registry import registry
from ai_assistant.tools.data.access.sites import mounted_sites, why_missing
from ai_assistant.web.agui.routes import INSTALL, is_installed

LABEL = "ai_assistant"
TIMEOUT_S = 3
QUEUED_S = 10.0  # after which a message should have been taken
KINDS = ("context", "tools", "commands", "skills", "hooks", "modules", "suggestions")
NO_MODEL, NO_KEY = f"{TAG}.W011", f"{TAG}.W014"


@dataclass(eq=False)
class DoctorProblem(Exception):
    """Raised by a check; `blocks` says that no chat can work because of it."""

    id: str
    text: str
    hint: str = ""
    blocks: bool = True

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.id}: {self.text}", self.hint) if part)


@dataclass(kw_only=True, slots=True)
class DoctorReport:
    """The facts that were checked, by name, and the problems found."""

    facts: dict[str, str] = field(default_factory=dict)
    problems: list[DoctorProblem] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not any(problem.blocks for problem in self.problems)


def registered() -> dict[str, list[str]]:
    """Return the names of what the site's apps have registered, by kind."""
    modules = registry.modules()
    names: dict[str, Iterable[str]] = {
        "tools": registry.tools(),
        "context": registry.contexts(),
        "modules": modules,
        "suggestions": {
            str(t) for module in modules.values() for t in module.suggestions
        },
    }
    return {kind: sorted(names.get(kind, ())) for kind in KINDS}


def examine(*, tries: bool = False) -> DoctorReport:
    """Check everything that a chat needs. `tries`: make one call of the model too."""
    report = DoctorReport(problems=_from_checks())
    try:
        enabled = conf.enabled()
    except ImproperlyConfiguredAssistant:
        return report  # the system checks report it
    if not enabled:
        problem = DoctorProblem(
            "doctor.off",
            "The assistant is switched off.",
            'Set AI_ASSISTANT = {"ENABLED": True}.',
        )
        return DoctorReport(problems=[problem])
    looks = {**LOOKS, "tried": _tried} if tries else LOOKS
    for name, look in looks.items():
        try:
            report.facts[name] = look()
        except DatabaseError:
            report.facts[name] = "not known, see the database"
        except DoctorProblem as problem:
            report.facts[name] = problem.text
            report.problems.append(problem)
    return report


def _from_checks() -> list[DoctorProblem]:
    return [
        DoctorProblem(
            id=str(message.id),
            text=str(message.msg),
            hint=str(message.hint or ""),
            blocks=message.level >= ERROR or _is_blocking(str(message.id)),
        )
        for message in run_checks(tags=[TAG])
        if not message.is_silenced()
    ]


def _is_blocking(message_id: str) -> bool:
    """Return whether a warning is more than that: no model, or no key for it."""
    if message_id == NO_KEY:
        # A server of one's own may ask for no key.
        return not conf.profile().get("API_BASE")
    return message_id == NO_MODEL


# --- the checks at run time ---


def _executor() -> str:
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


def _server() -> str:
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


def _database() -> str:
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


def _layer() -> str:
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


def _background() -> str:
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


def _model() -> str:
    try:
        profile = conf.profile()
    except ImproperlyConfiguredAssistant:
        return "no profile 'default'"
    key = "yes, not tried" if profile.get("API_KEY") else "no"
    model = profile.get("MODEL") or "none"
    return f"{model}, by {provider_path(profile)}, key present: {key}"


def _tried() -> str:
    try:
        trial = asyncio.run(try_model(conf.profile()))
    except ImproperlyConfiguredAssistant as error:
        raise DoctorProblem("doctor.try", str(error)) from error
    if not trial.ok:
        detail = f" ({trial.detail})" if trial.detail else ""
        raise DoctorProblem(
            "doctor.try",
            f"The model did not answer: {trial.code}{detail}.",
            trial.text,
        )
    return f"it answered in {trial.seconds:.1f} s: {trial.text}"


def is_untried() -> bool:
    """Return whether a chat depends on a key of which nobody knows if it is right."""
    try:
        return bool(conf.profile().get("API_KEY"))
    except ImproperlyConfiguredAssistant:
        return False


def _model_facts() -> str:
    try:
        return known_of_model(conf.profile())
    except ImproperlyConfiguredAssistant:
        return "no profile 'default'"


def _data_tools() -> str:
    if not conf.get("DATA", "TOOLS"):
        return "switched off by DATA['TOOLS']"
    user = _active_superuser()
    if reasons := why_missing(user) if user is not None else []:
        raise DoctorProblem(
            "doctor.admin",
            " ".join(reasons),
            "Let has_permission() go by the user alone where a request has no session, "
            "or go on without these tools.",
            blocks=False,
        )
    names = ", ".join(site.name for site in mounted_sites())
    user_text = f"asked as {user.get_username()}" if user else "no superuser to ask as"
    return f"of AdminSite {names or 'none'}, {user_text}"


def _active_superuser() -> Any:
    """Return a user whom every AdminSite should let in, or None."""
    users = get_user_model()._default_manager.order_by("pk")
    try:
        return users.filter(is_active=True, is_superuser=True).first()
    except FieldError:
        return None


def _budgets() -> str:
    if name := profile_without_price():
        raise DoctorProblem(
            "doctor.price",
            f"A budget limits money, but the price of profile {name!r} is not known: "
            "its calls count as nothing.",
            "Give it INPUT_USD_PER_MTOK and OUTPUT_USD_PER_MTOK, or limit tokens.",
            blocks=False,
        )
    return count_of_budgets()


def _policy() -> str:
    if idle := idle_rules():
        raise DoctorProblem(
            "doctor.rules",
            f"These policy rules match no tool: {', '.join(idle)}.",
            "Correct or remove them, in the admin's list of policy rules.",
            blocks=False,
        )
    return count_of_rules()


def _cors() -> str:
    has_tokens = count_of_tokens()[0] > 0
    if conf.get("CORS_ORIGINS") and not has_tokens:
        raise DoctorProblem(
            "doctor.cors",
            "Pages of CORS_ORIGINS may call, but there is no access token to call with.",
            "Create one: `python manage.py assistant_token create`. Cookies do not "
            "count.",
            blocks=False,
        )
    return who_may_call()


def _agui() -> str:
    return "ready" if is_installed() else f"not installed: {INSTALL}"


def _tokens() -> str:
    good, endless = count_of_tokens()
    return f"{good} good, {endless} of them never expire" if endless else f"{good} good"


LOOKS: dict[str, Callable[[], str]] = {
    "model": _model,
    "window, price": _model_facts,
    "database": _database,
    "channel layer": _layer,
    "executor": _executor,
    "server": _server,
    "long tools": _background,
    "data tools": _data_tools,
    "budgets": _budgets,
    "policy": _policy,
    "access tokens": _tokens,
    "AG-UI": _agui,
    "pages elsewhere": _cors,
}
