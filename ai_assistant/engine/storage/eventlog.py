"""The event log: the numbered facts of a run."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q

from ai_assistant.engine.storage.lease import pass_by_state
from ai_assistant.events import Event
from ai_assistant.models.event import RunEvent
from ai_assistant.models.raw_sql import insert_rows
from ai_assistant.models.run import UNFINISHED

TRACED = ("aia.resumed", "aia.waiting")


class TracedFact(NamedTuple):
    """A moment of a run: a step that was begun, a wait, or a takeover."""

    run_id: UUID
    name: str
    value: dict[str, Any]
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredEvent:
    """An event as it is stored in the log."""

    seq: int
    type: str
    payload: dict[str, Any]
    epoch: int

    @property
    def call_id(self) -> UUID | None:
        """The id of the call that has moved; None if it tells of none."""
        said = self.payload["value"] if self.type == "CUSTOM" else self.payload
        return UUID(said["call_id"]) if "call_id" in said else None


def append_events(
    run_id: UUID, facts: Sequence[Event], *, first_seq: int, epoch: int
) -> list[StoredEvent]:
    """Store `facts` as events `first_seq` and following of a run; return them."""
    stored = [
        StoredEvent(seq=seq, type=fact.type, payload=asdict(fact), epoch=epoch)
        for seq, fact in enumerate(facts, first_seq)
    ]
    insert_rows(
        [
            RunEvent(
                run_id=run_id,
                seq=event.seq,
                type=event.type,
                payload=event.payload,
                epoch=event.epoch,
            )
            for event in stored
        ]
    )
    return stored


def append_by_state(
    run_id: UUID,
    facts: Sequence[Event],
    states: tuple[str, ...] = UNFINISHED,
    *,
    epoch: int = 0,
) -> list[StoredEvent]:
    """Lock a run as `pass_by_state` does; store `facts` as its next events."""
    first = pass_by_state(run_id, states, events=len(facts))
    return append_events(run_id, facts, first_seq=first, epoch=epoch)


OPENING = ("TEXT_MESSAGE_START", "REASONING_START")
CONTENT = ("TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT")


def events_after(
    run_id: UUID, seq: int = 0, *, most: int | None = None
) -> list[StoredEvent]:
    """Return the events of a run with a number above `seq`, in order; `most` of them."""
    rows = RunEvent.objects.filter(run_id=run_id, seq__gt=seq).order_by("seq")
    return [
        StoredEvent(seq=row[0], type=row[1], payload=row[2], epoch=row[3])
        for row in rows.values_list("seq", "type", "payload", "epoch")[:most]
    ]


def open_messages(run_id: UUID, known: set[str]) -> list[str]:
    """
    Return the ids of messages that were begun and neither stored nor replaced.

    `known` holds the ids of the stored ones.
    """
    return under_way(run_id, known)[0]


def under_way(run_id: UUID, known: set[str]) -> tuple[list[str], bool]:
    """Return the same, and whether the earlier part is being summed up."""
    rows = RunEvent.objects.filter(run_id=run_id, type__in=(*OPENING, "CUSTOM"))
    begun: dict[str, None] = {}
    is_summing = False
    for kind, fact in rows.order_by("seq").values_list("type", "payload"):
        if kind in OPENING:
            begun[fact["message_id"]] = None
        elif fact["name"] == "aia.replaced":
            begun.pop(fact["value"]["message_id"], None)
        elif fact["name"] in ("aia.summing", "aia.summed"):
            is_summing = fact["name"] == "aia.summing"
    return [message_id for message_id in begun if message_id not in known], is_summing


def partial_texts(run_id: UUID, message_id: str) -> tuple[str, str]:
    """Return the text and the reasoning logged so far for one message."""
    rows = RunEvent.objects.filter(
        run_id=run_id, type__in=CONTENT, payload__message_id=message_id
    ).order_by("seq")
    text: list[str] = []
    reasoning: list[str] = []
    for kind, fact in rows.values_list("type", "payload"):
        (text if kind == CONTENT[0] else reasoning).append(fact["delta"])
    return "".join(text), "".join(reasoning)


def steps_until(run_id: UUID, seq: int) -> int:
    """Return how many steps were begun by event `seq`."""
    begun = RunEvent.objects.filter(run_id=run_id, seq__lte=seq, type="STEP_STARTED")
    last = begun.order_by("-seq").values_list("payload", flat=True).first()
    return last["index"] + 1 if last else 0


def traced_facts(run_ids: Collection[UUID]) -> list[TracedFact]:
    """Return which steps of runs were begun, and where they were taken over or waited."""
    told = Q(type="STEP_STARTED") | Q(type="CUSTOM", payload__name__in=TRACED)
    rows = RunEvent.objects.filter(told, run_id__in=run_ids).order_by("run_id", "seq")
    return [
        TracedFact(run_id, fact.get("name", type_), fact.get("value", fact), at)
        for run_id, type_, fact, at in rows.values_list(
            "run_id", "type", "payload", "created_at"
        )
    ]
