import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import uuid4

from ai_assistant import registry
from ai_assistant.types import (
    ModelChunk,
    ModelRequest,
    Provider,
    ReasoningDelta,
    ReplyEnd,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from project.demo_model import answers
from project.demo_model.followups import followups
from project.demo_model.messages import (
    FINDER,
    FOLLOWUPS,
    Call,
    Reply,
    finding,
    has_searched,
)
from project.demo_model.rules import answer
from project.demo_model.summaries import summary_of
from project.demo_model.titles import title_of

PIECE = re.compile(r"\s*\S{1,12}|\s+")  # a word, or a part of a long one
ARGUMENTS_CHARS = 12
CHARS_PER_TOKEN = 4
DELAY_S = 1 / 120


class DemoProvider(Provider):
    """
    Answers by rules, offline, in the small pieces in which models answer.

    `DELAY_S` of the profile is the time before each piece; it says so itself that
    it is no language model. Usage is estimated, and costs nothing.
    """

    def __init__(self, profile: Mapping[str, Any]) -> None:
        self._delay_s = float(profile.get("DELAY_S", DELAY_S))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Yield the pieces of the reply that the rules give."""
        asked_for = title_of(request.messages) or summary_of(request.messages)
        reply = (
            Reply(text=asked_for)
            if asked_for
            else _offered(answer(request.messages), request)
        )
        count = 0
        for chunk in _chunks(reply):
            await asyncio.sleep(self._delay_s if count else 0)  # the first at once
            yield chunk
            count += 1
        asked = json.dumps([request.messages, request.tools], default=str)
        yield ReplyEnd(
            finish_reason="tool_calls" if reply.call else "stop",
            usage=Usage(
                input_tokens=len(asked) // CHARS_PER_TOKEN,
                output_tokens=count,
                reasoning_tokens=len(PIECE.findall(reply.reasoning)),
                cost_usd=Decimal(0),
            ),
        )


def _offered(reply: Reply, request: ModelRequest) -> Reply:
    """
    Look for a tool that is not told of; if it is not found, call it all the same.

    The site knows why it is not to be had, and its refusal says so.
    """
    names = {tool["function"]["name"] for tool in request.tools}
    if reply.text == answers.HELP:
        # With a finder there may be more tools than it is told of.
        return reply if FINDER in names else Reply(text=answers.help_for(names))
    if reply.call is None and reply.text and FOLLOWUPS in names:
        return replace(reply, call=followups(request.messages))
    if reply.call is None or reply.call.name in names:
        return reply
    if FINDER in names and not has_searched(request.messages, reply.call.name):
        return Reply(reasoning=reply.reasoning, call=finding(reply.call.name))
    if reply.call.name in registry.tools():
        return reply
    return Reply(text=answers.unavailable(reply.call.name))


def _chunks(reply: Reply) -> Iterator[ModelChunk]:
    for piece in PIECE.findall(reply.reasoning):
        yield ReasoningDelta(text=piece)
    for piece in PIECE.findall(reply.text):
        yield TextDelta(text=piece)
    if reply.call is not None:
        yield from _call_chunks(reply.call)


def _call_chunks(call: Call) -> Iterator[ModelChunk]:
    yield ToolCallDelta(index=0, provider_id=f"demo_{uuid4().hex[:12]}", name=call.name)
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    for start in range(0, len(arguments), ARGUMENTS_CHARS):
        yield ToolCallDelta(
            index=0, arguments=arguments[start : start + ARGUMENTS_CHARS]
        )
