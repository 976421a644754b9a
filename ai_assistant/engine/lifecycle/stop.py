"""
Stop a run: store a request, and end the run at once if no process executes it.

The request is a row of its own, so that stopping a run never waits for a lock on the
run's row. It becomes a flag of the run as soon as that row is free.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from ai_assistant.engine.lifecycle.finish import (
    STOPPED,
    Ending,
    finish,
    stopped,
    take_note,
)
from ai_assistant.engine.lifecycle.hooks import tell_end_elsewhere
from ai_assistant.engine.storage.eventlog import append_by_state
from ai_assistant.engine.storage.lease import pass_by_state
from ai_assistant.engine.storage.units import unit, unless_locked
from ai_assistant.events import Custom
from ai_assistant.exceptions import LostLease
from ai_assistant.models import clock
from ai_assistant.models.clock import free
from ai_assistant.models.run import (
    UNATTENDED,
    UNFINISHED,
    Channel,
    Run,
    RunState,
    StopRequest,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stopped:
    """
    The result of a request to stop a run.

    `ended` is False while the process that holds the run still has to end it.
    """

    run_id: UUID
    ended: bool


def stop(run_id: UUID, ending: Ending = STOPPED) -> Stopped:
    """
    Ask for the end of a run; end it here if no process holds it.

    Does nothing to a run that has ended. Does not wait for a lock: the process that
    holds the run sees the request, or the next sweep does.
    """
    if not Run.objects.filter(pk=run_id, state__in=UNFINISHED).exists():
        return Stopped(run_id=run_id, ended=True)
    unit(request_stop)(run_id, ending)
    return unless_locked(heed, run_id) or Stopped(run_id=run_id, ended=False)


def request_stop(run_id: UUID, ending: Ending) -> None:
    """Store the request that a run ends. Call it in a transaction."""
    wish = StopRequest(run_id=run_id, code=ending.code[:64], text=ending.text)
    StopRequest.objects.bulk_create([wish], ignore_conflicts=True)


@unit
def heed(run_id: UUID, *, waits: bool = True) -> Stopped:
    """
    Let a run take note of the request to stop it; end it if no process holds it.

    Unless it `waits`, one that is locked is left as it is. One that has ended meanwhile
    keeps in its row that it was asked to stop: what stands behind it waits for a person.
    """
    try:
        pass_by_state(run_id, waits=waits)
    except LostLease:
        ended = not Run.objects.filter(pk=run_id, state__in=UNFINISHED).exists()
        if ended:
            _note_late(run_id)
        return Stopped(run_id=run_id, ended=ended)
    run = Run.objects.select_related("stop_request").get(pk=run_id)
    is_new = not run.stop_requested
    take_note(run)
    if run.state != RunState.RUNNING:
        if run.stop_requested:
            end_unheld(run, stopped(run))
        return Stopped(run_id=run_id, ended=True)
    if is_new and run.stop_requested:
        fact = Custom(name="aia.stopping", value={})
        append_by_state(run_id, [fact], epoch=run.epoch)
    return Stopped(run_id=run_id, ended=False)


def _note_late(run_id: UUID) -> None:
    wish = StopRequest.objects.filter(run_id=run_id)
    if wish.exists():
        Run.objects.filter(pk=run_id).update(stop_requested=True)
        wish.delete()


def end_unheld(run: Run, ending: Ending) -> None:
    """End a run that waits or is queued. Call it with the run's lock taken."""
    facts = finish(run.pk, ending)
    tell_end_elsewhere(run, ending.state, ending.text)
    every = tuple(RunState.values)
    append_by_state(run.pk, facts, every, epoch=run.epoch)


def stop_session(session_digest: str, ending: Ending) -> list[Stopped]:
    """
    Stop the active runs of a session that was signed out.

    A run that waits for a person stays: its answer needs a session of its own. Until
    then it cannot write, neither in a background task nor after the question has
    expired. A locked run cannot be marked like that, and is stopped.
    """
    now = clock.now()
    own = Run.objects.filter(session_digest=session_digest, state__in=UNFINISHED)
    # Of what code of the site has started, only an approval was given in it.
    own = own.exclude(channel=Channel.CODE)
    _close(own, now)
    locked = Q(session_expires_at=None) | ~Q(session_expires_at=now)
    runs = own.filter(Q(state__in=UNATTENDED) | locked)
    return [stop(run_id, ending) for run_id in runs.values_list("pk", flat=True)]


@unit
def _close(runs: QuerySet[Run], now: datetime) -> None:
    """Let the session of the runs have ended now."""
    free(runs).update(session_expires_at=now)
