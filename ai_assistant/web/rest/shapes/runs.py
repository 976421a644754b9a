from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from pydantic import Field

from ai_assistant.engine.eventlog import StoredEvent
from ai_assistant.models.run import Door, Run, RunState
from ai_assistant.render.html.entries import shows_reasoning
from ai_assistant.web.rest.shapes.base import JSON, Page, Shape, one_of

REASONING = "REASONING_MESSAGE_CONTENT"


class RunShape(Shape):
    """From one message of the user to the final answer."""

    id: UUID
    conversation: UUID
    continues: UUID | None = Field(description="The run that this one goes on from.")
    after: UUID | None = Field(
        description="The run before it. Runs behind the same one are versions of each "
        "other: branches of the conversation."
    )
    wish: str = Field(description="How this answer was wanted, `shorter`, or empty.")
    state: str = one_of(RunState)
    is_final: bool = Field(description="Nothing will happen to it any more.")
    stop_requested: bool
    error_code: str = Field(description="Why it ended otherwise than well, or empty.")
    error_text: str = Field(description="The same as a sentence.")
    opens_at: datetime | None = Field(
        description="When the limit that ended it is over."
    )
    last_event: int = Field(description="The number of its newest event.")
    page_path: str
    page_title: str
    module: str
    profile: str
    look_only: bool
    door: str = one_of(Door, "Through which it was begun.")
    created_at: datetime
    finished_at: datetime | None


class RunPage(Page[RunShape]):
    """Runs, the newest first."""


class EventShape(Shape):
    """A fact of a run; its type is an AG-UI 1.0 name, or `CUSTOM`."""

    number: int = Field(description="From 1, without gaps.")
    type: str = Field(examples=["TEXT_MESSAGE_CONTENT"])
    data: dict[str, JSON]


class EventsShape(Shape):
    """The events of a run after a number, and the run's state when they were read."""

    run: UUID
    state: str = one_of(RunState)
    is_final: bool
    last_event: int = Field(description="There are more while this is above the last.")
    events: list[EventShape]


def run_shape(row: Run) -> RunShape:
    """Return a run."""
    return RunShape(
        id=row.pk,
        conversation=row.conversation_id,
        continues=row.continues_id,
        after=row.after_id,
        wish=row.wish,
        state=row.state,
        is_final=row.is_final,
        stop_requested=row.is_stopping,
        error_code=row.error_code,
        error_text=row.error_text,
        opens_at=row.opens_at,
        last_event=row.next_seq - 1,
        page_path=row.page_path,
        page_title=row.page_title,
        module=row.module,
        profile=row.profile,
        look_only=row.look_only,
        door=row.door,
        created_at=row.created_at,
        finished_at=row.finished_at,
    )


def events_shape(row: Run, events: Iterable[StoredEvent]) -> EventsShape:
    """Return `events` of a run; without what the model thinks, where that is hidden."""
    reasons = shows_reasoning(row)
    return EventsShape(
        run=row.pk,
        state=row.state,
        is_final=row.is_final,
        last_event=row.next_seq - 1,
        events=[
            EventShape(
                number=one.seq,
                type=one.type,
                data=one.payload
                if reasons or one.type != REASONING
                else {**one.payload, "delta": ""},
            )
            for one in events
        ],
    )
