"""A provider that is played by a function."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any

from ai_assistant.testing.scripted import Reply, ScriptedProvider
from ai_assistant.types import ModelChunk, ModelRequest

Plays = Callable[[ModelRequest], Awaitable[Reply] | AsyncGenerator[ModelChunk, None]]


class FunctionProvider:
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
        said = self._function(request)
        if isinstance(said, AsyncGenerator):
            async with aclosing(said) as chunks:
                async for chunk in chunks:
                    yield chunk
            return
        async with aclosing(ScriptedProvider([await said]).stream(request)) as chunks:
            async for chunk in chunks:
                yield chunk
