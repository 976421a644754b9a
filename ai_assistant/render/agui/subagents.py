"""The agents that a run has asked, as subagents of AG-UI 1.0."""

from collections.abc import Iterator, Mapping
from typing import Any

from ag_ui.core import (
    BaseEvent,
    SubagentErrorEvent,
    SubagentFinishedEvent,
    SubagentFinishedSuspendedOutcome,
    SubagentStartedEvent,
)
from django.utils.translation import gettext as _

from ai_assistant.engine.storage.delegated import FAILED, FINISHED


class Subagents:
    """The agents that are at work in one stream, by the ids of their runs."""

    def __init__(self) -> None:
        self._open: dict[str, None] = {}  # in the order in which they began

    def tell(self, value: Mapping[str, Any]) -> Iterator[BaseEvent]:
        """Tell what became of one; that of an earlier stream begins again."""
        key, state = value["run_id"], value["state"]
        if key not in self._open:
            above = value.get("parent_run_id")
            yield SubagentStartedEvent(
                subagent_run_id=key,
                name=value["agent"],
                parent_tool_call_id=value["call_id"],
                parent_subagent_run_id=above if above in self._open else None,
            )
            self._open[key] = None
        if state == FINISHED:
            del self._open[key]
            yield SubagentFinishedEvent(subagent_run_id=key)
        elif state == FAILED:
            del self._open[key]
            yield _stopped(key, value.get("text", ""))

    def close(self, *, ended: bool) -> Iterator[BaseEvent]:
        """Close those that are open: they wait, unless the run has `ended`."""
        for key in reversed(self._open):
            if ended:
                yield _stopped(key)
            else:
                suspended = SubagentFinishedSuspendedOutcome(type="suspended")
                yield SubagentFinishedEvent(subagent_run_id=key, outcome=suspended)
        self._open.clear()


def _stopped(key: str, why: str = "") -> BaseEvent:
    return SubagentErrorEvent(subagent_run_id=key, message=why or _("It was stopped."))
