"""The tool with which the model shows a checklist of its work."""

from collections.abc import Mapping
from typing import Any, Literal

from django.utils.translation import gettext_lazy

from ai_assistant.decorators import tool
from ai_assistant.modules.resolve import module_of
from ai_assistant.registry import registry
from ai_assistant.types import JSON

Status = Literal["pending", "in_progress", "done"]
MOST_ITEMS = 20
ITEM_CHARS = 200
# Short, since it is sent with every request; hints would make it twice as long.
SCHEMA: Mapping[str, Any] = {
    "properties": {
        "items": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_ITEMS,
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string", "maxLength": ITEM_CHARS},
                    "status": {"enum": ["pending", "in_progress", "done"]},
                },
                "required": ["text", "status"],
            },
        }
    },
    "required": ["items"],
}


@tool(
    effect="ui",
    label=gettext_lazy("Plan"),
    shared=True,
    is_enabled=lambda context: module_of(context).has("plan"),
    schema=SCHEMA,
)
def update_plan(items: list[dict[str, str]]) -> dict[str, JSON]:
    """Show the user a checklist of long work. To tick, call it with all items again."""
    done = sum(item["status"] == "done" for item in items)
    return {"done": done, "of": len(items)}


def is_plan(name: str) -> bool:
    """Return whether a call of that name is of this tool, not of one in its place."""
    found = registry.tool(name)
    return found is not None and found.handler is update_plan
