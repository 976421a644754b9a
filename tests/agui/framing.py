"""Server-sent events as AG-UI frames them."""

import json
from dataclasses import dataclass, field
from typing import Any

MOST_CHARS = 10_000_000  # the client's buffer, in characters without a boundary
IGNORED = ("event:", "retry:")


@dataclass(kw_only=True)
class Frame:
    """One event, and the id under which its stream can be taken up again."""

    event: dict[str, Any]
    event_id: str = ""

    @property
    def type(self) -> str:
        return str(self.event.get("type", ""))


@dataclass(kw_only=True)
class Framing:
    """
    Takes a body in pieces, hands out frames, and notes every fault of the framing.

    `comments` counts keep-alives.
    """

    frames: list[Frame] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    comments: int = 0
    _rest: bytes = b""

    def feed(self, piece: bytes) -> list[Frame]:
        """Return the frames that `piece` completes."""
        if b"\r" in piece:
            self.faults.append("the framing has a CR; lines end with LF alone")
        *blocks, self._rest = (self._rest + piece).split(b"\n\n")
        found = [frame for block in blocks if (frame := self._block(block))]
        self.frames += found
        return found

    def end(self) -> None:
        """Note that the body is over."""
        if self._rest:
            self.faults.append(f"the body ends inside a frame: {self._rest[:80]!r}")

    def _block(self, block: bytes) -> Frame | None:
        try:
            text = block.decode()
        except UnicodeDecodeError:
            self.faults.append(f"a frame is not UTF-8: {block[:80]!r}")
            return None
        if len(text) >= MOST_CHARS:
            self.faults.append(f"a frame has {len(text)} characters")
        data: list[str] = []
        ids: list[str] = []
        for line in text.split("\n"):
            self._line(line, data, ids)
        if len(ids) > 1 or (ids and not data):
            self.faults.append(f"a frame has the ids {ids} and {len(data)} data lines")
        return self._event(data, ids) if data else None

    def _line(self, line: str, data: list[str], ids: list[str]) -> None:
        name, _colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if line.startswith(":"):
            self.comments += 1
        elif name == "data":
            data.append(value)
        elif name == "id":
            ids.append(value)
            if not value or "\0" in value:
                self.faults.append(f"{value!r} is no id of an event")
        elif not line.startswith(IGNORED):
            self.faults.append(f"not a line of server-sent events: {line[:80]!r}")

    def _event(self, data: list[str], ids: list[str]) -> Frame | None:
        if len(data) > 1:
            self.faults.append(f"an event is spread over {len(data)} data lines")
        try:
            event = json.loads("\n".join(data), parse_constant=_no_json)
        except ValueError as error:
            self.faults.append(f"a frame is not JSON: {error}: {data[0][:80]!r}")
            return None
        if not isinstance(event, dict) or not isinstance(event.get("type"), str):
            self.faults.append(f"a frame holds no object with a type: {data[0][:80]!r}")
            return None
        return Frame(event=event, event_id=ids[0] if ids else "")


def parse(body: bytes) -> Framing:
    """Return the framing of a whole body."""
    framing = Framing()
    framing.feed(body)
    framing.end()
    return framing


def _no_json(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
