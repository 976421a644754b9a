"""What the system prompt says of the page: which one it is, and what is opened there."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ai_assistant.providers.offline.messages import Message

FILTERS, SEARCHED = "The filters of the list", "What the user has searched"


@dataclass(kw_only=True, slots=True)
class Page:
    """The page of the user, as far as the prompt tells it; the model as app.model."""

    is_about: str = ""
    model: str = ""
    may: list[str] = field(default_factory=list)
    filters: dict[str, Any] = field(default_factory=dict)
    search: str = ""
    object_id: Any = None
    object_text: str = ""
    others: list[dict[str, Any]] = field(default_factory=list)  # rows of the site


def page_of(messages: Sequence[Message]) -> Page:
    """Return the page that the system prompt describes."""
    page = Page()
    for row in _rows(messages):
        told, value = str(row.get("is", "")), row.get("value")
        if not told:
            page.others.append(row)
        elif told.startswith(FILTERS) and isinstance(value, dict):
            page.filters = value
        elif told.startswith(SEARCHED):
            page.search = str(value)
        elif isinstance(value, dict) and "view" in value:
            page.is_about, page.may = told, value.get("you may", [])
            if value.get("model"):
                page.model = f"{value.get('app')}.{value['model']}"
        elif isinstance(value, dict) and "text" in value and "fields" in value:
            page.object_id, page.object_text = value["id"], str(value["text"])
            page.model = value.get("model", page.model)
    return page


def _rows(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects that stand on lines of their own."""
    for message in messages:
        if message.get("role") != "system":
            continue
        for line in str(message.get("content") or "").splitlines():
            if line.startswith("{"):
                try:
                    yield json.loads(line)
                except ValueError:
                    continue
