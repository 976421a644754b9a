"""The cards of tools, and the committed manifest."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from django.core.checks import CheckMessage, Error, Warning
from django.core.exceptions import ImproperlyConfigured
from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.loader import get_template

from ai_assistant import conf
from ai_assistant.checks.tools import place
from ai_assistant.registry import registry
from ai_assistant.tools.manifest import manifest_differences, read_manifest
from ai_assistant.types import IMPORTANCES, ToolDefinition

ICONS = "ai_assistant/icons.html"
DRAWN = re.compile(r'<symbol id="aia-i-([\w-]+)"')


def check_cards() -> list[CheckMessage]:
    """Return what the cards of the tools cannot be drawn with."""
    return [
        message
        for tool in registry.tools().values()
        for check in (_icon, _template, _importance)
        for message in check(tool)
    ]


def _icon(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if not tool.display.icon:
        return
    known = _icons()
    if known and tool.display.icon not in known:
        near = get_close_matches(tool.display.icon, known, n=1)
        yield Warning(
            f"{place(tool)} has the icon {tool.display.icon!r}, which does not exist.",
            hint=f"Use {near[0]!r}." if near else f"Use one of: {', '.join(known)}.",
            id="ai_assistant.W098",
        )


def _icons() -> list[str]:
    """Return the names of the site's icons; none if its templates cannot be loaded."""
    try:
        html = get_template(ICONS).render()
    except (TemplateDoesNotExist, TemplateSyntaxError, ImproperlyConfigured):
        return []  # E032 tells
    return list(dict.fromkeys(DRAWN.findall(html)))


def _template(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if not tool.display.template:
        return
    try:
        get_template(tool.display.template)
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
        f"{place(tool)} has the template {tool.display.template!r}, {wrong}.",
        hint=hint,
        id="ai_assistant.E099",
    )


def _importance(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if (
        tool.display.importance is not None
        and tool.display.importance not in IMPORTANCES
    ):
        yield Error(
            f"{place(tool)} has the importance {tool.display.importance!r}.",
            hint="Use 'low', 'medium', 'high' or 'critical', or leave it out.",
            id="ai_assistant.E088",
        )


HINT = "Run `python manage.py assistant_manifest`, review its difference and commit it."


def check_manifest() -> list[CheckMessage]:
    """Return how the tools differ from AI_ASSISTANT['TOOL_MANIFEST'], if it is set."""
    name = str(conf.get("TOOL_MANIFEST"))
    return list(_compare(Path(name))) if name else []


def _compare(path: Path) -> Iterator[CheckMessage]:
    try:
        committed = read_manifest(path)
    except (OSError, ValueError) as error:
        yield Warning(
            f"AI_ASSISTANT['TOOL_MANIFEST'] is {str(path)!r}, which cannot be read: "
            f"{error}",
            hint="Run `python manage.py assistant_manifest` to write it.",
            id="ai_assistant.W106",
        )
        return
    for told in manifest_differences(committed):
        yield Warning(f"{told} since {path.name!r}.", hint=HINT, id="ai_assistant.W107")
