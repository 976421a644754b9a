"""What a test is told of a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ai_assistant.testing.recorded import Recording
from ai_assistant.types import JSON, ModelRequest


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
