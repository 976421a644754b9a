"""Make a call wait: for an approval, for an answer, or for the page."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.engine.fence import database_now
from ai_assistant.engine.questions import ENDED_AS, storable_default, unanswered
from ai_assistant.engine.records import open_interrupt, record_result
from ai_assistant.events import Event
from ai_assistant.exceptions import Ask
from ai_assistant.models import clock
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.interrupt import CLIENT_TAB, Interrupt
from ai_assistant.models.run import Door
from ai_assistant.tools.characters import whole, whole_json
from ai_assistant.types import JSON, ToolDefinition


def approval(call: ToolCall, proposal: JSON = None) -> Event:
    """
    Let the call wait until a person approves its exact arguments.

    `proposal` is what it would change, as it is shown: changes.values.Changes.
    """
    _wait(call)
    expires_at = clock.now() + timedelta(seconds=conf.get("APPROVAL_TTL_S"))
    return open_interrupt(
        Interrupt(
            run_id=call.run_id,
            call=call,
            kind=Interrupt.Kind.APPROVAL,
            arguments_digest=call.arguments_digest,
            proposal=proposal,
            expires_at=expires_at,
        )
    )


def question(call: ToolCall, asked: Ask) -> Sequence[Event]:
    """
    Let the call wait for an answer.

    One that was left without an answer is not asked again for the same call.
    """
    text = whole(_again(call, asked) + str(asked.question))
    if left := _left_before(call, text):
        status, reason = ENDED_AS[left.status]
        return record_result(call, unanswered(left), status=status, reason=reason)
    _wait(call)
    ttl_s = conf.get("QUESTION_TTL_S")
    interrupt = Interrupt(
        run_id=call.run_id,
        call=call,
        kind=Interrupt.Kind.QUESTION,
        arguments_digest=call.arguments_digest,
        question=text,
        question_kind=asked.kind,
        options=whole_json(asked.choices),
        strict=asked.strict,
        default=storable_default(asked.default),
        key=asked.key,
        expires_at=clock.now() + timedelta(seconds=ttl_s) if ttl_s else None,
    )
    return [open_interrupt(interrupt)]


def page(call: ToolCall, tool: ToolDefinition, request: JSON) -> Event:
    """Let the call wait until a page has carried `request` out."""
    _wait(call)
    waits_s = tool.timeout_browser_s
    held: dict[str, Any] = {}
    if call.run.door == Door.AGUI:
        # No page can take it: it is the client's from the beginning.
        waits_s = float(conf.get("CLIENT_TOOL_TTL_S"))
        held = {"tab": CLIENT_TAB, "lease_until": database_now() + waits_s}
    return open_interrupt(
        Interrupt(
            run_id=call.run_id,
            call=call,
            kind=Interrupt.Kind.BROWSER,
            arguments_digest=call.arguments_digest,
            request=request,
            expires_at=clock.now() + timedelta(seconds=waits_s),
            **held,
        )
    )


def _again(call: ToolCall, asked: Ask) -> str:
    """Return why a question that was answered is asked again, if that is known."""
    answered = call.interrupts.filter(
        key=asked.key, status=Interrupt.Status.ANSWERED
    ).last()
    if answered is None or not asked.has_lost(answered.answer):
        return ""
    return _("What was chosen is not there any more.") + " "


def _left_before(call: ToolCall, text: str) -> Interrupt | None:
    left = Interrupt.objects.filter(
        run_id=call.run_id,
        kind=Interrupt.Kind.QUESTION,
        status__in=ENDED_AS,
        call__name=call.name,
        arguments_digest=call.arguments_digest,
        question=text,
    )
    return left.first()


def _wait(call: ToolCall) -> None:
    ToolCall.objects.filter(pk=call.pk).update(status=CallStatus.WAITING)
    call.status = CallStatus.WAITING
