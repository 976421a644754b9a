"""All tools in one file that is committed, so that a change is seen in a review."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ai_assistant.registry import registry
from ai_assistant.tools.schema import schema_error
from ai_assistant.tools.version import manifest

Manifest = dict[str, dict[str, Any]]


def current() -> Manifest:
    """Return the manifest of the registered tools, but those that have no schema."""
    tools = registry.tools().values()
    return manifest(tool for tool in tools if not schema_error(tool))


def written(tools: Manifest) -> str:
    """Return the text of a manifest's file."""
    return json.dumps(tools, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read_manifest(path: Path) -> Manifest:
    """Return a committed manifest. Raise OSError or ValueError if it is none."""
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ValueError("it holds no JSON object")  # noqa: TRY004 - of a file
    return found


def differences(committed: Manifest) -> Iterator[str]:
    """Yield a few words for each tool that is not what it was."""
    now = current()
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
