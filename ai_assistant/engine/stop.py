"""Stop a run: a flag in the database, and the end at once where nobody works."""

from dataclasses import dataclass
from uuid import UUID

from ai_assistant.engine.db import unit
from ai_assistant.engine.eventlog import append
from ai_assistant.engine.fence import pass_by_state
from ai_assistant.engine.finish import STOPPED, Ending, finish
from ai_assistant.events import Custom
from ai_assistant.exceptions import LostLease
from ai_assistant.models.clock import Now
from ai_assistant.models.run import UNFINISHED, WAITING, Run, RunState


@dataclass(frozen=True, kw_only=True, slots=True)
class Stopped:
    """`ended` is False while the process that holds the run has to end it."""

    run_id: UUID
    ended: bool


@unit
def stop(run_id: UUID, ending: Ending = STOPPED) -> Stopped:
    """
    Ask for the end of a run; end it here if no process holds it.

    Does nothing to a run that has ended.
    """
    try:
        pass_by_state(run_id, tuple(UNFINISHED))
    except LostLease:
        return Stopped(run_id=run_id, ended=True)
    run = Run.objects.get(pk=run_id)
    if run.state == RunState.RUNNING:
        if not run.stop_requested:
            Run.objects.filter(pk=run_id).update(
                stop_requested=True,
                error_code=ending.code,
                error_text=ending.text,
            )
            seq = pass_by_state(run_id, tuple(UNFINISHED), events=1)
            fact = Custom(name="aia.stopping", value={})
            append(run_id, [fact], first_seq=seq, epoch=run.epoch)
        return Stopped(run_id=run_id, ended=False)
    Run.objects.filter(pk=run_id).update(stop_requested=True)
    end_unheld(run, ending)
    return Stopped(run_id=run_id, ended=True)


def end_unheld(run: Run, ending: Ending) -> None:
    """End a run that waits or is queued. Call it with the run's lock taken."""
    facts = finish(run.pk, ending)
    every = tuple(RunState.values)
    first = pass_by_state(run.pk, every, events=len(facts))
    append(run.pk, facts, first_seq=first, epoch=run.epoch)


def stop_session(session_digest: str, ending: Ending) -> list[Stopped]:
    """
    Stop what works for a session that was signed out.

    A run that waits for a person stays: its answer needs a session of its own. Until
    then nothing of it writes, neither a task beside nor what goes on when the time of
    the answer is over.
    """
    _close(session_digest)
    working = (RunState.QUEUED, RunState.RUNNING, *WAITING[2:])
    runs = Run.objects.filter(session_digest=session_digest, state__in=working)
    return [stop(run_id, ending) for run_id in runs.values_list("pk", flat=True)]


@unit
def _close(session_digest: str) -> None:
    """Let the session of its unfinished runs have ended now."""
    own = Run.objects.filter(session_digest=session_digest, state__in=UNFINISHED)
    own.update(session_expires_at=Now())
