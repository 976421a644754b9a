"""What a client adds to a run: its context and its own tools."""

from typing import Any

from ag_ui.core import Context, RunAgentInput, Tool
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import Refused
from ai_assistant.registry import registry
from ai_assistant.tools.page.client import MAX_TOOLS, NAME, client_tools
from ai_assistant.web.context_field import MAX_ITEMS, TOOLS_CHARS

DESCRIPTION_CHARS, LABEL_CHARS = 500, 80


def read_client_context(said: RunAgentInput) -> dict[str, Any]:
    """
    Return `Run.context` of what the client says.

    Raise Refused: too_large, bad_tool, tool_name_taken. What a client says is data:
    it can neither stand in for a tool of the site nor be an instruction.
    """
    items = _items(said.context or [])
    tools = _tools(said.tools or [])
    found = {"browser": items, "tools": tools}
    return {key: value for key, value in found.items() if value}


def _items(context: list[Context]) -> list[dict[str, Any]]:
    most = int(conf.get("BROWSER_CONTEXT_CHARS"))
    size = sum(len(one.value) + len(one.description) for one in context)
    if len(context) > MAX_ITEMS or size > most:
        raise Refused(
            "too_large",
            _("“context” may have %(items)d items and %(most)d characters.")
            % {"items": MAX_ITEMS, "most": most},
        )
    return [
        {
            "id": f"client{number}",
            "label": one.description[:LABEL_CHARS],
            "description": one.description[:DESCRIPTION_CHARS],
            "value": one.value,
            "auto": True,
        }
        for number, one in enumerate(context, 1)
    ]


def _tools(declared: list[Tool]) -> list[dict[str, Any]]:
    if not declared or not conf.get("CLIENT_TOOLS"):
        return []
    tools = [_tool(one) for one in declared]
    if len(tools) > MAX_TOOLS or len(str(tools)) > TOOLS_CHARS * 5:
        raise Refused(
            "too_large",
            _("“tools” may have %(n)d tools and %(most)d characters.")
            % {"n": MAX_TOOLS, "most": TOOLS_CHARS * 5},
        )
    names = [tool["name"] for tool in tools]
    if twice := next((one for one in names if names.count(one) > 1), ""):
        raise Refused(
            "bad_tool", _("The tool “%(name)s” is there twice.") % {"name": twice}
        )
    taken = {tool.name for tool in client_tools({"tools": tools})}
    if bad := [tool["name"] for tool in tools if tool["name"] not in taken]:
        raise Refused(
            "bad_tool",
            _("The tool “%(name)s” has parameters that no model can be told of.")
            % {"name": bad[0]},
        )
    return tools


def _tool(tool: Tool) -> dict[str, Any]:
    if not NAME.fullmatch(tool.name):
        raise Refused(
            "bad_tool",
            _("“%(name)s” is no name of a tool. Use letters, digits, _ and -.")
            % {"name": tool.name[:LABEL_CHARS]},
        )
    if registry.tool(tool.name) is not None:
        raise Refused(
            "tool_name_taken",
            _("The site has a tool “%(name)s” itself. Choose another name.")
            % {"name": tool.name},
        )
    parameters = tool.parameters or {"type": "object", "properties": {}}
    if not isinstance(parameters, dict):
        raise Refused(
            "bad_tool",
            _("The parameters of “%(name)s” have to be a JSON schema.")
            % {"name": tool.name},
        )
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters,
    }
