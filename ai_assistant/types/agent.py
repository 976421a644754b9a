"""An agent: a named configuration that a conversation uses. Plain Python."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from ai_assistant.types.teaching import Placement
from ai_assistant.types.tool import RunContext


@dataclass(frozen=True, kw_only=True, slots=True)
class Agent:
    """
    What holds in a conversation in place of the site's settings; empty: those hold.

    `instructions` is a text, or makes it for a page. `placement` says who may use the
    agent, and on which pages it is offered. See `ai_assistant.agent`.
    """

    name: str
    label: Any = ""  # may be lazily translated
    description: Any = ""
    instructions: str | Callable[[RunContext], str | None] = ""
    profile: str = ""
    reasoning: str | int = ""  # an effort, or a budget of tokens
    modules: tuple[str, ...] = ()  # patterns of ids; on other pages without a module
    tools: tuple[str, ...] = ()  # patterns of names; narrows, never grants
    steps: int = 0  # of a run
    run_s: float = 0.0  # of a run
    loop: str = ""  # the name of a registered one
    placement: Placement = field(default_factory=Placement)
    priority: int = 0  # the higher ones are offered first
    origin: str = ""

    def __str__(self) -> str:
        return str(self.label or self.name)

    def may_use(self, tool: str) -> bool:
        """Return whether the agent has a tool, if the user may call it."""
        return not self.tools or _fits(self.tools, tool)

    def works_in(self, module: str) -> bool:
        """Return whether what a module adds to its pages is for this agent, too."""
        return not self.modules or _fits(self.modules, module)


@dataclass(frozen=True, kw_only=True, slots=True)
class Loop:
    """
    How a run goes from step to step, registered by `ai_assistant.loop`.

    `function` takes the ports, the state and the limits of `engine.loop.run_loop`, and
    yields what that yields.
    """

    name: str
    function: Callable[..., AsyncGenerator[Any, None]]
    origin: str = ""


def _fits(patterns: tuple[str, ...], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
