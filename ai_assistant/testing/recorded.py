"""A provider that lets another one speak and keeps what it was asked."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from ai_assistant.types import JSON, ModelChunk, ModelRequest, Provider


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


class RecordedProvider(Provider):
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


@dataclass(frozen=True, kw_only=True, slots=True)
class PlayedCall:
    """
    One tool call of a run: what the model asked for and what became of it.

    `status` is as on a card: complete, failed, denied, waiting, ... `data` is what
    the tool returned, `error` the sentence if it failed, `read_by_model` the text
    that went back to the model.
    """

    name: str
    arguments: Mapping[str, JSON]
    status: str
    data: JSON = None
    error: str = ""
    error_type: str = ""
    read_by_model: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """
    A run that has ended or waits, as `run_assistant` returns it.

    `text` is all that the assistant said, its messages parted by blank lines, and
    `messages` has both sides as pairs of role and text. `requests` are what the
    model was asked, in order. `interrupts` are the open ones, as rows; `error` is
    the sentence of a run that failed, and the detail for its operator.
    """

    run: Any  # models.Run
    state: str
    text: str
    messages: tuple[tuple[str, str], ...]
    calls: tuple[PlayedCall, ...]
    interrupts: tuple[Any, ...]  # models.Interrupt
    recording: Recording
    error: str = ""

    @property
    def requests(self) -> list[ModelRequest]:
        """What the model was asked, one request a step."""
        return self.recording.requests

    @property
    def prompt(self) -> str:
        """The system prompt of the last request, with the page at its end."""
        return str(self._last.messages[0]["content"])

    @property
    def offered(self) -> list[str]:
        """The names of the tools that the last request offered."""
        return [tool["function"]["name"] for tool in self._last.tools]

    @property
    def _last(self) -> ModelRequest:
        if not self.requests:
            raise AssertionError(
                f"The model was never asked. The run ended as {self.state!r}: "
                f"{self.error or 'no reason was given'}"
            )
        return self.requests[-1]
