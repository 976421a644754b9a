"""
Health checks: whether a chat could work now, and if not, why.

A check is one small function: it returns what is wrong, or nothing. Those of ROWS read
the database, in a thread; to add one is to write it and to name it there.
"""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any

from channels.layers import get_channel_layer
from django.db import Error as DatabaseFailure
from django.db import transaction
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.http import require_GET

from ai_assistant import conf
from ai_assistant.engine.calls.background.send import untaken_s, uses_celery
from ai_assistant.engine.execution.executor import executor
from ai_assistant.engine.execution.presence import (
    count_apart,
    is_left_alone,
    queued_for_s,
)
from ai_assistant.engine.execution.sweep import overdue_s
from ai_assistant.engine.storage.disk_space import is_full
from ai_assistant.engine.storage.lease import database_now
from ai_assistant.engine.storage.units import in_db
from ai_assistant.providers import warmup
from ai_assistant.safety.audit import BEHIND_S, behind_s
from ai_assistant.safety.identity.permissions import may_view

QUEUED_S = 10.0  # after which a message should have been taken
UNTAKEN_S = 60.0  # after which a background call should have been taken
SEVERAL = 2
TIMEOUT_S = 1.0  # of each check; they are asked side by side
LATE_SWEEPS = 5  # of which none has come to its end


@require_GET
@transaction.non_atomic_requests
async def health_view(request: HttpRequest) -> JsonResponse:
    """Return 200 or 503; the reasons only to who may see the assistant."""
    if not conf.enabled():
        raise Http404
    # Of its rows only if the database answers.
    of_rows = await _all({"database": _database}) or await _all(ROWS)
    problems = [*await _all(PROCESS), *of_rows]
    noted = [] if problems else await _all(NOTED)
    is_warming = warmup.state() == "warming"
    status = "failed" if problems else "warming" if is_warming else "ok"
    body: dict[str, Any] = {"status": status}
    if await _may_see_reasons(request):
        body["reasons"] = problems or noted
    return JsonResponse(body, status=503 if problems else 200)


Check = Callable[[], Any]  # async, or of the database and called in its thread


async def _all(checks: Mapping[str, Check]) -> list[str]:
    said = await asyncio.gather(*(_in_time(check) for check in checks.values()))
    return [
        f"{name}: {wrong}" for name, wrong in zip(checks, said, strict=True) if wrong
    ]


async def _in_time(check: Check) -> str:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            asked = check() if iscoroutinefunction(check) else in_db(check)
            return str(await asked)
    except Exception as error:  # noqa: BLE001 - any database, any layer, any failure
        return type(error).__name__


async def _may_see_reasons(request: HttpRequest) -> bool:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await in_db(may_view, await request.auser())
    except (DatabaseFailure, TimeoutError):
        return False  # who it is, only the database knows


# --- the checks ---


async def _layer() -> str:
    layer = get_channel_layer()
    if layer is None:
        return "none is configured"
    channel = f"aia.health.{uuid.uuid4().hex}"
    await layer.send(channel, {"type": "aia.health"})
    await layer.receive(channel)
    return ""


async def _sweep() -> str:
    late_s = executor().unswept_s if executor().is_alive else 0.0
    if late_s < LATE_SWEEPS * conf.sweep_s() + TIMEOUT_S:
        return ""
    return f"not finished for {late_s:.0f} s; stalled runs are not resumed"


async def _library() -> str:
    return "it cannot be loaded" if warmup.state() == "failed" else ""


def _database() -> str:
    database_now()
    return ""


def _executor() -> str:
    if executor().is_alive or not is_left_alone():
        return ""
    return "not running; is the site served by ai_assistant.routing?"


def _queue() -> str:
    waits_s = queued_for_s()
    if waits_s <= QUEUED_S:
        return ""
    return f"a message has waited for {waits_s:.0f} s, and no process executes runs"


def _disk() -> str:
    return "full: nothing can be stored" if is_full() else ""


def _apart() -> str:
    count = count_apart()
    if count < SEVERAL:
        return ""
    return f"{count} processes execute runs, and no layer reaches between them"


def _audit_log() -> str:
    late_s = behind_s()
    return f"not sealed for {late_s:.0f} s" if late_s > BEHIND_S else ""


# Of this process, on its event loop.
PROCESS: dict[str, Check] = {
    "layer": _layer,
    "sweep": _sweep,
    "model library": _library,
}


def _locked() -> str:
    late = overdue_s()
    if not late:
        return ""
    return (
        f"{len(late)} locked, no process can resume them for {max(late):.0f} s: a "
        "process hangs, or a transaction of a tool takes long"
    )


def _background_calls() -> str:
    waits_s = untaken_s()
    if waits_s <= UNTAKEN_S:
        return ""
    who = "Celery worker" if uses_celery() else "thread"
    return f"one has waited for {waits_s:.0f} s, and no {who} takes it"


# Of the rows, in a thread of the database.
ROWS: dict[str, Check] = {
    "executor": _executor,
    "queue": _queue,
    "disk": _disk,
    "audit log": _audit_log,
}
# The same, of what is no fault of this process: it is said, and fails nothing.
NOTED: dict[str, Check] = {
    "runs": _locked,
    "background calls": _background_calls,
    "layer": _apart,
}
