"""The reply that ends a run, and the calls that may come along with it."""

from django.utils.translation import gettext as _

from ai_assistant.engine.interrupts.results import record_result
from ai_assistant.events import CallResult
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.tools.arguments import validate_arguments
from ai_assistant.tools.followups import is_followups
from ai_assistant.tools.result import from_value
from ai_assistant.types import ModelReply, ToolDefinition, ToolResult


def is_answer(reply: ModelReply) -> bool:
    """
    Return whether a run ends with this reply: the model is not asked again.

    It calls nothing, or suggests what to ask next beside its text. Such calls are
    stored with their results in the transaction that ends the run.
    """
    if not reply.calls:
        return True
    return bool(reply.text.strip()) and all(
        is_followups(call.name) for call in reply.calls
    )


def carry_out_beside(call: ToolCall, tool: ToolDefinition) -> list[CallResult]:
    """Give a call beside an answer its result. Requires the lease; calls no site code."""
    if call.asks and not call.approved:
        result = ToolResult(
            ok=False,
            error=_("Not carried out: the answer was complete before it was approved."),
            error_type="cancelled",
        )
        status, reason = CallStatus.CANCELLED, "skipped"
        return record_result(call, result, status=status, reason=reason)
    value = tool.handler(**validate_arguments(tool, call.arguments))
    return record_result(call, from_value(call.name, value))
