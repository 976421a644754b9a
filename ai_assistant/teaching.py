"""Register what a site teaches: instructions, commands, suggestions, and agents."""

import inspect
import re
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar, Unpack, overload

from ai_assistant.registry import registry
from ai_assistant.types import (
    NAME,
    Agent,
    Instruction,
    Loop,
    Placement,
    PromptCommand,
    RunContext,
    SuggestionProvider,
    SuggestionWriter,
)
from ai_assistant.types.hook import patterns

Handler = TypeVar("Handler", bound=Callable[..., object])
LoopFunction = TypeVar("LoopFunction", bound=Callable[..., AsyncGenerator[Any, None]])


class PlacementOptions(TypedDict, total=False):
    """Where something applies, as `Placement` says it."""

    module: str
    model: str
    view: str
    group: str
    language: str
    permission: str
    available: Callable[[RunContext], bool] | None


def instructions(
    *, name: str = "", priority: int = 0, **placement: Unpack[PlacementOptions]
) -> Callable[[Handler], Handler]:
    """
    Register a function that returns words for the model; None or "" for none.

    It gets a RunContext, before each step on the pages where it applies: all, or
    those of a `module`, a `model` (`app.model` or an app), a `view`, for a `group`,
    a `language`, a `permission`. All that apply go into the prompt, those of a high
    `priority` first. See docs/instructions.md.
    """

    def register_instruction(function: Handler) -> Handler:
        registry.add(
            "instruction",
            Instruction(
                name=(name or function.__name__).replace("_", "-"),
                text=function,  # type: ignore[arg-type]
                placement=Placement(**placement),
                priority=priority,
                origin=function.__module__,
            ),
        )
        return function

    return register_instruction


class AgentOptions(PlacementOptions, total=False):
    """What an agent has of its own, and who may use it where; see `Agent`."""

    label: Any
    description: Any
    profile: str
    reasoning: str | int
    modules: str | Sequence[str]
    tools: str | Sequence[str]
    steps: int
    run_s: float
    loop: str
    priority: int


PLACES = frozenset(PlacementOptions.__annotations__)


def agent(
    name: str = "", **options: Unpack[AgentOptions]
) -> Callable[[Handler], Handler]:
    """
    Register a function that returns the instructions of an agent; None or "" for none.

    It gets a RunContext, before each step. Users choose the agent of a conversation by
    its `label`. It has the model of a `profile`, which may think as `reasoning` says, works in `modules`, is left the `tools`
    of these patterns, and has `steps` and `run_s` seconds for a run; what is not given
    holds as the site has it. It is for members of a `group`, or who has a `permission`,
    and is offered where the rest of the placement applies. See docs/agents.md.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"@ai_assistant.agent got {name!r}. Write it with parentheses: "
            "@ai_assistant.agent('analyst')."
        )
    given: dict[str, Any] = dict(options)
    placement = Placement(**{key: given.pop(key) for key in PLACES & given.keys()})
    for key in ("modules", "tools"):
        given[key] = patterns(given.get(key, ()))

    def register_agent(function: Handler) -> Handler:
        own = name or function.__name__.replace("_", "-")
        if not re.match(NAME, own):
            raise ValueError(
                f"Agent {own!r} has a name that cannot be used. Use lower-case letters, "
                "digits and single hyphens: 'sales-analyst'."
            )
        described = (inspect.getdoc(function) or "").split("\n\n")[0]
        given.setdefault("label", own.replace("-", " ").capitalize())
        given.setdefault("description", " ".join(described.split()))
        registry.add(
            "agent",
            Agent(
                name=own,
                instructions=function,  # type: ignore[arg-type]
                placement=placement,
                origin=function.__module__,
                **given,
            ),
        )
        return function

    return register_agent


def loop(name: str) -> Callable[[LoopFunction], LoopFunction]:
    """
    Register an async generator that leads a run from step to step, for agents to name.

    It gets the ports, the state and the limits of `ai_assistant.engine.loop.run_loop`,
    and yields what that yields. See docs/agents.md.
    """

    def register_loop(function: LoopFunction) -> LoopFunction:
        if not inspect.isasyncgenfunction(function):
            raise TypeError(
                f"Loop {name!r} is not an async generator. Write it with async def, and "
                "yield what `ai_assistant.engine.loop.run_loop` yields."
            )
        registry.add(
            "loop", Loop(name=name, function=function, origin=function.__module__)
        )
        return function

    return register_loop


def prompt_command(
    name: str = "",
    *,
    description: Any = "",
    arguments: Mapping[str, Any] | None = None,
    priority: int = 0,
    **placement: Unpack[PlacementOptions],
) -> Callable[[Handler], Handler]:
    """
    Register a function that returns the prompt that `/name` stands for.

    What follows the name in the composer are its arguments, which come from the type
    hints as those of a tool; `arguments` is a JSON schema in their place. An argument
    named `context` gets a RunContext. It may return a CommandAnswer instead, and then
    no model is asked. See docs/prompt-commands.md.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"@ai_assistant.prompt_command got {name!r}. Write it with parentheses: "
            "@ai_assistant.prompt_command('weekly-report')."
        )

    def register_command(function: Handler) -> Handler:
        own = name or function.__name__.replace("_", "-")
        if not re.match(NAME, own):
            raise ValueError(
                f"Prompt command {own!r} has a name that cannot be typed. Use "
                "lower-case letters, digits and single hyphens: 'weekly-report'."
            )
        if inspect.iscoroutinefunction(function):
            raise TypeError(
                f"Prompt command {own!r} is an async function. Write it with def: it "
                "is called in a thread."
            )
        described = (inspect.getdoc(function) or "").split("\n\n")[0]
        registry.add(
            "command",
            PromptCommand(
                name=own,
                text=function,  # type: ignore[arg-type]
                description=description or " ".join(described.split()),
                schema=arguments or {},
                placement=Placement(**placement),
                priority=priority,
                origin=function.__module__,
            ),
        )
        return function

    return register_command


class KeptOptions(PlacementOptions, total=False):
    """Where suggestions apply, for how long they are kept and how long they may take."""

    cache_s: float
    timeout_s: float


@overload
def suggestions(
    name: str = "", **options: Unpack[KeptOptions]
) -> Callable[[Handler], Handler]: ...
@overload
def suggestions(
    name: str, *, instructions: Any, profile: str, **options: Unpack[KeptOptions]
) -> None: ...
def suggestions(
    name: str = "",
    *,
    instructions: Any = "",
    profile: str = "",
    **options: Unpack[KeptOptions],
) -> Any:
    """
    Register a function that returns what to suggest on a page, texts or Suggestions.

    It gets a RunContext. Where it applies is said as for `instructions`. What it
    returns is kept for `cache_s` seconds for each user and page; one that fails, or
    takes longer than `timeout_s`, suggests nothing.

    With `instructions` there is no function: the model of a `profile` reads them with
    the page, and suggests up to three texts. See docs/modules.md.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"@ai_assistant.suggestions got {name!r}. Write it with parentheses: "
            "@ai_assistant.suggestions()."
        )
    given: dict[str, Any] = dict(options)
    kept_names = given.keys() & {"cache_s", "timeout_s"}
    kept: dict[str, Any] = {key: given.pop(key) for key in kept_names}
    placement = Placement(**given)
    if instructions or profile:
        _register_writer(name, instructions, profile, placement, kept)
        return None

    def register_suggestions(function: Handler) -> Handler:
        registry.add(
            "suggestion",
            SuggestionProvider(
                name=(name or function.__name__).replace("_", "-"),
                function=function,
                placement=placement,
                origin=function.__module__,
                **kept,
            ),
        )
        return function

    return register_suggestions


def _register_writer(
    name: str,
    instructions: Any,
    profile: str,
    placement: Placement,
    kept: Mapping[str, Any],
) -> None:
    if not (name and instructions and profile):
        raise TypeError(
            f"Suggestions {name!r} that a model writes need a name, `instructions` and "
            "a `profile`. Write ai_assistant.suggestions('of-an-order', "
            "instructions='Suggest what to ask of this order.', profile='small')."
        )
    writer = SuggestionWriter(
        name=name,
        instructions=instructions,
        profile=profile,
        placement=placement,
        origin=sys._getframe(2).f_globals["__name__"],  # noqa: SLF001 - as namedtuple
        **kept,
    )
    registry.add("suggestion", writer)
