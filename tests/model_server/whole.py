"""The answer to a request that does not ask for a stream."""

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.model_server import scripts
from tests.model_server.marker import Asked


def whole(
    body: dict[str, Any], asked: Asked, registered: Mapping[str, scripts.Script]
) -> web.Response:
    """Return the reply in one piece; only text, calls and statuses are played."""
    reply = scripts.find(asked, registered)
    for op in reply:
        if op["op"] == "status":
            error = {"message": op.get("message", ""), "code": op.get("code")}
            return web.json_response({"error": error}, status=op["status"])
    text = "".join(op["text"] for op in reply if op["op"] == "text")
    calls = [_call(n, op) for n, op in enumerate(reply) if op["op"] == "tool_call"]
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = calls
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if calls else "stop",
    }
    return web.json_response(
        {
            "id": "chatcmpl-whole",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": body.get("model", ""),
            "choices": [choice],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }
    )


def _call(position: int, op: scripts.Op) -> dict[str, Any]:
    arguments = op["arguments"]
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments)
    function = {"name": op["name"], "arguments": arguments}
    return {"id": f"call_{position}", "type": "function", "function": function}
