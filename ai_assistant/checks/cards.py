"""What the tools say of their cards: icon, template, importance."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name
from django.core.exceptions import ImproperlyConfigured
from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.loader import get_template

from ai_assistant.checks.tools import place
from ai_assistant.registry import registry
from ai_assistant.types import IMPORTANCES, ToolDefinition

ICONS = "ai_assistant/icon.html"
DRAWN = re.compile(r'name == "([\w-]+)"')


def check_cards() -> list[CheckMessage]:
    """Return what the cards of the tools cannot be drawn with."""
    return [
        message
        for tool in registry.tools().values()
        for check in (_icon, _template, _importance)
        for message in check(tool)
    ]


def _icon(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if not tool.icon:
        return
    known = _icons()
    if known and tool.icon not in known:
        near = get_close_matches(tool.icon, known, n=1)
        yield Warning(
            f"{place(tool)} has the icon {tool.icon!r}, which does not exist.",
            hint=f"Use {near[0]!r}." if near else f"Use one of: {', '.join(known)}.",
            id="ai_assistant.W098",
        )


def _icons() -> list[str]:
    """Return what the site's icon template draws; none if it cannot be told."""
    try:
        template: Any = get_template(ICONS)
    except (TemplateDoesNotExist, TemplateSyntaxError, ImproperlyConfigured):
        return []  # E032 tells
    source = getattr(template.template, "source", "")
    return list(dict.fromkeys(DRAWN.findall(source)))


def _template(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if not tool.template:
        return
    try:
        get_template(tool.template)
    except TemplateDoesNotExist:
        wrong = "which cannot be found"
        hint = (
            "Give a path below the 'templates' folder of an installed app, for example "
            f"'ai_assistant/tools/{tool.name}.html'; that one needs not be named."
        )
    except TemplateSyntaxError as error:
        wrong, hint = f"which cannot be read: {error}", "Correct it."
    except ImproperlyConfigured:
        return  # E032 tells
    else:
        return
    yield Error(
        f"{place(tool)} has the template {tool.template!r}, {wrong}.",
        hint=hint,
        id="ai_assistant.E099",
    )


def _importance(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if tool.importance is not None and tool.importance not in IMPORTANCES:
        yield Error(
            f"{place(tool)} has the importance {tool.importance!r}.",
            hint="Use 'low', 'medium', 'high' or 'critical', or leave it out.",
            id="ai_assistant.E088",
        )
