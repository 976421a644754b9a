"""What a site answers. Fields that are not told here are kept, and can be read."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict

WAITING_FOR_PERSON = ("waiting_approval", "waiting_answer")


class AssistantProblem(Exception):
    """
    The site has refused a request.

    `code` is stable and for programs, `detail` a sentence for people, `errors` what
    is wrong with single fields; `retry_after_s` is None if waiting does not help.
    """

    def __init__(
        self, status: int, body: Mapping[str, Any], retry_after_s: int | None = None
    ) -> None:
        self.status = status
        self.code = str(body.get("code", "unknown"))
        self.detail = str(body.get("detail", ""))
        self.errors: list[dict[str, str]] = list(body.get("errors", []))
        self.retry_after_s = retry_after_s
        super().__init__(f"{status} {self.code}: {self.detail}")


class NotInTime(Exception):
    """The run goes on, but longer than the caller waits."""


class Value(BaseModel):
    """An answer, or a part of one."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Conversation(Value):
    """All messages about one matter."""

    id: UUID
    title: str
    active_run: UUID | None
    created_at: datetime
    updated_at: datetime


class Message(Value):
    """One entry of a conversation; `role` is user or assistant."""

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
    continues: UUID | None
    state: str
    is_final: bool
    stop_requested: bool
    error_code: str
    error_text: str
    last_event: int
    created_at: datetime
    finished_at: datetime | None

    @property
    def waits_for_person(self) -> bool:
        """Whether it goes on only when somebody answers."""
        return self.state in WAITING_FOR_PERSON


class Queued(Value):
    """A message that waits until the run before it has ended; it has no run yet."""

    id: UUID
    conversation: UUID
    position: int
    text: str
    held: str  # why it is not started before a person says so
    created_at: datetime


class Event(Value):
    """A fact of a run; its type is an AG-UI 1.0 name, or CUSTOM."""

    number: int
    type: str
    data: dict[str, Any]


class Events(Value):
    """Events of a run, and its state when they were read."""

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
    """What a tool asks; `kind` is text, confirm, select or multi_select."""

    text: str
    kind: str
    options: list[Option]
    strict: bool
    default: Any


class Proposal(Value):
    """The difference that a call would make."""

    title: str
    verb: str
    model: str
    total: int
    objects: list[dict[str, Any]]
    related: list[dict[str, Any]]
    warnings: list[str]
    undoable: bool
    chooses_rows: bool


class Interrupt(Value):
    """Why a call waits; `nonce` is there while it can be answered."""

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
    proposal: Proposal | None
    question: Question | None
    answer: Any
    expires_at: datetime | None


class Call(Value):
    """One request of the model; `result` is there if the call was read alone."""

    id: UUID
    run: UUID
    conversation: UUID
    tool: str
    label: str
    effect: str
    status: str
    arguments: dict[str, Any]
    error: str
    result: Any = None


class Change(Value):
    """
    What a tool call has changed; `rows` are there if it was read alone.

    Of a conversation that is deleted it names no run and no call.
    """

    id: UUID
    run: UUID | None
    conversation: UUID | None
    call: UUID | None
    tool: str
    row_count: int
    is_partial: bool
    gaps: list[str]
    rows: list[dict[str, Any]] = []
