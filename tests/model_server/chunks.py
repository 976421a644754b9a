"""The wire form: chat completion chunks as server-sent events."""

import json
import re
from collections.abc import Iterator
from typing import Any

TOKEN = re.compile(r"\s*\S+\s*?(?=\s|$)|\s+")
USAGE = {"prompt": 10, "completion": 5, "cached": 0, "reasoning": 0}


def tokens(text: str, size: int = 0) -> Iterator[str]:
    """Cut `text` into pieces of `size` characters, or into words; nothing is lost."""
    if size:
        yield from (text[n : n + size] for n in range(0, len(text), size))
    else:
        yield from TOKEN.findall(text)


def event(data: object) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


class Wire:
    """Makes the chunks of one reply."""

    def __init__(self, model: str, reply_id: str) -> None:
        self.head = {
            "id": reply_id,
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": model,
        }

    def delta(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return event({**self.head, "choices": [choice]})

    def empty(self) -> bytes:
        return event({**self.head, "choices": []})

    def usage(self, counts: dict[str, Any]) -> bytes:
        counts = {**USAGE, **counts}
        prompt, completion = counts["prompt"], counts["completion"]
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": counts["cached"]},
            "completion_tokens_details": {"reasoning_tokens": counts["reasoning"]},
        }
        return event({**self.head, "choices": [], "usage": usage})

    def calls(self, op: dict[str, Any]) -> list[bytes]:
        """Return the chunks of the calls of `op`, in order or interleaved."""
        rows = [self._call(n, one, op) for n, one in enumerate(op["calls"])]
        if not op.get("interleave"):
            return [piece for row in rows for piece in row]
        longest = max(map(len, rows))
        return [row[n] for n in range(longest) for row in rows if n < len(row)]

    def _call(
        self, position: int, one: dict[str, Any], op: dict[str, Any]
    ) -> list[bytes]:
        arguments = one.get("arguments", {})
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        head: dict[str, Any] = {
            "index": one.get("index", position),
            "id": one.get("id", f"call_{position}"),
            "type": "function",
            "function": {"name": one["name"], "arguments": ""},
            **one.get("fields", {}),
        }
        if head["index"] is None:
            del head["index"]
        index = {"index": head["index"]} if "index" in head else {}
        size = -(-len(arguments) // one.get("pieces", op.get("pieces", 1))) or 1
        pieces = [arguments[n : n + size] for n in range(0, len(arguments), size)]
        return [
            self.delta({"tool_calls": [head]}),
            *(
                self.delta({"tool_calls": [{**index, "function": {"arguments": p}}]})
                for p in pieces
            ),
        ]
