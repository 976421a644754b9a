"""Whether a chat could work now: database, layer, executor."""

import asyncio
import uuid
from typing import Any

from channels.layers import get_channel_layer
from django.db import Error as DatabaseFailure
from django.db import transaction
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.http import require_GET

from ai_assistant import conf
from ai_assistant.engine.db import in_db
from ai_assistant.engine.executor import executor
from ai_assistant.engine.fence import database_now
from ai_assistant.providers import warmup
from ai_assistant.safety.permissions import may_view

TIMEOUT_S = 2.0


@require_GET
@transaction.non_atomic_requests
async def health_view(request: HttpRequest) -> JsonResponse:
    """Return 200 or 503; the reasons only to who may see the assistant."""
    if not conf.enabled():
        raise Http404
    problems = [
        problem
        for problem in (await _database(), await _layer(), _executor(), _library())
        if problem
    ]
    status = "failed" if problems else _warming()
    body: dict[str, Any] = {"status": status}
    if await _may_see_reasons(request):
        body["reasons"] = problems
    return JsonResponse(body, status=503 if problems else 200)


async def _may_see_reasons(request: HttpRequest) -> bool:
    try:
        return await in_db(may_view, await request.auser())
    except DatabaseFailure:
        return False  # who it is, only the database knows


def _warming() -> str:
    return "warming" if warmup.state() == "warming" else "ok"


def _library() -> str:
    return "the model library cannot be loaded" if warmup.state() == "failed" else ""


async def _database() -> str:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await in_db(database_now)
    except (DatabaseFailure, TimeoutError) as error:
        return f"database: {type(error).__name__}"
    return ""


async def _layer() -> str:
    layer = get_channel_layer()
    if layer is None:
        return "layer: none is configured"
    channel = f"aia.health.{uuid.uuid4().hex}"
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await layer.send(channel, {"type": "aia.health"})
            await layer.receive(channel)
    except Exception as error:  # noqa: BLE001 - any layer, any failure
        return f"layer: {type(error).__name__}"
    return ""


def _executor() -> str:
    if conf.get("EXECUTOR") == "web" and not executor().is_alive:
        return "executor: not running; is the site served by ai_assistant.routing?"
    return ""
