"""The input of a client: one RunAgentInput, its context and its own tools."""

import json
from collections.abc import Mapping
from typing import Any

from ag_ui.core import Context, RunAgentInput, Tool
from django.http import HttpRequest
from django.utils.translation import gettext as _
from pydantic import ValidationError

from ai_assistant import conf
from ai_assistant.exceptions import Refused
from ai_assistant.hooks.state import CLIENT, checked
from ai_assistant.registry import registry
from ai_assistant.text.unicode import whole_json
from ai_assistant.tools.page.browser_tools import MAX_TOOLS, NAME, client_tools
from ai_assistant.types.hook import STATE_CHARS
from ai_assistant.types.page import is_deep
from ai_assistant.web.panel.fields import MAX_ITEMS, TOOLS_CHARS

JSON_TYPE = "application/json"
CLIENT_ID_CHARS = 200
LINE = "1"  # the major version that is spoken here
ROLES = ("developer", "system", "user", "assistant", "tool", "reasoning")
PARTS = ("text", "image", "audio", "video", "document")
SOURCES = ("data", "url", "file")
UNREADABLE = (ValueError, RecursionError)


def read_input(request: HttpRequest) -> RunAgentInput:
    """
    Return the input of a run. Blocks; call it in a thread.

    Additions of a newer protocol are ignored. Raise Refused: too_large, bad_json,
    bad_input, unsupported_version.
    """
    payload = _body(request)
    try:
        # Without characters that cannot be stored: a text is mended, a name is refused.
        body = RunAgentInput.model_validate(_without_unknown(whole_json(payload)))
    except ValidationError as error:
        raise Refused("bad_input", fault_of(error)) from error
    version = body.protocol_version
    if version is not None and version.split(".")[0] != LINE:
        raise Refused(
            "unsupported_version",
            _("Protocol version “%(version)s” is not supported; use 1.0.")
            % {"version": version[:20]},
        )
    for name in ("threadId", "runId"):
        check_name(name, payload[name])
    return body


def check_type(request: HttpRequest) -> None:
    """Raise Refused media_type unless the body is JSON: a form is not parsed."""
    if request.content_type != JSON_TYPE:
        raise Refused(
            "media_type",
            _("Send the input as %(type)s.") % {"type": JSON_TYPE},
        )


def check_name(field: str, name: str) -> None:
    """Raise Refused if a client's id cannot be stored or returned."""
    if not 0 < len(name) <= CLIENT_ID_CHARS or not name.isprintable():
        raise Refused(
            "bad_input",
            _("“%(what)s” must be 1 to %(most)d printable characters.")
            % {"what": field, "most": CLIENT_ID_CHARS},
        )


def _body(request: HttpRequest) -> dict[str, Any]:
    limit = conf.AGUI_BODY_BYTES
    # Not `body`: Django's own limit there is for forms.
    text = request.read(limit + 1)
    if len(text) > limit:
        raise Refused(
            "too_large",
            _("The input is larger than %(most)d bytes. Send fewer messages.")
            % {"most": limit},
        )
    try:
        payload = json.loads(text, parse_constant=_no_number)
    except UNREADABLE as error:
        raise Refused("bad_json", _("The input is not JSON: %s.") % error) from error
    if not isinstance(payload, dict):
        raise Refused("bad_input", _("The input must be a JSON object."))
    if is_deep(payload):
        raise Refused("bad_input", _("The input is nested too deeply."))
    return payload


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def _without_unknown(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the input without unknown kinds of messages and parts."""
    messages = payload.get("messages")
    if not isinstance(messages, list):
        return payload
    return {
        **payload,
        "messages": [
            _known_parts(message) for message in messages if _is_known(message)
        ],
    }


def _is_known(message: object) -> bool:
    role = message.get("role") if isinstance(message, dict) else None
    # Another type is an error to report.
    return not isinstance(role, str) or role in ROLES


def _known_parts(message: Any) -> Any:
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return message
    return {**message, "content": [part for part in content if _is_usable(part)]}


def _is_usable(part: object) -> bool:
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return True
    source = part.get("source")
    is_source = not isinstance(source, dict) or source.get("type") in SOURCES
    return part["type"] in PARTS and is_source


def fault_of(error: ValidationError, within: str = "") -> str:
    """Return what is wrong with a part of the input, by its path."""
    first = error.errors(include_url=False, include_input=False)[0]
    names = (within, *map(str, first["loc"]))
    path = ".".join(filter(None, names)) or "input"
    return _("“%(where)s” is invalid: %(why)s.") % {"where": path, "why": first["msg"]}


def own_props(body: RunAgentInput) -> Mapping[str, Any]:
    """Return what a client says to this server beside the protocol."""
    props = body.forwarded_props
    own = props.get("aia") if isinstance(props, dict) else None
    return own if isinstance(own, dict) else {}


OWN_STATE = "aia"  # the key of what the site keeps: no client changes that


def read_client_state(body: RunAgentInput) -> dict[str, Any] | None:
    """
    Return the state that a client has sent, None if none. What the site keeps is left out.

    Only an object is kept. Raise Refused too_large.
    """
    if not isinstance(body.state, dict):
        return None
    own = {key: value for key, value in body.state.items() if key != OWN_STATE}
    try:
        return checked(CLIENT, own)
    except ValueError as error:
        raise Refused(
            "too_large",
            _("“state” may have at most %(most)d characters as JSON.")
            % {"most": STATE_CHARS},
        ) from error


DESCRIPTION_CHARS, LABEL_CHARS = 500, 80


def read_client_context(body: RunAgentInput) -> dict[str, Any]:
    """
    Return the client's context and tools for `Run.context`.

    Raise Refused: too_large, bad_tool, tool_name_taken. A client's input is data: it
    can neither replace a tool of the site nor be an instruction.
    """
    items = _items(body.context or [])
    tools = _tools(body.tools or [])
    context = {"browser": items, "tools": tools}
    return {key: value for key, value in context.items() if value}


def _items(context: list[Context]) -> list[dict[str, Any]]:
    limit = conf.BROWSER_CONTEXT_CHARS
    size = sum(len(item.value) + len(item.description) for item in context)
    if len(context) > MAX_ITEMS or size > limit:
        raise Refused(
            "too_large",
            _("“context” may have at most %(items)d items and %(most)d characters.")
            % {"items": MAX_ITEMS, "most": limit},
        )
    return [
        {
            "id": f"client{number}",
            "label": item.description[:LABEL_CHARS],
            "description": item.description[:DESCRIPTION_CHARS],
            "value": item.value,
            "auto": True,
        }
        for number, item in enumerate(context, 1)
    ]


def _tools(declared: list[Tool]) -> list[dict[str, Any]]:
    if not declared or not conf.get("CLIENT_TOOLS"):
        return []
    tools = [_tool(tool) for tool in declared]
    if len(tools) > MAX_TOOLS or len(str(tools)) > TOOLS_CHARS * 5:
        raise Refused(
            "too_large",
            _("“tools” may have at most %(n)d tools and %(most)d characters.")
            % {"n": MAX_TOOLS, "most": TOOLS_CHARS * 5},
        )
    names = [tool["name"] for tool in tools]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise Refused(
            "bad_tool", _("The tool “%(name)s” is given twice.") % {"name": twice}
        )
    accepted = {tool.name for tool in client_tools({"tools": tools})}
    if bad := [tool["name"] for tool in tools if tool["name"] not in accepted]:
        raise Refused(
            "bad_tool",
            _("The parameters of the tool “%(name)s” cannot be sent to a model.")
            % {"name": bad[0]},
        )
    return tools


def _tool(tool: Tool) -> dict[str, Any]:
    if not NAME.fullmatch(tool.name):
        raise Refused(
            "bad_tool",
            _("“%(name)s” is not a valid tool name. Use letters, digits, _ and -.")
            % {"name": tool.name[:LABEL_CHARS]},
        )
    if registry.tool(tool.name) is not None:
        raise Refused(
            "tool_name_taken",
            _("The site already has a tool “%(name)s”. Choose another name.")
            % {"name": tool.name},
        )
    parameters = tool.parameters or {"type": "object", "properties": {}}
    if not isinstance(parameters, dict):
        raise Refused(
            "bad_tool",
            _("The parameters of “%(name)s” must be a JSON schema.")
            % {"name": tool.name},
        )
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters,
    }
