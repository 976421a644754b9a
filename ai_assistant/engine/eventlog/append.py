from collections.abc import Sequence
from uuid import UUID

from ai_assistant import events
from ai_assistant.models.event import RunEvent


def append(
    run_id: UUID, facts: Sequence[events.Event], *, first_seq: int, epoch: int
) -> None:
    """Store `facts` as events `first_seq` and following of a run."""
    RunEvent.objects.bulk_create(
        RunEvent(
            run_id=run_id,
            seq=seq,
            type=fact.type,
            payload=events.payload(fact),
            epoch=epoch,
        )
        for seq, fact in enumerate(facts, first_seq)
    )
