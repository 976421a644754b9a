"""The tool of a call, its status, and its one result."""

from dataclasses import asdict
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.engine.accounting.audit import call_ended
from ai_assistant.events import CallResult, Custom, Event
from ai_assistant.models.call import OPEN_CALL, CallStatus, ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.tools.page.browser_tools import client_tools
from ai_assistant.tools.result import result_preview, storable_result, text_for_model
from ai_assistant.tools.summary import summary_of, table_of
from ai_assistant.types import ToolDefinition, ToolResult


def tool_of(run: Run, name: str) -> ToolDefinition | None:
    """Return the tool that a call of `run` names: the site's, or one of its page."""
    declared = client_tools(run.context) if registry.tool(name) is None else []
    own = {tool.name: tool for tool in declared}
    return registry.tool(name) or own.get(name)


NOT_HERE = "not_here"  # error_type of a call that its page does not allow


def record_result(
    call: ToolCall, result: ToolResult, *, status: str = "", reason: str = ""
) -> list[CallResult]:
    """
    Record the one result of an open call; return the facts, none if it had one.

    `status` is complete or failed by the result, unless it is given; denied if the
    page of the run keeps the call from what it would change.
    """
    if not status and result.error_type == NOT_HERE:
        status, reason = CallStatus.DENIED, NOT_HERE
    result = storable_result(result)
    status = status or (CallStatus.COMPLETE if result.ok else CallStatus.FAILED)
    text = text_for_model(result)
    changed = ToolCall.objects.filter(pk=call.pk, status__in=OPEN_CALL).update(
        status=status,
        reason=reason,
        result=asdict(result),
        result_text=text,
        preview=result_preview(result),
        error="" if result.ok else result.error,
        summary=summary_of(
            registry.tool(call.name), call.label, call.arguments, result
        ),
        shown=table_of(result.data) if result.ok else None,
        traceback="" if result.ok else call.traceback,
        finished_at=Now(),
    )
    if not changed:
        return []
    call_ended(call, result, status=status, reason=reason)
    return [CallResult(call_id=str(call.pk), status=status, content=text)]


def call_moved(call: ToolCall, status: str) -> Event:
    """Return the fact that a call has a new status."""
    return Custom(name="aia.call", value={"call_id": str(call.pk), "status": status})


def has_runnable(run_id: UUID) -> bool:
    """Return whether a call of the run can be executed now, by its executor."""
    return ToolCall.objects.filter(
        run_id=run_id, status=CallStatus.PENDING, background=False
    ).exists()


def outcome_unknown(call: ToolCall) -> ToolResult:
    """Return the result of a call whose effect is unknown."""
    return ToolResult(
        ok=False,
        error=_("“%(name)s” was interrupted. It may or may not have taken effect.")
        % {"name": call.label or call.name},
        error_type="unknown",
        suggestion=_("Check before doing it again."),
    )
