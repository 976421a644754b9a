"""The definition of a tool, its context and its result. Plain Python."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol, Self
from uuid import UUID

from ai_assistant.types.hook import State
from ai_assistant.types.page import JSON, Decision, Effect, Importance, PageInfo


class Editor(Protocol):
    """Lets a person change what a call proposes, in a real form."""

    def form(
        self,
        context: "RunContext",
        arguments: dict[str, Any],
        data: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the form of these arguments, bound to `data` if it is given."""
        ...

    def arguments(self, form: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments that a valid form stands for, after `arguments`."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolDisplay:
    """The appearance of a call's card."""

    label: str  # what the card says; may be lazily translated
    label_plural: str = ""  # of a group of cards
    icon: str = ""  # as icons.html names it, without `aia-i-`
    template: str = ""  # of the card; else ai_assistant/tools/<name>.html
    importance: Importance | None = None  # said on the card that asks for approval
    renders_only: bool = False  # shown by other tools, never offered to the model
    page_size: int = 0  # rows of a list result; 0: not paged
    # Of the arguments and the data of a call that is done: what its card says.
    summary: Callable[[dict[str, Any], Any], Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolExecution:
    """The execution of a call: how, where and how long."""

    background: bool = False
    external: bool = False
    resumable: bool = False
    browser: bool = False  # executed by the page
    prepare: Callable[..., Any] | None = None
    timeout_s: float | None = None
    write_timeout_s: float | None = None  # of its transaction; else TIMEOUTS
    timeout_browser_s: float = 60.0
    rate: str = ""  # "10/m": calls of one user
    upgrade_args: Callable[[str, dict[str, Any]], dict[str, Any]] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolApproval:
    """The approval of a call: whether a person is asked, and what they are shown."""

    policy: Decision | None = None
    configurable: bool = False  # rules of the admin may be less strict than `policy`
    # Called like the tool; returns Changes. "transaction": the tool is tried out.
    preview: Callable[..., Any] | Literal["transaction"] | None = None
    rows_argument: str = ""  # of a bulk tool: its ids, of which some may be chosen
    editor: Editor | None = None
    removes: Callable[[dict[str, Any]], bool] | None = None  # with such arguments
    takes_data: bool = False  # its arguments may come from data without asking


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolOffer:
    """When the tool is offered to the model, and with which prompt."""

    is_enabled: Callable[["RunContext"], bool] | None = None
    shared: bool = False  # offered on every page, also beside a module's own
    prompt_hint: str = ""  # joins the system prompt while the tool is offered
    # For how many messages of the person a result stays in the prompt; None: for ever.
    context_rounds: int | None = None


GROUPS: Mapping[str, type] = {
    "display": ToolDisplay,
    "execution": ToolExecution,
    "approval": ToolApproval,
    "offer": ToolOffer,
}
GROUP_OF = {own.name: name for name, kind in GROUPS.items() for own in fields(kind)}


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolDefinition:
    """A tool as its developer wrote it. See `ai_assistant.tool`."""

    name: str
    handler: Callable[..., Any]
    effect: Effect
    description: str
    permission: str = ""
    origin: str = ""  # dotted module that registered it
    schema: Mapping[str, Any] | None = None  # no hints then
    # Of its arguments: the effect of such a call, if that is less than `effect`.
    effect_of: Callable[[Mapping[str, Any]], Effect] | None = None
    external_of: Callable[[Mapping[str, Any]], bool] | None = None  # beside `effect_of`
    declared_effect: Effect | None = None  # of the tool, where `effect` is of a call
    display: ToolDisplay
    execution: ToolExecution
    approval: ToolApproval
    offer: ToolOffer

    @classmethod
    def of(cls, **options: Any) -> Self:
        """Return the tool of the arguments of `ai_assistant.tool`."""
        own, groups = _grouped(options)
        return cls(**own, **{name: GROUPS[name](**groups[name]) for name in GROUPS})

    def changed(self, **options: Any) -> Self:
        """Return a copy of the tool with other arguments of `ai_assistant.tool`."""
        own, groups = _grouped(options)
        made = {name: replace(getattr(self, name), **groups[name]) for name in GROUPS}
        return replace(self, **own, **made)

    @property
    def is_by_arguments(self) -> bool:
        """Whether the arguments, which are not known yet, say whether it writes."""
        return self.effect_of is not None and self.declared_effect is None

    def __hash__(self) -> int:
        # Of a few fields: lazy texts are slow to hash, and tools are keys of caches.
        return hash((self.name, self.effect, self.origin))


def _grouped(
    options: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    groups: dict[str, dict[str, Any]] = {name: {} for name in GROUPS}
    own: dict[str, Any] = {}
    for name, value in options.items():
        (groups[GROUP_OF[name]] if name in GROUP_OF else own)[name] = value
    return own, groups


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolResult:
    """The one answer to a call: what the model reads and the card shows."""

    ok: bool
    data: JSON = None
    error: str = ""  # a sentence
    error_type: str = ""  # stable, for programs
    suggestion: str = ""  # what to do instead
    message: str = ""  # a sentence on what was done
    schema_hint: JSON = None  # what the arguments have to be, if they were wrong
    changed: tuple[JSON, ...] = ()  # of {model, id, text}: the objects changed
    summary: str = ""  # what the card says to the person, also of a failure


@dataclass(frozen=True, kw_only=True, slots=True)
class CallActions:
    """The engine's services for a tool while it runs; None outside of a call."""

    progress: Callable[[float, str], None] | None = None
    step: Callable[[str], None] | None = None
    show: Callable[[str, dict[str, Any]], None] | None = None
    call_tool: Callable[[str, dict[str, Any]], ToolResult] | None = None
    transaction: Callable[[JSON], AbstractContextManager[None]] | None = None
    locked: Any = None  # the ReadOnly of the page: what the call may not change
    plan: str = ""  # the digest of that of an undo, which the person was shown
    kept: Any = None  # the KeptChips of a message that is a command


@dataclass(kw_only=True, slots=True)
class RunContext:
    """
    The first argument of a tool, if it has one named `context`.

    `user` is the signed-in user, loaded afresh for this call. `answers` holds
    what the person said to `Ask`, by key; `prepared` what `prepare` returned;
    `mark` the resume mark of an earlier attempt, or None.
    """

    user: Any
    run_id: UUID
    conversation_id: UUID
    idempotency_key: str = ""  # the same for every attempt at this call
    answers: dict[str, JSON] = field(default_factory=dict)
    prepared: Any = None
    mark: JSON = None
    is_preview: bool = False  # what is written now is rolled back
    is_as_shown: bool = False  # its rows are locked, and as the person was shown
    page: PageInfo = field(default_factory=PageInfo)
    module: str = ""  # id of the run's ContextModule
    agent: str = ""  # name of the run's agent; empty: none
    state: State = field(default_factory=State)  # of the app whose code it is
    actions: CallActions = field(default_factory=CallActions)

    @property
    def page_path(self) -> str:
        """The page from which the message was sent."""
        return self.page.path

    def progress(
        self, done: float, text: str = "", *, total: float | None = None
    ) -> None:
        """
        Show how far the call is: `done` from 0 to 1, and a short text.

        With `total` it is `done` of so many, which is said too.
        """
        if self.actions.progress is None:
            return
        if total:
            text = " · ".join(filter(None, (f"{done:g} / {total:g}", str(text))))
        fraction = float(done) / (total or 1)
        self.actions.progress(min(max(fraction, 0.0), 1.0), text)

    def step(self, text: str) -> None:
        """Say which step of its work the call has reached."""
        if self.actions.step is not None:
            self.actions.step(text)

    def show(self, name: str, /, **arguments: JSON) -> None:
        """
        Draw a card below the one of this call.

        `name` is that of a tool that `renders_only`; its template gets the
        arguments. The model learns nothing of it.
        """
        if self.actions.show is not None:
            self.actions.show(name, arguments)

    def call_tool(self, name: str, **arguments: JSON) -> ToolResult:
        """
        Call another tool, under the approval of this call.

        The child has a card, a permission check and a result of its own. Raise
        ToolFailed if it does more than this tool says of itself, or is nested too
        deeply.
        """
        if self.actions.call_tool is None:
            raise RuntimeError("context.call_tool() works inside a call only.")
        return self.actions.call_tool(name, arguments)

    def transaction(self, mark: JSON = None) -> AbstractContextManager[None]:
        """
        Open one piece of a background tool's writing.

        On entry the lease and the permission are checked; on exit the writes and
        `mark` are committed together. Raise LostLease if the call is no longer held,
        Refused if the user may no longer do this.
        """
        if self.actions.transaction is None:
            raise RuntimeError(
                "context.transaction() is for background tools. This tool runs in "
                "one transaction already: write without it, or register it with "
                "background=True."
            )
        return self.actions.transaction(mark)


def with_state(context: RunContext, state: State) -> RunContext:
    """Return a context of its own for a hook; quicker than `dataclasses.replace`."""
    other = object.__new__(type(context))
    other.state = state
    # One by one: a loop takes four times as long.
    other.user = context.user
    other.run_id = context.run_id
    other.conversation_id = context.conversation_id
    other.idempotency_key = context.idempotency_key
    other.answers = context.answers
    other.prepared = context.prepared
    other.mark = context.mark
    other.is_preview = context.is_preview
    other.is_as_shown = context.is_as_shown
    other.page = context.page
    other.module = context.module
    other.agent = context.agent
    other.actions = context.actions
    return other
