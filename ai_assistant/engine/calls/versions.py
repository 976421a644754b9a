"""The version of the tool that a stored call was made for."""

import threading
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from ai_assistant.engine.calls.provenance import consent
from ai_assistant.engine.calls.recording import tell
from ai_assistant.engine.interrupts.approval import APPROVAL
from ai_assistant.engine.interrupts.results import (
    record_result,
    with_effect_of_call,
)
from ai_assistant.engine.interrupts.task import TASK
from ai_assistant.events import Event
from ai_assistant.exceptions import ModelRetry
from ai_assistant.models.call import ToolCall, ToolVersion
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.safety.policy.policy import tool_verdict
from ai_assistant.tools.arguments import (
    arguments_digest,
    function_schema,
    validate_arguments,
)
from ai_assistant.tools.manifest import compute_tool_version
from ai_assistant.tools.result import from_value
from ai_assistant.types import WRITING, ToolDefinition, ToolResult

_known: set[str] = set()  # hashes that are stored, as far as this process knows
_lock = threading.Lock()


def remember(tools: Iterable[ToolDefinition | None]) -> None:
    """Store what `tools` are now, once each; call it in the transaction of a call."""
    named = {compute_tool_version(tool): tool for tool in tools if tool is not None}
    new = named.keys() - _known
    if not new:
        return
    rows = [_row(digest, named[digest]) for digest in new]
    ToolVersion.objects.bulk_create(rows, ignore_conflicts=True)
    transaction.on_commit(lambda: _note(new))


def version_row(call: ToolCall) -> ToolVersion | None:
    """Return the tool as it was when it was called; None for calls of old."""
    return ToolVersion.objects.filter(pk=call.version).first() if call.version else None


def forget() -> None:
    """Ask the database again; for tests, whose rows go away."""
    with _lock:
        _known.clear()


def _note(hashes: set[str]) -> None:
    with _lock:
        _known.update(hashes)


def _row(digest: str, tool: ToolDefinition) -> ToolVersion:
    return ToolVersion(
        hash=digest,
        name=tool.name,
        label=str(tool.display.label)[:200],
        effect=tool.declared_effect or tool.effect,
        template=tool.display.template,
        schema=function_schema(tool)["function"],
    )


def is_other_version(call: ToolCall, tool: ToolDefinition) -> bool:
    """Return whether the tool has changed since it was called."""
    return bool(call.version) and call.version != compute_tool_version(tool)


def arguments_now(call: ToolCall, tool: ToolDefinition) -> dict[str, Any] | ToolResult:
    """
    Return the arguments of the call for the tool as it is now.

    They go through the tool's `upgrade_args`, code of the site that may take long:
    call it before a transaction. Return the call's result if they do not fit.
    """
    try:
        arguments = _upgraded(call, tool)
        validate_arguments(tool, arguments)
    except Exception as error:  # noqa: BLE001 - the site's code, and what it returns
        if not isinstance(error, ModelRetry):
            tell(call, error)
        return outdated(call, error)
    return arguments


def upgrade(
    call: ToolCall,
    tool: ToolDefinition,
    arguments: dict[str, Any] | ToolResult | None = None,
) -> list[Event]:
    """
    Move a call to the current version of its tool; return the events.

    `arguments` is what `arguments_now` has returned. An approval of the old version
    expires and is requested again. Requires the lease (see `storage.lease`).
    """
    row = ToolCall.objects.get(pk=call.pk)
    if not row.is_open or row.version != call.version:
        return []
    if arguments is None:
        arguments = arguments_now(row, tool)
    facts = TASK.end(row, Interrupt.Status.CANCELLED)
    if isinstance(arguments, ToolResult):
        return [*facts, *record_result(row, arguments)]
    tool = with_effect_of_call(tool, arguments)
    was_approved = row.approved
    _update(row, tool, arguments)
    user = fresh_user(row.run.user_id)
    verdict = tool_verdict(tool, user=user, module=row.run.module)
    if tool.effect in WRITING:
        verdict = consent(row, tool, verdict)
    asks = was_approved or row.asks or verdict.decision == "ask"
    ToolCall.objects.filter(pk=row.pk).update(
        asks=asks, asks_because=verdict.reason[:300] or row.asks_because
    )
    remember([tool])
    if asks and tool.approval.preview is None:
        facts.append(APPROVAL.open(row))
    elif asks:
        pass  # it is looked at first, in the next round
    elif row.background:
        facts.append(TASK.open(row))
    return facts


def _upgraded(call: ToolCall, tool: ToolDefinition) -> dict[str, Any]:
    if tool.execution.upgrade_args is None:
        return dict(call.arguments)
    told = from_value(
        tool.name, tool.execution.upgrade_args(call.version, dict(call.arguments))
    )
    if not told.ok or not isinstance(told.data, dict):
        raise TypeError("upgrade_args returned no arguments")
    return told.data


def _update(call: ToolCall, tool: ToolDefinition, arguments: dict[str, Any]) -> None:
    call.arguments = arguments
    call.arguments_digest = arguments_digest(call.name, arguments)
    call.version = compute_tool_version(tool)
    call.effect = tool.effect
    call.background = tool.execution.background
    call.label = str(tool.display.label)[:200]
    call.approved = False
    fields = ["arguments", "arguments_digest", "version", "effect", "background"]
    call.save(update_fields=[*fields, "label", "approved"])


def outdated(call: ToolCall, error: Exception) -> ToolResult:
    """Return the result of a call that its tool can no longer execute."""
    return ToolResult(
        ok=False,
        error=_("“%(name)s” has changed since it was called, and was not carried out.")
        % {"name": call.label or call.name},
        error_type="changed",
        suggestion=_("Call it again in its current form."),
        schema_hint=getattr(error, "schema_hint", None),
    )
