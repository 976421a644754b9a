"""A provider that lets another one speak and keeps what it was asked."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from ai_assistant.types import ModelChunk, ModelRequest, Provider


@dataclass(kw_only=True, slots=True)
class Recording:
    """
    Who plays the model, and what it was asked.

    `broken` is an AssertionError of the one who plays, or of a context provider. A
    run makes a sentence of every error; this one is the test's own and is raised
    there. `raised` is what a tool has raised by a fault of its own; it is raised in the
    test too if that `raises`. `script` is how many replies there are, if the test has listed them.
    """

    provider: Provider
    script: int | None = None
    requests: list[ModelRequest] = field(default_factory=list)
    broken: AssertionError | None = None
    raises: bool = False
    raised: BaseException | None = None


class RecordedProvider:
    """Made by the engine from a profile that has its Recording as RECORDING."""

    def __init__(self, profile: Mapping[str, Any]) -> None:
        self._recording: Recording = profile["RECORDING"]

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Yield what the recorded provider says."""
        self._recording.requests.append(request)
        try:
            async with aclosing(self._recording.provider.stream(request)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except AssertionError as error:
            self._recording.broken = error
            raise
