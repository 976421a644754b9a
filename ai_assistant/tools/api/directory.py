"""The directory of the site's API in the prompt: its services, and what they can do."""

from collections.abc import Iterable

from ai_assistant.prompts.tree import OWN, PromptPart
from ai_assistant.tools.api.base import Operation
from ai_assistant.tools.api.catalogue import catalogue_of
from ai_assistant.tools.api.search import search_api
from ai_assistant.types import RunContext, ToolDefinition

CHARS = 1500
LISTED = (
    "The site's own API. Use its operations where no other tool does it; search_api tells "
    "what they take, call_api calls them."
)
MOST = 6  # operations of a service
MORE = "- {count} more: search_api()"
ROOM = CHARS - len(MORE) - 10  # for the line that tells of the rest


def api_part(context: RunContext, tools: Iterable[ToolDefinition]) -> list[PromptPart]:
    """Return the part of the prompt that lists the services, where they can be searched."""
    if not any(tool.name == search_api.__name__ for tool in tools):
        return []
    text = directory(catalogue_of(context).services())
    return [PromptPart(id="api", text=text, source=OWN, cacheable=True)]


def directory(services: dict[str, list[Operation]]) -> str:
    """Return a line for each service, as many as there is room for."""
    lines, room = [LISTED], ROOM - len(LISTED)
    for name, operations in services.items():
        line = _line(name, operations)
        if len(line) >= room:
            lines.append(MORE.format(count=len(services) - len(lines) + 1))
            break
        lines.append(line)
        room -= len(line) + 1
    return "\n".join(lines)


def _line(name: str, operations: list[Operation]) -> str:
    names = [one.id for one in operations]
    shown = ", ".join(names[:MOST])
    return f"- {name}: {shown}{', …' if len(names) > MOST else ''}"
