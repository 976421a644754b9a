"""The hash of each tool, and the file in which all are committed."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from ai_assistant.registry import registry
from ai_assistant.tools.arguments import CACHED, function_schema, schema_error
from ai_assistant.types import ToolDefinition

Manifest = dict[str, dict[str, Any]]


@lru_cache(maxsize=CACHED)
def compute_tool_version(tool: ToolDefinition) -> str:
    """
    Return the hash of the tool's name, schema, effect and policy.

    Descriptions of arguments are part of it, the docstring is not.
    """
    content = {"name": tool.name, **_reviewed_fields(tool)}
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def tool_versions(tools: Iterable[ToolDefinition]) -> dict[str, str]:
    """Return the hash of each of `tools`, by name."""
    return {tool.name: compute_tool_version(tool) for tool in tools}


def manifest(tools: Iterable[ToolDefinition]) -> Manifest:
    """Return what a review should see of `tools`, sorted by name."""
    entries = {
        tool.name: {"version": compute_tool_version(tool), **_reviewed_fields(tool)}
        for tool in tools
    }
    return dict(sorted(entries.items()))


def _reviewed_fields(tool: ToolDefinition) -> dict[str, Any]:
    return {
        "effect": tool.declared_effect or tool.effect,
        "policy": tool.approval.policy,
        "schema": function_schema(tool)["function"]["parameters"],
    }


def current_manifest() -> Manifest:
    """Return the manifest of the registered tools that have a valid schema."""
    tools = registry.tools().values()
    return manifest(tool for tool in tools if not schema_error(tool))


def manifest_text(tools: Manifest) -> str:
    """Return the text of a manifest's file."""
    return json.dumps(tools, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read_manifest(path: Path) -> Manifest:
    """Return a committed manifest. Raise OSError or ValueError if it cannot be read."""
    tools = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(tools, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004 - of a file
    return tools


def manifest_differences(committed: Manifest) -> Iterator[str]:
    """Yield a few words for each tool that differs from the committed manifest."""
    current = current_manifest()
    for name in sorted({*current, *committed}):
        if name not in committed:
            yield f"Tool {name!r} is new"
        elif name not in current:
            yield f"Tool {name!r} is gone"
        elif current[name]["version"] != committed[name].get("version"):
            before, after = committed[name], current[name]
            parts = [
                key
                for key in after
                if key != "version" and before.get(key) != after[key]
            ]
            yield f"Tool {name!r} has changed: {', '.join(parts) or 'version'}"
