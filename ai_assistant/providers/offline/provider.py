"""The provider whose answers come from rules, in the small pieces in which models answer."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar
from uuid import uuid4

from ai_assistant import registry
from ai_assistant.providers.offline import answers
from ai_assistant.providers.offline.followups import FOLLOWED, Followed, followups
from ai_assistant.providers.offline.messages import (
    FINDER,
    FOLLOWUPS,
    Call,
    Message,
    Reply,
    finding,
    has_searched,
)
from ai_assistant.providers.offline.rules import Rules, answer
from ai_assistant.providers.offline.wishes import HELP, NEEDED, RULES, WHAT_I_AM
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

PIECE = re.compile(r"\s*\S{1,12}|\s+")  # a word, or a part of a long one
ARGUMENTS_CHARS = 12
CHARS_PER_TOKEN = 4
DELAY_S = 1 / 120


class OfflineProvider(Provider):
    """
    Answers by rules, without any server; a subclass has rules of its own.

    `DELAY_S` of the profile is the time before each piece; it says so itself that
    it is no language model. Usage is estimated, and costs nothing.
    """

    gives_titles = False
    sums_up = False
    rules: ClassVar[Rules] = RULES
    followed: ClassVar[Followed] = FOLLOWED
    what_it_is: ClassVar[str] = WHAT_I_AM
    help_text: ClassVar[str] = HELP
    needed: ClassVar[Mapping[str, str]] = (
        NEEDED  # tools, by how a wish of the help begins
    )

    def __init__(self, profile: Mapping[str, Any]) -> None:
        super().__init__(profile)
        self._delay_s = float(profile.get("DELAY_S", DELAY_S))

    def price_usd(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        """Return nothing: it costs none."""
        return Decimal(0)

    def reply_to(self, messages: Sequence[Message]) -> Reply:
        """Return what the rules give."""
        return answer(messages, self.rules, self.what_it_is)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Yield the pieces of the reply that the rules give."""
        reply = self._offered(self.reply_to(request.messages), request)
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

    def _offered(self, reply: Reply, request: ModelRequest) -> Reply:
        """
        Look for a tool that is not told of; if it is not found, call it all the same.

        The site knows why it is not to be had, and its refusal says so.
        """
        names = {tool["function"]["name"] for tool in request.tools}
        if reply.is_help:
            return Reply(text=self._help(names))
        if reply.call is None and reply.text and FOLLOWUPS in names:
            return replace(reply, call=followups(request.messages, self.followed))
        if reply.call is None or reply.call.name in names:
            return reply
        if FINDER in names and not has_searched(request.messages, reply.call.name):
            return Reply(reasoning=reply.reasoning, call=finding(reply.call.name))
        if reply.call.name in registry.tools():
            return reply
        return Reply(text=answers.unavailable(reply.call.name))

    def _help(self, names: Collection[str]) -> str:
        # With a finder there may be more tools than it is told of.
        if FINDER in names:
            return self.help_text
        return answers.help_for(self.help_text, self.needed, names)


def _chunks(reply: Reply) -> Iterator[ModelChunk]:
    for piece in PIECE.findall(reply.reasoning):
        yield ReasoningDelta(text=piece)
    for piece in PIECE.findall(reply.text):
        yield TextDelta(text=piece)
    if reply.call is not None:
        yield from _call_chunks(reply.call)


def _call_chunks(call: Call) -> Iterator[ModelChunk]:
    provider_id = f"offline_{uuid4().hex[:12]}"
    yield ToolCallDelta(index=0, provider_id=provider_id, name=call.name)
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    for start in range(0, len(arguments), ARGUMENTS_CHARS):
        yield ToolCallDelta(
            index=0, arguments=arguments[start : start + ARGUMENTS_CHARS]
        )
