"""Plays a task: a script is the model, and a person says yes to what it proposes."""

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ObjectDoesNotExist

from ai_assistant.testing import Played, answer_interrupt, run_assistant
from ai_assistant.testing import call as called
from ai_assistant.testing import reply as replied
from ai_assistant.types import ModelRequest, ToolCallDelta

Script = Generator[ToolCallDelta, Any, str]
MOST_YES = 5  # more is a task that goes in circles


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """
    What a person says, and a script of calls that does it.

    The script yields calls, is sent what the model reads of each, and returns what
    is said at last. `holds` looks at that text and at the database afterwards.
    """

    text: str
    script: Callable[[], Script]
    holds: Callable[[str], bool]
    user: str = "editor"
    path: str = "/admin/"
    before: Callable[[], object] = lambda: None
    yes: int = 0  # approvals that it needs


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of a task."""

    played: Played
    yes: int
    had_difference: bool
    holds: bool

    @property
    def is_done(self) -> bool:
        """Tell whether it was done, and as it should be."""
        return self.played.state == "succeeded" and self.holds


def use(tool: str, **arguments: object) -> ToolCallDelta:
    """Return a call of a script."""
    return called(tool, arguments)


def said(told: Any) -> str:  # what a model reads
    """Return the message of a result, or all of one that has none."""
    return str(told.get("message") or told)


def play(task: Task, user: Any) -> Outcome:
    """Play `task` as `user`, who approves whatever is proposed."""
    task.before()
    plays = _model(task.script())
    played = run_assistant(user, task.path, task.text, provider=plays)
    yes, had_difference = 0, True
    while played.interrupts and yes < MOST_YES:
        had_difference &= bool(played.interrupts[0].proposal)
        yes += 1
        played = answer_interrupt(played, "approve")
    answer = played.messages[-1][1]
    return Outcome(
        played=played,
        yes=yes,
        had_difference=had_difference,
        holds=_holds(task, answer),
    )


def _holds(task: Task, answer: str) -> bool:
    try:
        return task.holds(answer)
    except ObjectDoesNotExist:  # it was not made
        return False


def _model(script: Script) -> Callable[[ModelRequest], Any]:
    started = False

    async def plays(request: ModelRequest) -> Any:
        nonlocal started
        told = _told(request.messages[-1]) if started else None
        started = True
        try:
            return replied("", script.send(told))
        except StopIteration as end:
            return replied(str(end.value))

    return plays


def _told(message: Mapping[str, Any]) -> Any:
    """Return what the model reads of the last call, as JSON if it is some."""
    try:
        return json.loads(message["content"])
    except ValueError:
        return message["content"]
