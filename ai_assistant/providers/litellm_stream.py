"""The provider's own stream inside litellm's, iterated once."""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable
from typing import Any, Self


class OnceIterated:
    """
    An async iterable that gives the same iterator each time.

    litellm begins to iterate anew for each chunk. Where that makes a generator each
    time (openai's `AsyncStream`), the event loop has to be woken to close each of
    them, which costs a third of a chunk. All else is passed to the stream.
    """

    def __init__(
        self, stream: AsyncIterable[Any], iterator: AsyncIterator[Any]
    ) -> None:
        self._stream = stream
        self._iterator = iterator

    def __aiter__(self) -> Self:
        return self

    def __anext__(self) -> Awaitable[Any]:
        return self._iterator.__anext__()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name in ("_stream", "_iterator"):  # a copy that has nothing yet
            raise AttributeError(name)
        return getattr(self._stream, name)


def iterate_once(answer: Any) -> None:  # noqa: ANN401 - litellm's
    """Let litellm's `answer` iterate its source once, if that makes a difference."""
    stream = getattr(answer, "completion_stream", None)
    if isinstance(stream, AsyncIterable) and (iterator := aiter(stream)) is not stream:
        answer.completion_stream = OnceIterated(stream, iterator)
