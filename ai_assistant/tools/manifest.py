"""The hash of each tool, and the file in which all are committed."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from ai_assistant.registry import registry
from ai_assistant.tools.schema import CACHED, function_schema, schema_error
from ai_assistant.types import ToolDefinition


@lru_cache(maxsize=CACHED)
def compute_tool_version(tool: ToolDefinition) -> str:
    """
    Return the hash of the tool's name, schema, effect and policy.

    The words of its docstring are not in it, the descriptions of arguments are.
    """
    canonical = json.dumps(_told(tool), sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()


def tool_versions(tools: Iterable[ToolDefinition]) -> dict[str, str]:
    """Return the hash of each of `tools`, by name."""
    return {tool.name: compute_tool_version(tool) for tool in tools}


def manifest(tools: Iterable[ToolDefinition]) -> dict[str, dict[str, Any]]:
    """Return what a review should see of `tools`, by name, in the same order always."""
    told = ((tool.name, compute_tool_version(tool), _told(tool)) for tool in tools)
    entries = {
        name: {"version": version, **{k: v for k, v in fields.items() if k != "name"}}
        for name, version, fields in told
    }
    return dict(sorted(entries.items()))


def _told(tool: ToolDefinition) -> dict[str, Any]:
    return {
        "name": tool.name,
        "effect": tool.effect,
        "policy": tool.approval.policy,
        "schema": function_schema(tool)["function"]["parameters"],
    }


Manifest = dict[str, dict[str, Any]]


def current_manifest() -> Manifest:
    """Return the manifest of the registered tools, but those that have no schema."""
    tools = registry.tools().values()
    return manifest(tool for tool in tools if not schema_error(tool))


def manifest_text(tools: Manifest) -> str:
    """Return the text of a manifest's file."""
    return json.dumps(tools, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read_manifest(path: Path) -> Manifest:
    """Return a committed manifest. Raise OSError or ValueError if it is none."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError("it holds no JSON object")  # noqa: TRY004 - of a file
    return found


def manifest_differences(committed: Manifest) -> Iterator[str]:
    """Yield a few words for each tool that is not what it was."""
    now = current_manifest()
    for name in sorted({*now, *committed}):
        if name not in committed:
            yield f"Tool {name!r} is new"
        elif name not in now:
            yield f"Tool {name!r} is gone"
        elif now[name]["version"] != committed[name].get("version"):
            yield f"Tool {name!r} has changed: {_parts(committed[name], now[name])}"


def _parts(before: dict[str, Any], after: dict[str, Any]) -> str:
    parts = [key for key in after if key != "version" and before.get(key) != after[key]]
    return ", ".join(parts) or "version"
