"""What a site teaches its assistant: instructions, skills, commands. Plain Python."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ai_assistant.types.tool import RunContext

NAME = r"^[a-z0-9]+(-[a-z0-9]+)*$"  # of Agent Skills, and of commands
INSTRUCTION_CHARS = 4000
SKILL_CHARS = 50_000
COMMAND_CHARS = 8000


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """
    Where and for whom something applies; what is empty means everywhere.

    `model` is `app.model` or the label of an app; `view` one of changelist, add,
    change, delete, history, or a pattern of view names such as `admin:shop_*`.
    """

    module: str = ""  # id of a ContextModule
    model: str = ""
    view: str = ""
    group: str = ""  # name of a group of the user
    language: str = ""  # de, or de-at
    permission: str = ""
    available: Callable[[RunContext], bool] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Instruction:
    """Words of the site for the model. `text` is a text, or makes it for a page."""

    name: str
    text: str | Callable[[RunContext], str | None]
    placement: Placement = field(default_factory=Placement)
    priority: int = 0  # the higher ones go first where not all fit
    origin: str = ""  # the module that registered it; "row" for one of the admin


@dataclass(frozen=True, kw_only=True, slots=True)
class Skill:
    """
    A procedure in the format of Agent Skills: the model reads it when it needs it.

    `files` are the texts of its folder by their path, `references/` and such.
    """

    name: str
    description: str
    body: str
    files: Mapping[str, str] = field(default_factory=dict)
    scripts: tuple[str, ...] = ()  # listed, never run
    allowed_tools: tuple[str, ...] = ()  # narrows, never grants; empty: as without it
    placement: Placement = field(default_factory=Placement)
    priority: int = 0
    origin: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptCommand:
    """
    A prompt that a person sends by its name.

    `text` is a template with `{{ arguments }}`, or a function of a RunContext and
    the arguments that returns the prompt. `schema` is the JSON schema of the
    arguments.
    """

    name: str
    text: str | Callable[..., "str | CommandAnswer"]
    description: Any = ""  # may be lazily translated
    schema: Mapping[str, Any] = field(default_factory=dict)
    placement: Placement = field(default_factory=Placement)
    priority: int = 0
    origin: str = ""
    owner_id: Any = None  # of the person whose own it is


@dataclass(frozen=True, kw_only=True, slots=True)
class Suggestion:
    """
    A next prompt to press.

    `text` is sent, a `/command` too; without it the label is. With a `path` that page
    of the site is opened instead.
    """

    label: str
    text: str = ""
    path: str = ""

    @property
    def sent(self) -> str:
        """The text that is sent."""
        return self.text or self.label


@dataclass(frozen=True, kw_only=True, slots=True)
class SuggestionProvider:
    """Code that suggests what to ask on a page. See `ai_assistant.suggestions`."""

    name: str
    function: Callable[[RunContext], Any]
    placement: Placement = field(default_factory=Placement)
    cache_s: float = 60.0  # for one user on one page; 0: not kept
    timeout_s: float = 1.0
    origin: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SuggestionWriter:
    """Words for a model that suggests what to ask. See `ai_assistant.suggestions`."""

    name: str
    instructions: Any  # may be lazily translated
    profile: str  # whose model; a site without it is suggested nothing
    placement: Placement = field(default_factory=Placement)
    cache_s: float = 3600.0  # for one user on one page
    timeout_s: float = 10.0
    origin: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandAnswer:
    """
    What a command answers itself: no model is asked, and nothing is stored.

    `text` is Markdown. `path` is a page of the site that is offered below it; `does`
    is what the panel does at once, and the server with "summary".
    """

    text: str = ""
    path: str = ""
    does: Literal["", "new", "undo", "export", "model", "summary"] = ""
    value: str = ""  # of what it does: the profile


@dataclass(frozen=True, kw_only=True, slots=True)
class SentCommand:
    """A command that a person has sent, and what it stands for."""

    name: str
    prompt: str = ""  # the expanded text
    arguments: Mapping[str, Any] = field(default_factory=dict)
    # Whose words the prompt is: the site's, or the person's; empty: no such command.
    label: Literal["", "site", "user"] = ""
    near: Sequence[str] = ()  # names like that of one that does not exist

    def stored(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**asdict(self), "near": list(self.near)}
