"""One commit of a run: what waits and what is done with it, if its lease is still good."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ai_assistant import conf
from ai_assistant.engine.storage.eventlog import (
    StoredEvent,
    append_by_state,
    append_events,
)
from ai_assistant.engine.storage.lease import (
    Hold,
    pass_by_state,
    pass_fence,
    renew_behind_lock,
)
from ai_assistant.engine.storage.units import unit_once
from ai_assistant.events import Event
from ai_assistant.models.run import RunState

EVERY_STATE = tuple(RunState.values)

Work = Callable[[], Sequence[Event]]
Write = Callable[..., list[StoredEvent]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Closing:
    """
    Work that reads no events, and makes so many of them: all are stored at once.

    What it puts into `told` goes to followers with its events, once they are stored.
    """

    do: Work
    events: int = 1
    told: dict[str, Any] = field(default_factory=dict)


@unit_once
def write(
    hold: Hold, batch: list[Event], works: list[Work | Closing]
) -> list[StoredEvent]:
    began = time.monotonic()
    match works:
        case [Closing() as closing]:
            stored = _close(hold, batch, closing)
        case _:
            stored = _go_on(hold, batch, works)
    if time.monotonic() - began > conf.heartbeat_s():
        renew_behind_lock(hold.run_id)  # the heartbeat has passed it by
    return stored


def _go_on(
    hold: Hold, batch: list[Event], works: list[Work | Closing]
) -> list[StoredEvent]:
    first = pass_fence(hold, events=len(batch))
    stored = append_events(hold.run_id, batch, first_seq=first, epoch=hold.epoch)
    for work in works:
        do = work.do if isinstance(work, Closing) else work
        if facts := do():
            # The lock is held; `work` may have ended the run's `running`.
            stored += append_by_state(hold.run_id, facts, EVERY_STATE, epoch=hold.epoch)
    return stored


def _close(hold: Hold, batch: list[Event], closing: Closing) -> list[StoredEvent]:
    first = pass_fence(hold, events=len(batch) + closing.events)
    facts = [*batch, *closing.do()]
    if surplus := len(facts) - len(batch) - closing.events:
        pass_by_state(hold.run_id, EVERY_STATE, events=surplus)
    return append_events(hold.run_id, facts, first_seq=first, epoch=hold.epoch)
