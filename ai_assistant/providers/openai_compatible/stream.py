"""Server-sent events of chat completions, read into the chunks of a reply."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.openai_compatible.errors import told_error
from ai_assistant.types import (
    ModelChunk,
    ReasoningDelta,
    ReplyEnd,
    TextDelta,
    ToolCallDelta,
    Usage,
)

MAX_EVENT_BYTES = 16 * 1024 * 1024
DONE = b"[DONE]"
# Of an assistant message: what a server wants to get again as it was.
OPAQUE = ("reasoning_details", "extra_content", "provider_specific_fields")
CALL_KEYS = frozenset({"index", "id", "type", "function"})
GROWING = ("text", "summary", "data")  # of a detail of reasoning, piece by piece
# Finish reasons that some servers have for those of the protocol.
REASONS: Mapping[str, str] = {
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "function_call": "tool_calls",
    "max_tokens": "length",
    "model_length": "length",
    "sensitive": "content_filter",
}
BROKEN = frozenset({"error", "insufficient_system_resource", "network_error"})


class EventReader:
    """Cuts bytes into the data of events; what is not whole yet is kept."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []  # of a line
        self._size = 0
        self._lines: list[bytes] = []  # of an event with several

    def read(self, data: bytes) -> Iterator[bytes]:
        """Yield the data of each event that `data` completes."""
        if b"\n" not in data:
            self._keep(data)
            return
        lines = b"".join([*self._rest, data]).split(b"\n")
        self._rest, self._size = [], 0
        self._keep(lines.pop())
        for line in lines:
            if (event := self._event(line.rstrip(b"\r"))) is not None:
                yield event

    def end(self) -> Iterator[bytes]:
        """Yield what is left when the stream ends without its last line feed."""
        yield from self.read(b"\n\n")

    def _keep(self, data: bytes) -> None:
        self._rest.append(data)
        self._size += len(data)
        if self._size > MAX_EVENT_BYTES:
            raise ModelError("malformed", f"A line of more than {MAX_EVENT_BYTES} B.")

    def _event(self, line: bytes) -> bytes | None:
        if line.startswith(b"error:"):  # as llama.cpp told it once
            return b'{"error": %s}' % line[6:]
        if line.startswith(b"data:"):
            data = line[5:].strip()
            # Almost always one line is the whole event: not every server ends it.
            is_whole = data == DONE or (data[:1] == b"{" and data[-1:] == b"}")
            if is_whole and not self._lines:
                return data
            self._lines.append(data)
        elif not line and self._lines:
            data = b"\n".join(self._lines)
            self._lines = []
            return data or None
        return None


class WholeBody(EventReader):
    """The body of a server that does not stream: one event, at the end."""

    def read(self, data: bytes) -> Iterator[bytes]:
        """Keep `data`."""
        self._keep(data)
        return iter(())

    def end(self) -> Iterator[bytes]:
        """Yield the body."""
        yield b"".join(self._rest)


class ReplyReader:
    """
    Reads the events of one reply; keeps what belongs to the reply as a whole.

    Texts that come in one network read are one chunk: all that is done for a chunk on
    its way, to the masks and the page, is then done once for them.
    """

    def __init__(
        self, loads: Callable[[bytes], Any], *, keeps_thoughts: bool = False
    ) -> None:
        self.finish_reason = ""
        self.is_done = False
        self.spoke = False
        self.usage: Mapping[str, Any] = {}
        self.provider_fields: dict[str, Any] = {}
        self._loads = loads
        self._keeps_thoughts = keeps_thoughts
        self._events = EventReader()
        self._chunks = _Chunks()
        self._calls: list[int] = []  # indexes, in the order of their beginning

    @property
    def is_whole(self) -> bool:
        """Whether the server has said that it is the end."""
        return bool(self.finish_reason) or (self.is_done and self.spoke)

    def read(self, data: bytes) -> Iterator[ModelChunk]:
        """Yield what a network read says. Raise ModelError after what is before it."""
        yield from self._told(self._events.read(data))

    def end(self) -> Iterator[ModelChunk]:
        """Yield what the last event says, if nothing ends it."""
        yield from self._told(self._events.end())

    def expect(self, content_type: str) -> None:
        """Prepare for what is to be read."""
        if content_type == "application/json":
            self._events = WholeBody()

    def reply_end(self, cost_usd: Callable[[Usage], Decimal | None]) -> ReplyEnd:
        """Return the end of the reply, which is whole."""
        reason = self.finish_reason or "stop"
        reason = REASONS.get(reason, reason)
        if reason.startswith("content_filter"):
            reason = "content_filter"
        if self._calls and reason == "stop":
            reason = "tool_calls"
        return ReplyEnd(
            finish_reason=reason,
            usage=read_usage(self.usage, cost_usd),
            provider_fields=self.provider_fields,
        )

    def _told(self, events: Iterator[bytes]) -> Iterator[ModelChunk]:
        fault: ModelError | None = None
        try:
            for event in events:
                if event == DONE:
                    self.is_done = True
                    break
                self._read(self._parsed(event))
        except ModelError as error:
            fault = error
        except (AttributeError, RecursionError, TypeError, ValueError) as error:
            fault = ModelError("malformed", f"{type(error).__name__}: {error}"[:300])
        for chunk in self._chunks.taken():
            self.spoke = True
            yield chunk
        if fault is not None:
            fault.retryable = fault.retryable and not self.spoke
            raise fault

    def _parsed(self, event: bytes) -> Any:
        try:
            return self._loads(event)
        except ValueError:
            # The quick parser takes no half of a character, which some models send.
            return json.loads(event)

    def _read(self, said: Mapping[str, Any]) -> None:
        if error := said.get("error"):
            raise told_error(error)
        if said.get("object") == "error":  # vLLM's older form
            raise told_error(said)
        if usage := _mapping(
            said.get("usage") or _mapping(said.get("x_groq")).get("usage")
        ):
            self.usage = usage
        for choice in said.get("choices") or ():
            if choice.get("index"):
                continue  # another answer to the same question
            self._delta(choice.get("delta") or choice.get("message") or {})
            if reason := choice.get("finish_reason"):
                if reason in BROKEN:
                    raise ModelError("provider_down", reason, retryable=True)
                self.finish_reason = str(reason)

    def _delta(self, delta: Mapping[str, Any]) -> None:
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if thought and isinstance(thought, str):
            self._think(thought)
        content = delta.get("content") or delta.get("refusal")
        if isinstance(content, list):
            self._parts(content)
        elif content:
            self._chunks.add(TextDelta, content)
        for call in delta.get("tool_calls") or ():
            self._call(call)
        for name in OPAQUE:
            if value := delta.get(name):
                self._keep(name, value)

    def _parts(self, parts: list[Mapping[str, Any]]) -> None:
        """Read the content of models that think in parts of it, as Mistral's do."""
        for part in parts:
            if part.get("type") == "thinking":
                for thought in part.get("thinking") or ():
                    self._think(thought.get("text") or "")
            elif text := part.get("text"):
                self._chunks.add(TextDelta, text)

    def _think(self, thought: str) -> None:
        self._chunks.add(ReasoningDelta, thought)
        if self._keeps_thoughts:
            before = self.provider_fields.get("reasoning_content", "")
            self.provider_fields["reasoning_content"] = before + thought

    def _call(self, call: Mapping[str, Any]) -> None:
        function = call.get("function") or {}
        name = str(function.get("name") or "")
        said = function.get("arguments") or ""
        arguments = said if isinstance(said, str) else json.dumps(said)
        fields = {key: call[key] for key in call.keys() - CALL_KEYS if call[key]}
        index = self._index(call, begins=bool(name))
        provider_id = call.get("id") or ""
        if not (name or provider_id or fields):
            self._chunks.add_arguments(index, arguments)
            return
        self._chunks.put(
            ToolCallDelta(
                index=index,
                provider_id=str(provider_id),
                name=name,
                arguments=arguments,
                provider_fields=fields,
            )
        )

    def _index(self, call: Mapping[str, Any], *, begins: bool) -> int:
        """Return the index of a call; some servers leave it out."""
        index = call.get("index")
        if not isinstance(index, int):
            latest = self._calls[-1] if self._calls else 0
            index = max(self._calls, default=-1) + 1 if begins else latest
        if index not in self._calls:
            self._calls.append(index)
        return index

    def _keep(self, name: str, value: Any) -> None:
        before = self.provider_fields.get(name)
        if isinstance(before, list) and isinstance(value, list):
            for detail in value:
                _grow(before, detail)
        elif isinstance(before, dict) and isinstance(value, dict):
            before.update(value)
        elif isinstance(value, list):
            self.provider_fields[name] = list(value)
        else:
            self.provider_fields[name] = value


def _grow(details: list[Any], piece: Any) -> None:
    """Add a piece of what was thought: the next one, or more of the last one."""
    last = details[-1] if details else None
    if not (isinstance(last, dict) and isinstance(piece, dict)):
        details.append(piece)
        return
    same = ("type", "index")
    if "index" not in piece or any(last.get(key) != piece.get(key) for key in same):
        details.append(piece)
        return
    grown = {key: (last.get(key) or "") + piece[key] for key in GROWING if key in piece}
    own = {key: value for key, value in piece.items() if value is not None}
    details[-1] = {**last, **own, **grown}


class _Chunks:
    """Chunks in their order; neighbours of one kind are joined."""

    def __init__(self) -> None:
        self._whole: list[ModelChunk] = []
        self._kind: type[TextDelta | ReasoningDelta] | int | None = None
        self._texts: list[str] = []

    def add(self, kind: type[TextDelta | ReasoningDelta] | int, text: str) -> None:
        """Add a piece of a text, or of the arguments of the call of an index."""
        if not isinstance(text, str):
            raise TypeError(f"A text is {type(text).__name__}.")
        if kind != self._kind:
            self._join()
            self._kind = kind
        self._texts.append(text)

    def add_arguments(self, index: int, text: str) -> None:
        if text:
            self.add(index, text)

    def put(self, chunk: ModelChunk) -> None:
        self._join()
        self._whole.append(chunk)

    def taken(self) -> list[ModelChunk]:
        """Return what was added since the last time."""
        self._join()
        taken, self._whole = self._whole, []
        return taken

    def _join(self) -> None:
        kind, text = self._kind, "".join(self._texts)
        self._kind, self._texts = None, []
        if isinstance(kind, int):
            self._whole.append(ToolCallDelta(index=kind, arguments=text))
        elif kind is not None:
            self._whole.append(kind(text=text))


def read_usage(
    said: Mapping[str, Any], cost_usd: Callable[[Usage], Decimal | None]
) -> Usage:
    """Return what a call took, by the names of several servers."""
    if not said:
        return Usage()
    prompt = _mapping(said.get("prompt_tokens_details"))
    completion = _mapping(said.get("completion_tokens_details"))
    cached = _count(prompt.get("cached_tokens"))
    usage = Usage(
        input_tokens=_count(said.get("prompt_tokens")),
        output_tokens=_count(said.get("completion_tokens")),
        cached_tokens=cached or _count(said.get("prompt_cache_hit_tokens")),
        reasoning_tokens=_count(completion.get("reasoning_tokens")),
    )
    return replace(usage, cost_usd=cost_usd(usage))


def _count(said: object) -> int:
    return int(said) if isinstance(said, int | float) and said > 0 else 0


def _mapping(said: object) -> Mapping[str, Any]:
    return said if isinstance(said, Mapping) else {}
