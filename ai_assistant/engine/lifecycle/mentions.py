"""The items of the model for tools and skills that a person names with `@`."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.configuration.setup import Setup
from ai_assistant.registry import registry
from ai_assistant.safety.identity.permissions import may_call
from ai_assistant.types import ContextItem

TOOL = "tool:"  # how the id of such an item begins: tool:search_objects
SKILL = "skill:"
MOST_MENTIONED = 10  # of one message
PRIORITY = 85


def mentioned_names(ids: Iterable[str], kind: str) -> list[str]:
    """Return the names of the tools, or of the skills, that are mentioned."""
    names = (one.removeprefix(kind) for one in ids if one.startswith(kind))
    return sorted(names)[:MOST_MENTIONED]


def mentioned_items(ids: Iterable[str], user: Any, setup: Setup) -> list[ContextItem]:
    """Return what the model is told of them; nothing of those that are not there."""
    ids = list(ids)
    tools = map(registry.tool, mentioned_names(ids, TOOL))
    skills = [name for name in mentioned_names(ids, SKILL) if name in setup.skills]
    return [
        *(
            _item(TOOL, tool.name, _("The user names this tool. Use it."))
            for tool in tools
            if tool is not None and may_call(user, tool)
        ),
        *(
            _item(SKILL, name, _("The user names this skill: read it with get_skill."))
            for name in skills
        ),
    ]


def _item(kind: str, name: str, description: str) -> ContextItem:
    return ContextItem(
        id=kind + name,
        description=description,
        value=name,
        title=name,
        priority=PRIORITY,
        label="site",
    )
