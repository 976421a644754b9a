"""What a page says of itself once the person has been taken to it."""

from dataclasses import replace
from typing import Any

from ai_assistant.context.collect import Kept, chosen, see
from ai_assistant.context.page import page_info
from ai_assistant.types import JSON, RunContext

MAX_TEXTS = 20
TEXT_CHARS = 300


def landed(context: RunContext, path: str, said: JSON) -> dict[str, Any]:
    """
    Return the result of a navigation that led to `path`.

    `said` is what the page itself shows: its title, messages and form errors. All
    else is asked on the server, with the permissions of the user. Blocks.
    """
    shown = said if isinstance(said, dict) else {}
    title = str(shown.get("title", ""))[:TEXT_CHARS]
    here = replace(context, page_path=path, page=page_info(path, title))
    found: dict[str, Any] = {
        "path": path,
        "page": [
            {"description": item.description, "value": item.value}
            for item in chosen(see(here).items, Kept())
        ],
    }
    for name in ("messages", "errors"):
        if texts := _texts(shown.get(name)):
            found[name] = texts
    return found


def _texts(said: JSON) -> list[str]:
    if not isinstance(said, list):
        return []
    return [str(text)[:TEXT_CHARS] for text in said[:MAX_TEXTS]]
