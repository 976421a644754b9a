"""The tools that were called, as they were: for calls that outlive their tool."""

import threading
from collections.abc import Iterable

from django.db import transaction

from ai_assistant.models.call import ToolCall
from ai_assistant.models.tool_version import ToolVersion
from ai_assistant.tools.schema import function_schema
from ai_assistant.tools.version import version_of
from ai_assistant.types import ToolDefinition

_known: set[str] = set()  # hashes that are stored, as far as this process knows
_lock = threading.Lock()


def remember(tools: Iterable[ToolDefinition | None]) -> None:
    """Store what `tools` are now, once each; call it in the transaction of a call."""
    rows = [_row(tool) for tool in {tool for tool in tools if tool is not None}]
    new = [row for row in rows if row.hash not in _known]
    if not new:
        return
    ToolVersion.objects.bulk_create(new, ignore_conflicts=True)
    hashes = [row.hash for row in new]
    transaction.on_commit(lambda: _note(hashes))


def version_row(call: ToolCall) -> ToolVersion | None:
    """Return the tool as it was when it was called; None for calls of old."""
    return ToolVersion.objects.filter(pk=call.version).first() if call.version else None


def forget() -> None:
    """Ask the database again; for tests, whose rows go away."""
    with _lock:
        _known.clear()


def _note(hashes: list[str]) -> None:
    with _lock:
        _known.update(hashes)


def _row(tool: ToolDefinition) -> ToolVersion:
    return ToolVersion(
        hash=version_of(tool),
        name=tool.name,
        label=str(tool.label)[:200],
        effect=tool.effect,
        template=tool.template,
        schema=function_schema(tool)["function"],
    )
