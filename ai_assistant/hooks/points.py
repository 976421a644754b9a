"""
The points of a run, what each hands to its hooks, and what these may return.

A hook gets a RunContext and one of these values. None leaves everything as it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ai_assistant.prompts.tree import PromptTree
from ai_assistant.types import JSON, Effect, Label, ToolResult, Usage
from ai_assistant.types.hook import Point, copied

REASON_CHARS = 300


class OwnCopies:
    """
    A value of which each hook gets a copy.

    What can be changed in place is copied when the hook first looks at it: most hooks
    look at little, and a conversation may be long.
    """

    COPIED: ClassVar[tuple[str, ...]] = ()  # fields that can be changed in place

    def copy(self) -> Self:
        """Return it for another hook."""
        other = object.__new__(type(self))
        own = vars(other)
        own.update(vars(self))
        for name in self.COPIED:
            own.pop(name, None)
        own["_copied_of"] = self
        return other

    def has_copied(self, name: str) -> bool:
        """Return whether a hook has looked at a field, and may have changed it."""
        return name in vars(self)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in self.COPIED or "_copied_of" not in vars(self):
                raise AttributeError(name)
            own = vars(self)[name] = _own(getattr(self._copied_of, name))
            return own


def _own(value: Any) -> Any:
    if isinstance(value, PromptTree):
        return value.copy()
    if isinstance(value, ToolResult):
        return replace(value, data=copied(value.data))
    return copied(list(value) if isinstance(value, tuple) else value)


# --- what a hook may return ---


@dataclass(frozen=True, slots=True)
class Refuse:
    """Refuse a message, a call of the model, or a tool call. `reason` is a sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class RequireApproval:
    """Let a person approve a tool call, whatever they allowed before."""

    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class NextRound:
    """
    Let the conversation go on after the answer.

    `self`: the assistant goes on with `text`, within the limits of this answer;
    `person`: `text` is shown, and the person says how it goes on. Any other name is that
    of an agent: it is asked to do `text`, and the assistant goes on with its answer.
    """

    to: str
    text: str


# --- what it gets ---


@dataclass(frozen=True, kw_only=True, slots=True)
class UserMessage:
    """user_message_received: what a person sends, as it will be stored."""

    text: str
    page_path: str = ""


@dataclass(frozen=True, kw_only=True)
class PromptDraft(OwnCopies):
    """process_prompt: the parts of the system prompt, changed in `tree` by their ids."""

    COPIED = ("tree",)  # a hook that fails changes nothing

    tree: PromptTree
    step: int = 0  # 0-based


@dataclass(frozen=True, kw_only=True)
class ModelCall(OwnCopies):
    """
    before_model_request: the whole request.

    Return it changed by `replace`. Tools can be left out, and none can be added.
    With words of a row, a file or a person it has the `label` "data".
    """

    COPIED = ("messages",)

    messages: Sequence[dict[str, Any]]  # in the OpenAI chat form
    tools: tuple[str, ...] = ()  # names that it may call, those it is told of first
    model: str = ""
    step: int = 0
    label: Label = "site"  # of what hooks have put in


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelReplied:
    """after_model_response: one whole reply, before it is stored."""

    text: str
    calls: tuple[tuple[str, str], ...]  # names, and arguments as the model wrote them
    finish_reason: str
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    step: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerGrown:
    """response_update: the text so far, now and then while it grows."""

    text: str
    message_id: str
    step: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerGiven:
    """response_complete: the last text of a run, which ends with it."""

    text: str
    message_id: str
    step: int = 0


@dataclass(frozen=True, kw_only=True)
class ToolRequested(OwnCopies):
    """
    before_tool: a call of the model, before anybody has seen it.

    Return other arguments as a dict, Refuse or RequireApproval.
    """

    COPIED = ("arguments",)

    name: str
    arguments: Mapping[str, JSON]
    effect: Effect = "read"
    step: int = 0


@dataclass(frozen=True, kw_only=True)
class ToolAnswered(OwnCopies):
    """
    after_tool: the result of a call, before it is stored.

    Return another ToolResult. Whether it is `ok` cannot be changed.
    """

    COPIED = ("arguments", "result")

    name: str
    arguments: Mapping[str, JSON]
    result: ToolResult
    effect: Effect = "read"


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusChanged:
    """status_changed: a run has another state, one of docs/architecture.md."""

    state: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RunEnded:
    """run_finished: a run has ended. Return a NextRound to go on."""

    state: str
    text: str = ""  # of its last answer
    error: str = ""  # a sentence, if it did not succeed
    steps: int = 0


RETURNS: Mapping[Point, tuple[type, ...]] = {
    "user_message_received": (Refuse,),
    "before_model_request": (ModelCall, Refuse),
    "before_tool": (Mapping, Refuse, RequireApproval),
    "after_tool": (ToolResult,),
    "run_finished": (NextRound,),
}
