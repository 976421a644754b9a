"""The tool of a call, its status, and its one result."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.engine.accounting.audit import call_ended
from ai_assistant.engine.storage.announcements import announce
from ai_assistant.events import CallResult, Custom, Event
from ai_assistant.models.call import OPEN_CALL, CallStatus, ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.safety.site_code import value_or
from ai_assistant.signals import tool_executed
from ai_assistant.tools.page.browser_tools import client_tools
from ai_assistant.tools.result import (
    HOOK,
    READ_RESULT,
    cut_result,
    is_cut,
    result_preview,
    storable_result,
    whole_text,
)
from ai_assistant.tools.summary import summary_of, table_of
from ai_assistant.types import EFFECTS, WRITING, ToolDefinition, ToolResult


def tool_of(run: Run, name: str) -> ToolDefinition | None:
    """Return the tool that a call of `run` names: the site's, or one of its page."""
    declared = client_tools(run.context) if registry.tool(name) is None else []
    own = {tool.name: tool for tool in declared}
    return registry.tool(name) or own.get(name)


def tool_of_call(run: Run, call: ToolCall) -> ToolDefinition | None:
    """Return the tool that a call of `run` names, with the effect of that very call."""
    tool = tool_of(run, call.name)
    return with_effect_of_call(tool, call.arguments) if tool is not None else None


def is_external(run: Run, call: ToolCall) -> bool:
    """Return whether a call of `run` has an effect that no rollback takes back."""
    tool = tool_of_call(run, call)
    return tool is not None and tool.execution.external


def with_effect_of_call(
    tool: ToolDefinition, arguments: Mapping[str, Any]
) -> ToolDefinition:
    """
    Return the tool as it is for a call with these arguments.

    Its `effect_of` can only say that such a call writes nothing, its `external_of` that
    the effect is outside the database. If they fail, the call is as the tool says.
    """
    if tool.effect_of is None:
        return tool
    declared = tool.declared_effect or tool.effect
    says = partial(tool.effect_of, arguments)
    effect = value_or(declared, says, "effect_of of tool %r failed", tool.name)
    is_less = effect in EFFECTS and effect not in WRITING
    of_call = tool.changed(
        effect=effect if is_less else declared, declared_effect=declared
    )
    if is_less or tool.external_of is None:
        return of_call
    says_external = partial(tool.external_of, arguments)
    failed = "external_of of tool %r failed"
    is_outside = value_or(tool.execution.external, says_external, failed, tool.name)
    return of_call.changed(external=bool(is_outside))


NOT_HERE = "not_here"  # error_type of a call that its page does not allow


def record_result(
    call: ToolCall, result: ToolResult, *, status: str = "", reason: str = ""
) -> list[CallResult]:
    """
    Record the one result of an open call; return the facts, none if it had one.

    `status` is complete or failed by the result, unless it is given; denied if a hook
    or the page of the run keeps the call from what it would change.
    """
    if not status and result.error_type in (NOT_HERE, HOOK):
        status, reason = CallStatus.DENIED, result.error_type
    result = storable_result(result)
    status = status or (CallStatus.COMPLETE if result.ok else CallStatus.FAILED)
    text = _text_for_model(call, result)
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
    named = {"run_id": call.run_id, "call_id": call.pk, "tool": call.name}
    announce(tool_executed, Run, **named, status=str(status))
    return [CallResult(call_id=str(call.pk), status=status, content=text)]


def _text_for_model(call: ToolCall, result: ToolResult) -> str:
    """Return what the model reads; if that is cut, it is offered the rest."""
    text = whole_text(result)
    # What another tool has called is not read by the model, and a piece is no whole.
    is_readable = call.parent_id is None and call.name != READ_RESULT
    if not (is_readable and is_cut(text)):
        return cut_result(text)
    run = Run.objects.only("loaded_tools").get(pk=call.run_id)
    if READ_RESULT not in run.loaded_tools:
        loaded = [*run.loaded_tools, READ_RESULT]
        Run.objects.filter(pk=run.pk).update(loaded_tools=loaded)
    return cut_result(text, str(call.pk))


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
