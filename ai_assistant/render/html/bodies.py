"""What a site draws itself inside the card of a tool: its template's output."""

import logging
import re
from collections.abc import Iterable
from typing import Any

from django.template.exceptions import TemplateDoesNotExist
from django.template.loader import get_template
from django.utils.safestring import mark_safe

from ai_assistant.models.call import ToolCall
from ai_assistant.registry import registry

logger = logging.getLogger("ai_assistant")

FOLDER = "ai_assistant/tools/"
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # a model may say any other


def template_name(tool_name: str) -> str:
    """
    Return the template of a tool's card; empty if it has the default one.

    That of a tool that is gone is still used, if its file has the tool's name.
    """
    tool = registry.tool(tool_name)
    if tool is not None and tool.template:
        return tool.template
    if not NAME.fullmatch(tool_name):
        return ""
    name = f"{FOLDER}{tool_name}.html"
    try:
        get_template(name)
    except TemplateDoesNotExist:
        return ""
    except Exception:  # noqa: BLE001 - a fault in it, which is told where it is drawn
        return name
    return name


def load_results(calls: Iterable[ToolCall]) -> None:
    """Load the results that templates want; all others stay in the database."""
    wanted = {
        call.pk: call for call in calls if not call.is_open and template_name(call.name)
    }
    if not wanted:
        return
    rows = ToolCall.objects.filter(pk__in=wanted)
    for pk, result in rows.values_list("pk", "result"):
        wanted[pk].result = result


def draw_body(tool_name: str, values: dict[str, Any]) -> tuple[str, str]:
    """
    Return the body of a card as the tool's template draws it, and what is wrong.

    Both are empty if the tool has none. One that fails is logged, and the default
    body is drawn instead.
    """
    name = template_name(tool_name)
    if not name:
        return "", ""
    try:
        html = get_template(name).render(values)
    except Exception as error:
        logger.exception("template %r of tool %r failed", name, tool_name)
        return "", f"{name}: {type(error).__name__}: {error}"[:500]
    # The site's own HTML; its values are escaped by the template engine.
    return mark_safe(html.strip()), ""  # noqa: S308
