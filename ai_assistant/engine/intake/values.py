"""A message on its way to a run, and what has become of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from ai_assistant.conf import DEFAULT
from ai_assistant.configuration.commands import named_in
from ai_assistant.engine.lifecycle.hooks import Kept
from ai_assistant.engine.storage.eventlog import StoredEvent
from ai_assistant.engine.storage.lease import Hold
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import (
    Channel,
    Run,
    RunKind,
)
from ai_assistant.modules.base import ContextModule
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.types import SentCommand, UserKey


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientNames:
    """The ids that a client of another protocol gives to what it sends."""

    run: str
    thread: str = ""  # empty: it uses the server's id
    message: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SentPage:
    """The page that a message is sent from, and what it adds: see Run.context."""

    path: str = ""
    title: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Lineage:
    """How the new run comes from earlier ones."""

    kind: RunKind = RunKind.MESSAGE
    continues: UUID | None = None
    beside: UUID | None = None  # the run of which this is another version
    wish: str = ""  # how to answer this time, see prompts.system


@dataclass(frozen=True, kw_only=True, slots=True)
class Submission:
    """A message that a person sends. `key` makes a repeat harmless."""

    user_id: UserKey
    conversation_id: UUID
    key: str
    text: str
    page: SentPage = SentPage()
    module: ContextModule | None = None  # of the page, once it was looked up
    stamp: SessionStamp = field(default_factory=SessionStamp)
    channel: str = Channel.PANEL
    client: ClientNames | None = None
    lineage: Lineage = Lineage()
    look_only: bool = False  # nothing may be changed
    queues: bool = False  # it may wait, also that of an AG-UI client
    steers: bool = False  # a run under way may read it in its next step
    state: Mapping[str, Any] | None = None  # of an AG-UI client; None: it has none
    kept: Kept = field(default_factory=Kept)  # what hooks leave for its run
    profile: str = DEFAULT
    agent: str | None = None  # its name; None: that of the conversation
    arguments: Mapping[str, str] = field(default_factory=dict)  # of its command
    command: SentCommand | None = None  # that the text is, see intake.commands
    label: str = Message.Label.USER  # what its words may cause: who has written them
    root: UUID | None = None  # the run for which it works, of an agent that was asked
    context_rounds: int | None = (
        None  # for how many messages it is told; None: for ever
    )
    # Of what code of the site starts, see intake.starts.
    run_id: UUID | None = None  # of the run that is to begin; None: a new one
    start_depth: int = 0

    @property
    def is_unexpanded(self) -> bool:
        """Whether the text may be a command that nobody has looked up yet."""
        is_typed = self.command is None and self.label == Message.Label.USER
        return is_typed and named_in(self.text) is not None

    @property
    def is_message(self) -> bool:
        """Whether a person has typed it, as a message of its own."""
        return self.lineage.kind == RunKind.MESSAGE

    @property
    def may_wait(self) -> bool:
        """Whether the message may be queued: an AG-UI client has to ask for it."""
        return self.is_message and (self.queues or self.channel != Channel.AGUI)


@dataclass(frozen=True, kw_only=True, slots=True)
class NewRun:
    """The rows of a run that was stored just now, so that nobody reads them again."""

    run: Run
    message: Message
    events: Sequence[StoredEvent]
    is_first: bool  # in its conversation


@dataclass(frozen=True, kw_only=True, slots=True)
class Accepted:
    """The outcome of a submission. `hold` is set if this process executes the run."""

    run_id: UUID
    conversation_id: UUID
    is_new: bool
    hold: Hold | None = None
    woken: bool = False  # the text answered a run that waited
    queued: UUID | None = None  # it waits for the end of that run, as this row
    rows: NewRun | None = field(default=None, compare=False)  # as they were stored
