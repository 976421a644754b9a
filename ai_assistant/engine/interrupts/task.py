"""Calls that are executed in the background: the run waits until they end."""

from typing import Any

from ai_assistant.engine.interrupts.base import (
    InterruptKind,
    close_interrupts,
    register_kind,
)
from ai_assistant.events import Event
from ai_assistant.models.call import BackgroundCall, ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import RunState


class Task(InterruptKind):
    """Waits for a background call, which its worker claims and ends."""

    name = Interrupt.Kind.TASK
    run_state = RunState.WAITING_TASK

    def open(self, call: ToolCall, **columns: Any) -> Event:
        """Let the run wait, and queue the call: it can be executed."""
        # A call that was queued before is due again.
        BackgroundCall.objects.update_or_create(call=call, defaults={"sent_at": 0})
        return self.store(call, **columns)

    def end(self, call: ToolCall, status: str = Interrupt.Status.DONE) -> list[Event]:
        """Close the interrupt of this call."""
        return close_interrupts(call.interrupts.filter(kind=self.name), status)

    def late(self) -> None:
        """Return None: the call's lease expires instead."""


TASK = register_kind(Task())
