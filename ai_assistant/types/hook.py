"""What a site hooks into a run, and the state that its hooks and tools share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

from ai_assistant.types.page import JSON

Point = Literal[
    "user_message_received",
    "process_prompt",
    "before_model_request",
    "after_model_response",
    "response_update",
    "response_complete",
    "before_tool",
    "after_tool",
    "status_changed",
    "run_finished",
]
POINTS: tuple[Point, ...] = get_args(Point)
TOOL_POINTS: tuple[Point, ...] = ("before_tool", "after_tool")
GUARD_POINTS: tuple[Point, ...] = (
    "user_message_received",
    "before_model_request",
    "before_tool",
)
HOOK_S = 2.0  # of one hook, unless it says otherwise
STATE_CHARS = 16_000  # of all namespaces together, as JSON


@dataclass(frozen=True, kw_only=True, slots=True)
class Hook:
    """
    A function of the site that is called at a point of a run.

    Those of a low `order` go first. A `guard` that fails refuses; any other ends
    nothing.
    """

    name: str
    point: Point
    function: Callable[..., Any]
    tools: tuple[str, ...] = ()  # patterns of names; empty: all
    modules: tuple[str, ...] = ()  # patterns of ids; empty: all
    agents: tuple[str, ...] = ()  # patterns of names; empty: all, and runs without one
    order: int = 0
    timeout_s: float = HOOK_S
    guard: bool = False
    origin: str = ""  # dotted module that registered it

    def is_for(self, module: str, tool: str = "", agent: str = "") -> bool:
        """Return whether it is called in a run of `module` and `agent`, for `tool`."""
        if self.modules and not _fits(self.modules, module):
            return False
        if self.agents and not _fits(self.agents, agent):
            return False
        return not (tool and self.tools) or _fits(self.tools, tool)

    @property
    def where(self) -> str:
        """Where it applies, in words."""
        named = (
            ("tools", self.tools),
            ("modules", self.modules),
            ("agents", self.agents),
        )
        said = [f"{what} {', '.join(patterns)}" for what, patterns in named if patterns]
        return f"{self.point}: {' of '.join(said) or 'everywhere'}"


def _fits(patterns: tuple[str, ...], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def patterns(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return the patterns of an option that may be one or several."""
    return tuple(filter(None, [given] if isinstance(given, str) else given))


def wrong_point(point: str, tools: tuple[str, ...], *, guard: bool) -> str:
    """Return what is wrong with where a hook is registered; empty if nothing is."""
    if point not in POINTS:
        near = get_close_matches(point, POINTS, n=1) or [", ".join(POINTS)]
        return f"there is no such point. Use {near[0]}."
    if tools and point not in TOOL_POINTS:
        return f"`tools` works at {' and '.join(TOOL_POINTS)} only. Leave it out."
    if guard and point not in GUARD_POINTS:
        return f"`guard` works at {', '.join(GUARD_POINTS)} only. Leave it out."
    return ""


def namespace_of(origin: str) -> str:
    """Return the namespace of state for what `origin`, a dotted module, registers."""
    return origin.removesuffix(".assistant") or "site"


_PLAIN = frozenset({str, int, float, bool, type(None)})


def copied(value: Any) -> Any:
    """Return a JSON value with dicts and lists of its own; much quicker than deepcopy."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, list):
        return [copied(one) for one in value]
    if isinstance(value, dict | Mapping):
        return {key: copied(one) for key, one in value.items()}
    return value


class State(dict[str, Any]):
    """
    What the hooks and tools of one app keep from step to step, and from run to run.

    A dict of JSON values. It is stored with the step or call that changed it.
    """

    def __init__(
        self, namespace: str = "", every: Mapping[str, Mapping[str, JSON]] | None = None
    ) -> None:
        super().__init__()
        self.namespace = namespace
        self._every = every or {}
        if own := self._every.get(namespace):
            self.update(copied(own))

    def of(self, namespace: str) -> dict[str, Any]:
        """
        Return a copy of what another app keeps; `client` is what an AG-UI client sent.

        What is changed in it is not stored.
        """
        return dict(copied(self._every.get(namespace, {})))

    def fresh(self) -> "State":
        """Return it as it was, for another attempt."""
        return State(self.namespace, self._every)

    def within(self, namespace: str) -> "State":
        """Return the state of another app, to be changed by its own code."""
        return State(namespace, self._every)

    @property
    def every(self) -> Mapping[str, Mapping[str, JSON]]:
        """What all apps kept before."""
        return self._every

    @property
    def before(self) -> Mapping[str, JSON]:
        """What was in it before."""
        return self._every.get(self.namespace, {})
