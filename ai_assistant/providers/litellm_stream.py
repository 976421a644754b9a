"""litellm's stream, read once and turned into chunks."""

from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
)
from decimal import Decimal
from types import ModuleType
from typing import Any, Self

from ai_assistant.safety.site_code import value_or
from ai_assistant.types import (
    ModelChunk,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)

FIELDS = "provider_specific_fields"
SMALLEST_USD = Decimal("1e-9")  # floats are not exact beyond it


class ChunkReader:
    """
    Reads the chunks of one reply; keeps what belongs to the reply as a whole.

    `provider_fields` are keys of the assistant message, `ToolCallDelta`'s are keys
    of the call: merged back in as they are, they give the provider its own data
    (signed thoughts) again.
    """

    def __init__(self) -> None:
        self.finish_reason = ""
        self.received = False  # the provider gave it, and not litellm
        self.usage: Any = None  # litellm's Usage
        self._fields: dict[str, Any] = {}
        self._blocks: list[dict[str, Any]] = []  # of thinking, whole ones
        self._thought: list[str] = []  # of the block that is being streamed

    def read(self, chunk: Any) -> Iterator[ModelChunk]:
        """Yield what `chunk` says: nothing, one thing or several."""
        if self.finish_reason:
            self.usage = getattr(chunk, "usage", None) or self.usage
        if not chunk.choices:
            return
        choice = chunk.choices[0]
        if choice.finish_reason:
            self.finish_reason = choice.finish_reason
        delta = choice.delta
        # What is missing costs an AttributeError each in pydantic: look into the
        # instance's own dictionary instead.
        own = delta.__dict__
        if thought := own.get("reasoning_content"):
            yield ReasoningDelta(text=thought)
        if text := delta.content:
            yield TextDelta(text=text)
        if calls := delta.tool_calls:
            yield from map(_call, calls)
        self._keep(own)

    def _keep(self, own: Mapping[str, Any]) -> None:
        for block in own.get("thinking_blocks") or ():
            self._keep_thinking(block)
        for key, value in (own.get(FIELDS) or {}).items():
            if key == "thinking_blocks":
                continue  # a second time: put together they stand on their own
            before = self._fields.get(key)
            if isinstance(before, list) and isinstance(value, list):
                value = before + value  # noqa: PLW2901 - a list grows over the chunks
            self._fields[key] = value

    @property
    def provider_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if self._fields:
            fields[FIELDS] = self._fields
        if self._blocks:
            fields["thinking_blocks"] = self._blocks
        return fields

    def _keep_thinking(self, block: Mapping[str, Any]) -> None:
        """Put a streamed block of thinking together; only signed ones can go back."""
        if block.get("type") == "redacted_thinking":
            self._blocks.append(dict(block))
            return
        self._thought.append(block.get("thinking") or "")
        if signature := block.get("signature"):
            whole = {"type": "thinking", "thinking": "".join(self._thought)}
            self._blocks.append({**whole, "signature": signature})
            self._thought = []


def _call(call: Any) -> ToolCallDelta:
    return ToolCallDelta(
        index=call.index,
        provider_id=call.id or "",
        name=call.function.name or "",
        arguments=call.function.arguments or "",
        # What the provider added to a call of the chat format.
        provider_fields={
            key: value for key, value in (call.model_extra or {}).items() if value
        },
    )


def usage_from_chunk(litellm: ModuleType, model: str, found: Any) -> Usage:
    """Return what a call took; the price by litellm's own list."""
    if found is None:
        return Usage()
    prompt = getattr(found, "prompt_tokens_details", None)
    completion = getattr(found, "completion_tokens_details", None)
    return Usage(
        input_tokens=found.prompt_tokens or 0,
        output_tokens=found.completion_tokens or 0,
        cached_tokens=getattr(prompt, "cached_tokens", None) or 0,
        reasoning_tokens=getattr(completion, "reasoning_tokens", None) or 0,
        cost_usd=_sum_usd(
            lambda: litellm.cost_per_token(model=model, usage_object=found)
        ),
    )


def litellm_price_usd(
    litellm: ModuleType, model: str, input_tokens: int, output_tokens: int
) -> Decimal | None:
    """Return what so many tokens cost by litellm's own list; None if it lacks them."""
    return _sum_usd(
        lambda: litellm.cost_per_token(
            model=model, prompt_tokens=input_tokens, completion_tokens=output_tokens
        )
    )


def _sum_usd(ask: Callable[[], Iterable[float]]) -> Decimal | None:
    """Return the sum of the costs; None if litellm fails, for it knows no price."""
    costs = value_or(None, ask)
    if costs is None:
        return None
    return Decimal(str(sum(costs))).quantize(SMALLEST_USD)


class OnceIterated:
    """
    An async iterable that gives the same iterator each time.

    litellm calls `aiter` again for each chunk. Where that makes a generator each
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

    def __getattr__(self, name: str) -> Any:
        if name in ("_stream", "_iterator"):  # a copy that has nothing yet
            raise AttributeError(name)
        return getattr(self._stream, name)


def iterate_once(answer: Any) -> None:
    """Let litellm's `answer` iterate its source once, if that makes a difference."""
    stream = getattr(answer, "completion_stream", None)
    if isinstance(stream, AsyncIterable) and (iterator := aiter(stream)) is not stream:
        answer.completion_stream = OnceIterated(stream, iterator)
