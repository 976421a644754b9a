"""Close what a call waits for, and let it be carried out."""

from django.utils.translation import gettext as _

from ai_assistant.engine.records import call_moved, close_interrupts, open_interrupt
from ai_assistant.events import Event
from ai_assistant.exceptions import Refused
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.types import JSON, UserKey


def close(
    interrupt: Interrupt, status: str, user_id: UserKey, said: JSON
) -> list[Event]:
    """Close an open interrupt as the person decided. Raise Refused if it is not open."""
    own = Interrupt.objects.filter(pk=interrupt.pk)
    facts = list(close_interrupts(own, status))
    if not facts:
        raise Refused(
            "already_answered", _("This was answered already, in another place.")
        )
    own.update(decided_by_id=user_id, decided_at=Now(), answer=said)
    return facts


def let_go_on(call: ToolCall) -> list[Event]:
    """Let a call that has waited for a person be carried out."""
    # Its time counts from now: until now the person was thinking.
    ToolCall.objects.filter(pk=call.pk).update(
        status=CallStatus.PENDING, sent_at=0, started_at=Now()
    )
    facts = [call_moved(call, CallStatus.PENDING)]
    if call.background:
        facts.append(open_interrupt(task_interrupt(call)))
    return facts


def task_interrupt(call: ToolCall) -> Interrupt:
    """Return the reason why a run waits for a background call."""
    return Interrupt(run_id=call.run_id, call=call, kind=Interrupt.Kind.TASK)
