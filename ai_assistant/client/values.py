"""
What a site answers: `make client` writes this from the document of the API.

Fields that are not told here are kept, and can be read.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """An answer, or a part of one."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Conversation(Value):
    """All messages about one matter."""

    id: UUID
    title: str
    active_run: UUID | None
    shown_run: UUID | None
    pinned_at: datetime | None
    archived_at: datetime | None
    unread: bool
    created_at: datetime
    updated_at: datetime


class Message(Value):
    """One entry of a conversation."""

    id: UUID
    conversation: UUID
    run: UUID
    position: int
    role: str
    state: str
    text: str
    parts: list[dict[str, Any]]
    created_at: datetime


class Run(Value):
    """From one message of the user to the final answer."""

    id: UUID
    conversation: UUID
    kind: str
    continues: UUID | None
    after: UUID | None
    wish: str
    state: str
    is_final: bool
    waits_for_person: bool
    stop_requested: bool
    error_code: str
    error_text: str
    opens_at: datetime | None
    last_event: int
    page_path: str
    page_title: str
    module: str
    profile: str
    fallback: str
    fallback_code: str
    agent: str
    look_only: bool
    door: str
    rating: str
    context_rounds: int | None
    root: UUID | None
    created_at: datetime
    finished_at: datetime | None


class Queued(Value):
    """A message that waits for the end of a run."""

    id: UUID
    conversation: UUID
    position: int
    text: str
    page_path: str
    page_title: str
    profile: str
    agent: str
    look_only: bool
    door: str
    held: str
    created_at: datetime


class Event(Value):
    """A fact of a run; its type is an AG-UI 1.0 name, or `CUSTOM`."""

    number: int
    type: str
    data: dict[str, Any]


class Events(Value):
    """The events of a run after a number, and the run's state when they were read."""

    run: UUID
    state: str
    is_final: bool
    last_event: int
    events: list[Event]


class Option(Value):
    """One of the answers that a question offers."""

    id: str
    label: str
    description: str


class Question(Value):
    """What a tool asks."""

    text: str
    kind: str
    options: list[Option]
    strict: bool
    default: Any


class Proposal(Value):
    """The true difference that a call would make, computed by the server."""

    title: str
    verb: str
    model: str
    total: int
    objects: list[dict[str, Any]]
    related: list[dict[str, Any]]
    warnings: list[str]
    undoable: bool
    undo_limits: list[str]
    chooses_rows: bool


class Interrupt(Value):
    """Why a call waits."""

    id: UUID
    run: UUID
    conversation: UUID
    call: UUID
    kind: str
    status: str
    nonce: str | None
    tool: str
    label: str
    effect: str
    arguments: dict[str, Any]
    because: str
    importance: str
    proposal: Proposal | None
    question: Question | None
    answer: Any
    created_at: datetime
    decided_at: datetime | None
    expires_at: datetime | None


class Call(Value):
    """One request of the model, without its result."""

    id: UUID
    run: UUID
    conversation: UUID
    parent: UUID | None
    step: int
    position: int
    tool: str
    label: str
    effect: str
    status: str
    reason: str
    arguments: dict[str, Any]
    background: bool
    asks: bool
    approved: bool
    progress: float | None
    progress_text: str
    error: str
    context_rounds: int | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    steps: list[Any] = []
    result: Any = None


class Change(Value):
    """What one tool call has changed, without its rows."""

    id: UUID
    kind: str
    run: UUID | None
    conversation: UUID | None
    call: UUID | None
    tool: str
    row_count: int
    is_partial: bool
    gaps: list[str]
    created_at: datetime
    rows: list[dict[str, Any]] = []
