"""What a tool is, in one hash: another hash is another tool of the same name."""

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from ai_assistant.tools.schema import CACHED, function_schema
from ai_assistant.types import ToolDefinition


@lru_cache(maxsize=CACHED)
def version_of(tool: ToolDefinition) -> str:
    """
    Return the hash of the tool's name, schema, effect and policy.

    The words of its docstring are not in it, the descriptions of arguments are.
    """
    canonical = json.dumps(_told(tool), sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def versions(tools: Iterable[ToolDefinition]) -> dict[str, str]:
    """Return the hash of each of `tools`, by name."""
    return {tool.name: version_of(tool) for tool in tools}


def manifest(tools: Iterable[ToolDefinition]) -> dict[str, dict[str, Any]]:
    """Return what a review should see of `tools`, by name, in the same order always."""
    told = ((tool.name, version_of(tool), _told(tool)) for tool in tools)
    entries = {
        name: {"version": version, **{k: v for k, v in fields.items() if k != "name"}}
        for name, version, fields in told
    }
    return dict(sorted(entries.items()))


def _told(tool: ToolDefinition) -> dict[str, Any]:
    return {
        "name": tool.name,
        "effect": tool.effect,
        "policy": tool.policy,
        "schema": function_schema(tool)["function"]["parameters"],
    }
