"""Records for a test: the requests to the model, and the outcome of a run."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from ai_assistant.types import JSON, ModelChunk, ModelRequest, Provider


@dataclass(kw_only=True, slots=True)
class Recording:
    """
    The provider that plays the model, and the requests it got.

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
    One tool call of a run: what the model asked for, and the outcome.

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
        """The requests to the model, one for each step."""
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
                f"The model was never called. The run ended as {self.state!r}: "
                f"{self.error or 'no reason was given'}"
            )
        return self.requests[-1]


def assert_tool_called(played: Played, name: str, /, **arguments: JSON) -> PlayedCall:
    """
    Return the first call of the tool `name` with these arguments.

    Arguments that are not named may have any value. Raise AssertionError, saying
    which calls there were, if there is none.
    """
    call = _first_call(played, name, arguments)
    if call is None:
        raise AssertionError(
            f"Tool {_as_call(name, arguments)} was not called. {_run_summary(played)}"
        )
    return call


def assert_tool_not_called(played: Played, name: str, /, **arguments: JSON) -> None:
    """Raise AssertionError if the tool `name` was called with these arguments."""
    if call := _first_call(played, name, arguments):
        raise AssertionError(
            f"Tool {_as_call(name, call.arguments)} was called. {_run_summary(played)}"
        )


def assert_script_is_used_up(played: Played) -> None:
    """Raise AssertionError if replies that a test has listed were never played."""
    script, count = played.recording.script, len(played.requests)
    if script is None or count >= script:
        return
    raise AssertionError(
        f"Of {script} replies {script - count} were not played: the model was called "
        f"{count} times. Remove them, or find out why it was not called again. "
        f"{_run_summary(played)}"
    )


def _first_call(
    played: Played, name: str, arguments: dict[str, JSON]
) -> PlayedCall | None:
    calls = (call for call in played.calls if call.name == name)
    matching = (call for call in calls if arguments.items() <= call.arguments.items())
    return next(matching, None)


def _run_summary(played: Played) -> str:
    if played.calls:
        calls = [f"{_as_call(c.name, c.arguments)}: {c.status}" for c in played.calls]
        summary = f"Called were: {'; '.join(calls)}."
    else:
        summary = "No tool was called."
    reason = f" ({played.error})" if played.error else ""
    return f"{summary} The run is {played.state!r}{reason}."


def _as_call(name: str, arguments: object) -> str:
    values = dict(arguments) if isinstance(arguments, dict) else {}
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in values.items())})"
