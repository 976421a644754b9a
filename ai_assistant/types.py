"""The values that travel between the rooms. Plain Python, frozen."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, Protocol
from uuid import UUID

Effect = Literal["read", "ui", "write", "destructive"]
Source = Literal["server", "browser", "user"]  # who delivered a piece of context
Label = Literal["site", "data", "user"]  # what its words may cause
QuestionKind = Literal["text", "confirm", "select", "multi_select"]
Decision = Literal["allow", "ask", "deny"]
Importance = Literal["low", "medium", "high", "critical"]  # of an approval
JSON = Any  # what json.dumps takes
UserKey = Any  # the primary key of the site's own user model

EFFECTS: tuple[Effect, ...] = ("read", "ui", "write", "destructive")
WRITING: tuple[Effect, ...] = ("write", "destructive")
IMPORTANCES: tuple[Importance, ...] = ("low", "medium", "high", "critical")


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """
    What the site wants for a tool, with a sentence that says why.

    `source` says who decided: rule, setting, tool, default, or data.
    """

    decision: Decision
    reason: str = ""
    source: str = ""


# --- what the assistant sees ---


@dataclass(frozen=True, kw_only=True, slots=True)
class PageInfo:
    """
    The page of the user, as its address tells; no database was asked.

    `action` is index, app_list, changelist, add, change, delete, history, or empty
    for a page that is not the admin's. `filters` are the admin's, as the address
    has them.
    """

    path: str = ""
    title: str = ""
    view_name: str = ""  # with its namespace: admin:shop_order_change
    app_label: str = ""
    model_name: str = ""
    object_id: str = ""
    action: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    filters: Mapping[str, str] = field(default_factory=dict)
    search: str = ""
    page_number: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextItem:
    """
    One thing that the assistant is told of the page: a description and a value.

    `title` is what its chip says and what `@title` mentions. Without `auto` it is
    sent only when it is mentioned. `source` and `label` are set by the server for
    all that does not come from the site's own code. The higher `priority` goes
    first when not all fit.
    """

    description: str
    value: JSON = None
    id: str = ""
    title: str = ""
    auto: bool = True
    priority: int = 0
    source: Source = "server"
    label: Label = "data"
    error: str = ""  # for its owner: why the value is missing


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextProvider:
    """Server code that describes a page. See `ai_assistant.context`."""

    name: str
    function: Callable[..., Any]
    model: str = ""  # app.model, or empty for every page
    view: str = ""  # changelist, change, ...; empty for all
    description: str = ""
    title: str = ""
    auto: bool = True
    priority: int = 0
    convert: Callable[[Any], JSON] | None = None
    origin: str = ""


# --- what a model is asked, and what it says ---


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRequest:
    """One model call. `messages` and `tools` have the OpenAI chat form."""

    model: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] = field(default_factory=list)
    api_base: str = ""
    api_key: str = field(default="", repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)  # passed on verbatim


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What one model call took. `cost_usd` is None when the price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: Decimal | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCallDelta:
    """
    A piece of one tool call.

    `index` tells the calls of a reply apart; id and name come once, and
    `arguments` is the next piece of the JSON text. Pieces of several calls may
    interleave.
    """

    index: int
    provider_id: str = ""
    name: str = ""
    arguments: str = ""
    provider_fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplyEnd:
    """The model has finished. `finish_reason` is stop, tool_calls, length, ..."""

    finish_reason: str
    usage: Usage = field(default_factory=Usage)
    provider_fields: Mapping[str, Any] = field(default_factory=dict)


ModelChunk = TextDelta | ReasoningDelta | ToolCallDelta | ReplyEnd


class Provider(Protocol):
    """Who answers. Shipped ones lie in `ai_assistant.providers`."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """
        Yield the chunks of one reply; a `ReplyEnd` is the last and always comes.

        Raise ModelError if the model cannot answer or its stream is cut. Closing
        the iterator closes the connection.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestedCall:
    """One tool call that a model asked for, as it said it."""

    position: int  # 0-based within its step
    provider_id: str
    name: str
    arguments_text: str  # JSON, if the model made no mistake
    provider_fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelReply:
    """One whole reply of a model."""

    message_id: str
    text: str
    reasoning: str
    calls: tuple[RequestedCall, ...]
    finish_reason: str
    usage: Usage
    provider_fields: Mapping[str, Any] = field(default_factory=dict)
    reasoning_s: float = 0.0  # seconds from the first to the last reasoning delta


# --- what a tool is, and what it says ---


class Editor(Protocol):
    """Lets a person change what a call proposes, in a real form."""

    def form(
        self,
        context: "RunContext",
        arguments: dict[str, Any],
        data: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - a Django form
        """Return the form of these arguments, bound to `data` if it is given."""
        ...

    def arguments(self, form: Any, arguments: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
        """Return the arguments that a valid form stands for, after `arguments`."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolDefinition:
    """A tool as its developer wrote it. See `ai_assistant.tool`."""

    name: str
    handler: Callable[..., Any]
    effect: Effect
    description: str
    label: str  # what the card says; may be lazily translated
    label_plural: str = ""  # of a group of cards
    permission: str = ""
    background: bool = False
    external: bool = False
    resumable: bool = False
    prepare: Callable[..., Any] | None = None
    timeout_s: float | None = None
    write_timeout_s: float | None = None  # of its transaction; else WRITE_TIMEOUT_S
    policy: Decision | None = None
    importance: Importance | None = None  # said on the card that asks for approval
    # Called like the tool; returns Changes. "transaction": the tool is tried out.
    preview: Callable[..., Any] | Literal["transaction"] | None = None
    rows_argument: str = ""  # of a bulk tool: its ids, of which some may be chosen
    editor: Editor | None = None
    removes: Callable[[dict[str, Any]], bool] | None = None  # with such arguments
    takes_data: bool = False  # its arguments may come from data without asking
    origin: str = ""  # dotted module that registered it
    icon: str = ""  # a name of icon.html
    template: str = ""  # of the card; else ai_assistant/tools/<name>.html
    renders_only: bool = False  # shown when told of, never offered to the model
    is_enabled: Callable[["RunContext"], bool] | None = None
    prompt_hint: str = ""  # joins the system prompt while the tool is offered
    shared: bool = False  # offered on every page, also beside a module's own
    browser: bool = False  # carried out by the page
    timeout_browser_s: float = 60.0
    rate: str = ""  # "10/m": calls of one user
    page_size: int = 0  # rows of a list result; 0: not paged
    schema: Mapping[str, Any] | None = field(default=None, hash=False)  # no hints then
    upgrade_args: Callable[[str, dict[str, Any]], dict[str, Any]] | None = None

    def __hash__(self) -> int:
        # Of a few fields: lazy texts are slow to hash, and tools are keys of caches.
        return hash((self.name, self.effect, self.origin))


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


@dataclass(kw_only=True, slots=True)
class RunContext:
    """
    What a tool gets as its first argument, if it has one named `context`.

    `user` is the signed-in user, loaded afresh for this call. `answers` holds
    what the person said to `Ask`, by key; `prepared` what `prepare` returned;
    `mark` the resume mark of an earlier attempt, or None.
    """

    user: Any
    run_id: UUID
    conversation_id: UUID
    page_path: str = ""
    idempotency_key: str = ""  # the same for every attempt at this call
    answers: dict[str, JSON] = field(default_factory=dict)
    prepared: Any = None
    mark: JSON = None
    is_preview: bool = False  # what is written now is taken back
    is_as_shown: bool = False  # its rows are locked, and as the person was shown
    page: PageInfo = field(default_factory=PageInfo)
    module: str = ""  # id of the run's ContextModule
    report: Callable[[float, str], None] | None = None
    report_step: Callable[[str], None] | None = None
    open_transaction: Callable[[JSON], AbstractContextManager[None]] | None = None
    calls_tool: Callable[[str, dict[str, Any]], ToolResult] | None = None
    shows: Callable[[str, dict[str, Any]], None] | None = None

    def progress(self, fraction: float, text: str = "") -> None:
        """Show how far the call is: `fraction` from 0 to 1 and a short text."""
        if self.report is not None:
            self.report(min(max(float(fraction), 0.0), 1.0), text)

    def step(self, text: str) -> None:
        """Say which step of its work the call has reached."""
        if self.report_step is not None:
            self.report_step(text)

    def show(self, name: str, /, **arguments: JSON) -> None:
        """
        Draw a card below the one of this call.

        `name` is that of a tool that `renders_only`; its template gets the
        arguments. The model learns nothing of it.
        """
        if self.shows is not None:
            self.shows(name, arguments)

    def call_tool(self, name: str, **arguments: JSON) -> ToolResult:
        """
        Call another tool, under the approval of this call.

        The child has a card, a permission check and a result of its own. Raise
        ToolFailed if it does more than this tool says of itself, or is nested too
        deeply.
        """
        if self.calls_tool is None:
            raise RuntimeError("context.call_tool() works inside a call only.")
        return self.calls_tool(name, arguments)

    def transaction(self, mark: JSON = None) -> AbstractContextManager[None]:
        """
        Open one piece of a background tool's writing.

        On entry the lease and the permission are checked; on exit the writes and
        `mark` are committed together. Raise LostLease if the call is no longer
        ours, Refused if the user may no longer do this.
        """
        if self.open_transaction is None:
            raise RuntimeError(
                "context.transaction() is for background tools. This tool runs in "
                "one transaction already: write without it, or register it with "
                "background=True."
            )
        return self.open_transaction(mark)
