"""A provider that plays a list of replies."""

import asyncio
import json
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from typing import Any

from ai_assistant.exceptions import ModelError
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

Part = str | float | ModelChunk | ModelError
Reply = str | ModelError | Sequence[Part]


class ScriptedProvider(Provider):
    """
    Plays `replies` one after the other, and keeps the `requests` that it got.

    A reply is a text, an error, or a list of parts: texts, chunks, errors to be
    raised there, and numbers, which are seconds to wait. A `ReplyEnd` is added if
    the list has none. Instead of a list a profile may be given, whose SCRIPT is
    such a provider: all made from that profile then play on in the same list.
    """

    gives_titles = False  # the script is for what the test asks
    sums_up = False

    def __init__(self, replies: Iterable[Reply] | Mapping[str, Any] = ()) -> None:
        self.requests: list[ModelRequest] = []
        self.replies: list[Reply] = []
        if isinstance(replies, Mapping):
            script: ScriptedProvider = replies["SCRIPT"]
            self.requests, self.replies = script.requests, script.replies
        else:
            self.replies.extend(replies)

    def add(self, *replies: Reply) -> None:
        """Append replies to those not played yet."""
        self.replies.extend(replies)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Play the next reply."""
        self.requests.append(request)
        number = len(self.requests)
        if number > len(self.replies):
            raise AssertionError(
                f"The script has {len(self.replies)} replies, and this is call "
                f"{number}. Add a reply, or find out why the model is called again."
            )
        reply = self.replies[number - 1]
        parts: list[Part] = (
            [reply] if isinstance(reply, (str, ModelError)) else list(reply)
        )
        called = any(isinstance(part, ToolCallDelta) for part in parts)
        if not any(isinstance(part, (ReplyEnd, ModelError)) for part in parts):
            parts.append(ReplyEnd(finish_reason="tool_calls" if called else "stop"))
        for part in parts:
            if isinstance(part, ModelError):
                raise part
            if isinstance(part, (int, float)):
                await asyncio.sleep(part)
            else:
                yield TextDelta(text=part) if isinstance(part, str) else part


def reply(
    text: str = "",
    *calls: ToolCallDelta,
    usage: Usage | None = None,
    finish_reason: str = "",
) -> list[Part]:
    """Return a reply that says `text` word by word, and then asks for `calls`."""
    words: list[Part] = [f"{word} " for word in text.split(" ")] if text else []
    if words:
        words[-1] = str(words[-1])[:-1]
    numbered = [
        ToolCallDelta(
            index=index,
            provider_id=delta.provider_id or f"call_{index}",
            name=delta.name,
            arguments=delta.arguments,
            provider_fields=delta.provider_fields,
        )
        for index, delta in enumerate(calls)
    ]
    end = ReplyEnd(
        finish_reason=finish_reason or ("tool_calls" if calls else "stop"),
        usage=usage or Usage(),
    )
    return [*words, *numbered, end]


def call(
    name: str, arguments: object = None, *, provider_id: str = ""
) -> ToolCallDelta:
    """Return a call of the tool `name`; a str as `arguments` is taken verbatim."""
    if not isinstance(arguments, str):
        arguments = json.dumps({} if arguments is None else arguments)
    return ToolCallDelta(
        index=0, provider_id=provider_id, name=name, arguments=arguments
    )


def reasoning(text: str) -> ReasoningDelta:
    """Return a piece of reasoning."""
    return ReasoningDelta(text=text)


Plays = Callable[[ModelRequest], Awaitable[Reply] | AsyncGenerator[ModelChunk, None]]


class FunctionProvider(Provider):
    """
    Lets an async function play the model.

    It gets the ModelRequest and returns a reply as `ScriptedProvider` takes it, or
    is an async generator of chunks. A profile may be given instead, with the
    function as its FUNCTION.
    """

    def __init__(self, function: Plays | Mapping[str, Any]) -> None:
        self._function: Plays = (
            function["FUNCTION"] if isinstance(function, Mapping) else function
        )

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Yield what the function says."""
        answer = self._function(request)
        if isinstance(answer, AsyncGenerator):
            async with aclosing(answer) as chunks:
                async for chunk in chunks:
                    yield chunk
            return
        async with aclosing(ScriptedProvider([await answer]).stream(request)) as chunks:
            async for chunk in chunks:
                yield chunk
