"""
Work on one conversation in a process that executes no others, as a command does.

Where no server and no worker is up, its answer would not come while somebody waits for
it. Other runs are left for whoever is up next.
"""

import asyncio
from uuid import UUID

from django.db.models import Q

from ai_assistant import conf
from ai_assistant.engine.execution.dequeue import start_waiting
from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.engine.storage.lease import (
    Hold,
    claim_lease,
    is_gone,
    renew_leases,
    this_process,
)
from ai_assistant.engine.storage.units import in_db, unit
from ai_assistant.models.run import STOPPING, Run, RunState
from ai_assistant.request_context import of_no_request


async def look_after(conversation_id: UUID) -> None:
    """Execute what is queued in a conversation now, until it ends or waits."""
    flusher = Flusher()
    await in_db(sweep_once)
    await in_db(start_waiting)
    while hold := await in_db(_claimed, conversation_id):
        await _executed(hold, flusher)
        await in_db(start_waiting)


def _claimed(conversation_id: UUID) -> Hold | None:
    states = (RunState.QUEUED, RunState.RUNNING)
    of_it = Q(conversation=conversation_id) | Q(root__conversation=conversation_id)
    own = Run.objects.filter(of_it, state__in=states)
    for run_id, held_by in own.values_list("pk", "owner"):
        gone = held_by if held_by and is_gone(held_by) else ""
        hold: Hold | None = unit(claim_lease)(run_id, this_process(), gone_owner=gone)
        if hold is not None:
            return hold
    return None


async def _executed(hold: Hold, flusher: Flusher) -> None:
    """Execute a run; meanwhile renew its lease, and heed a wish to stop it."""
    task = asyncio.get_running_loop().create_task(
        execute(hold, flusher), context=of_no_request()
    )
    while True:
        done, _pending = await asyncio.wait([task], timeout=conf.heartbeat_s())
        if done:
            break
        await in_db(unit(renew_leases), hold.owner, [hold.run_id])
        if await in_db(_is_stopping, hold.run_id):
            task.cancel()
    if not task.cancelled() and (error := task.exception()):
        raise error


def _is_stopping(run_id: UUID) -> bool:
    return Run.objects.filter(STOPPING, pk=run_id).exists()
