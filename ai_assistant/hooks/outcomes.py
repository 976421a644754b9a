"""What hooks have made of a value, and what of it can be used."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from django.utils.translation import gettext as _

from ai_assistant.hooks.points import (
    REASON_CHARS,
    RETURNS,
    ModelCall,
    NextRound,
    ToolAnswered,
    ToolRequested,
)
from ai_assistant.hooks.state import StateChange
from ai_assistant.types import ToolResult
from ai_assistant.types.hook import Hook

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class HookFailure:
    """A hook that failed. `error` names what happened, for those who may see it."""

    hook: str
    point: str
    error: str


@dataclass(kw_only=True, slots=True)
class Outcome(Generic[Value]):
    """What the hooks of a point have made of its value."""

    value: Value
    refused: str = ""  # why, in a sentence
    approval: str = ""  # why a person has to approve it
    by: str = ""  # the hook that refuses, or demands that
    changed_by: tuple[str, ...] = ()
    next_round: NextRound | None = None
    failures: list[HookFailure] = field(default_factory=list)
    changes: list[StateChange] = field(default_factory=list)


def value_of(hook: Hook, value: Any, found: Any) -> Any:
    """Return what the next hook gets. Raise TypeError or ValueError for nonsense."""
    if found is None:
        return value
    allowed = RETURNS.get(hook.point, ())
    if hook.point == "process_prompt" and type(found) is type(value):
        return found
    if not isinstance(found, allowed):
        names = ", ".join([*(kind.__name__ for kind in allowed), "None"])
        raise TypeError(
            f"Hook {hook.name!r} returned {type(found).__name__} at {hook.point} "
            f"(expected {names}). Return one of these."
        )
    if isinstance(found, Mapping) and isinstance(value, ToolRequested):
        return replace(value, arguments=dict(found))
    if isinstance(found, ToolResult) and isinstance(value, ToolAnswered):
        return _answered(hook, value, found)
    if isinstance(found, ModelCall):
        return _narrowed(hook, value, found)
    if isinstance(found, NextRound):
        _check_round(hook, found)
    return value


def _answered(hook: Hook, value: ToolAnswered, found: ToolResult) -> ToolAnswered:
    if found.ok != value.result.ok or found.error_type != value.result.error_type:
        raise ValueError(
            f"Hook {hook.name!r} changed whether {value.name!r} has succeeded. Change "
            "its data or its texts only."
        )
    return replace(value, result=found)


def _narrowed(hook: Hook, value: ModelCall, found: ModelCall) -> ModelCall:
    if added := set(found.tools) - set(value.tools):
        raise ValueError(
            f"Hook {hook.name!r} added the tools {sorted(added)}. Tools can be left "
            "out here, and none can be added."
        )
    messages = [dict(one) for one in found.messages]
    if not messages or not all(isinstance(one.get("role"), str) for one in messages):
        raise ValueError(
            f"Hook {hook.name!r} returned messages without a role. Change the ones "
            "that it got."
        )
    label = value.label if found.label == "site" else found.label
    return replace(value, messages=messages, tools=tuple(found.tools), label=label)


def _check_round(hook: Hook, found: NextRound) -> None:
    if not str(found.to).strip() or not str(found.text).strip():
        raise ValueError(
            f"Hook {hook.name!r} returned NextRound(to={found.to!r}). Use 'self', "
            "'person' or the name of an agent, and a text."
        )


def sentence(reason: object) -> str:
    return str(reason).strip()[:REASON_CHARS] or _("This site does not allow this.")
