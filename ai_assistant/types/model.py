"""Requests to a model, and its replies. Plain Python, frozen."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelRequest:
    """One model call. `messages` and `tools` have the OpenAI chat form."""

    model: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] = field(default_factory=list)
    api_base: str = ""
    api_key: str = field(default="", repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)  # passed on verbatim
    stable_chars: int = 0  # of the prompt: its beginning, the same on pages of a module


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """The usage of one model call. `cost_usd` is None when the price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: Decimal | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCallDelta:
    """
    A piece of one tool call.

    `index` identifies a call within the reply; id and name come once, and
    `arguments` is the next piece of the JSON text. Pieces of several calls may
    interleave.
    """

    index: int
    provider_id: str = ""
    name: str = ""
    arguments: str = ""
    provider_fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplyEnd:
    """The model has finished. `finish_reason` is stop, tool_calls, length, ..."""

    finish_reason: str
    usage: Usage = field(default_factory=Usage)
    provider_fields: Mapping[str, Any] = field(default_factory=dict)


ModelChunk = TextDelta | ReasoningDelta | ToolCallDelta | ReplyEnd


class Provider:
    """
    Who answers: the base of all providers, made from a model profile.

    Shipped ones lie in `ai_assistant.providers`.
    """

    gives_titles = True  # may be asked for the title of a conversation
    sums_up = True  # may be asked for a summary of its earlier part

    def __init__(self, profile: Mapping[str, Any]) -> None:
        self.profile = profile

    @classmethod
    def warm_up(cls) -> None:
        """Begin to load what the provider needs; return at once."""

    async def ready(self) -> None:
        """Wait until it is loaded; the limits of a call are not for that wait."""

    def price_usd(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        """Return the price of the tokens; None if it is unknown."""
        return None

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """
        Yield the chunks of one reply; a `ReplyEnd` is the last and always comes.

        Raise ModelError if the model cannot answer or its stream is cut. Closing
        the iterator closes the connection.
        """
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestedCall:
    """One tool call that a model asked for, as it said it."""

    position: int  # 0-based within its step
    provider_id: str
    name: str
    arguments_text: str  # JSON, if the model made no mistake
    provider_fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelReply:
    """One whole reply of a model."""

    message_id: str
    text: str
    reasoning: str
    calls: tuple[RequestedCall, ...]
    finish_reason: str
    usage: Usage
    provider_fields: Mapping[str, Any] = field(default_factory=dict)
    reasoning_s: float = 0.0  # seconds from the first to the last reasoning delta
