"""A provider over plain HTTP: what litellm does, without its import of seconds."""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any

import aiohttp

from ai_assistant.exceptions import ModelError
from ai_assistant.types import (
    ModelChunk,
    ModelRequest,
    Provider,
    ReplyEnd,
    TextDelta,
    ToolCallDelta,
    Usage,
)


class PlainProvider(Provider):
    """Reads the chat completion chunks of the model server."""

    def __init__(self, profile: Mapping[str, Any]) -> None:
        self.url = f"{profile['API_BASE']}/chat/completions"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        body = {
            "model": request.model,
            "messages": request.messages,
            "tools": request.tools,
            "stream": True,
        }
        finish = ""
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.post(self.url, json=body) as response,
            ):
                if response.status != 200:
                    raise ModelError("provider_down", f"status {response.status}")
                async for line in response.content:
                    for chunk in _chunks(line):
                        yield chunk
                    finish = _finish(line) or finish
        except (aiohttp.ClientError, OSError) as error:
            raise ModelError("unreachable", str(error), retryable=True) from error
        if not finish:
            raise ModelError("cut")
        yield ReplyEnd(finish_reason=finish, usage=Usage())


def _choice(line: bytes) -> dict[str, Any]:
    if not line.startswith(b"data: {"):
        return {}
    choices = json.loads(line[6:]).get("choices")
    return choices[0] if choices else {}


def _finish(line: bytes) -> str:
    return _choice(line).get("finish_reason") or ""


def _chunks(line: bytes) -> Iterator[ModelChunk]:
    delta = _choice(line).get("delta", {})
    if delta.get("content"):
        yield TextDelta(text=delta["content"])
    for call in delta.get("tool_calls", ()):
        said = call.get("function", {})
        yield ToolCallDelta(
            index=call["index"],
            provider_id=call.get("id", ""),
            name=said.get("name", ""),
            arguments=said.get("arguments", ""),
        )
