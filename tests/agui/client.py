"""A front end that speaks AG-UI over real HTTP; whatever it reads is checked."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import httpx

from tests.agui.framing import Frame, Framing
from tests.agui.held import Held
from tests.agui.order import Known, Order, outline
from tests.agui.shapes import shape_faults

ADDRESS = "/assistant/agui/"
READ_S = 30.0


def new_name() -> str:
    return uuid4().hex  # not the form of the server's own ids


class Reading:
    """
    One stream, read event by event.

    Leaving the `with` block closes the connection, wherever the stream stands, and
    raises AssertionError if anything that came was wrong.
    """

    def __init__(self, response: httpx.Response, order: Order, held: Held) -> None:
        self.response = response
        self.order = order
        self.held = held
        self.framing = Framing()
        self.is_new = True
        self._pieces = response.iter_raw()
        self._ready: deque[Frame] = deque()
        self._frames = self._read()
        self._shapes: list[str] = []
        self._is_over = False

    @property
    def frames(self) -> list[Frame]:
        return self.framing.frames

    @property
    def events(self) -> list[dict[str, Any]]:
        return [frame.event for frame in self.frames]

    @property
    def types(self) -> list[str]:
        return [frame.type for frame in self.frames]

    @property
    def last(self) -> dict[str, Any]:
        return self.events[-1]

    @property
    def faults(self) -> list[str]:
        return [*self.framing.faults, *self._shapes, *self.order.faults]

    def until(self, seen: str | Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Read up to an event of this type, or one of which `seen` is true."""
        for frame in self._frames:
            if frame.type == seen if isinstance(seen, str) else seen(frame.event):
                return frame.event
        raise AssertionError(f"{seen!r} did not come: {outline(self.events)}")

    def until_text(self, text: str) -> None:
        """Read until the client holds an answer that has `text` in it."""
        self.until(lambda _event: any(text in one for one in self.held.texts()))

    def until_comment(self) -> None:
        """Read until a keep-alive comes that was not there yet."""
        before = self.framing.comments
        while self.framing.comments == before:
            assert self._more(), f"no comment: {outline(self.events)}"

    def rest(self) -> Self:
        """Read to the end."""
        for _frame in self._frames:
            pass
        return self

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    def named(self, name: str) -> list[dict[str, Any]]:
        """Return the values of our own events of that name."""
        return [one["value"] for one in self.of("CUSTOM") if one["name"] == name]

    def text(self) -> str:
        return "".join(one["delta"] for one in self.of("TEXT_MESSAGE_CONTENT"))

    @property
    def outcome(self) -> dict[str, Any]:
        """What RUN_FINISHED says; a stream that ended in another way has none."""
        assert self.last["type"] == "RUN_FINISHED", self.last
        return self.last.get("outcome") or {"type": "success"}

    @property
    def interrupts(self) -> list[dict[str, Any]]:
        assert self.outcome["type"] == "interrupt", self.last
        return list(self.outcome["interrupts"])

    def begin_with(self, told: Sequence[Frame]) -> None:
        """Take frames as read before this one was opened."""
        self.framing.frames += told
        for frame in told:
            self._take(frame)

    def _take(self, frame: Frame) -> None:
        self._shapes += shape_faults(frame.event, is_new=self.is_new)
        if not self.faults:  # what is broken cannot be put in order
            self.order.take(frame.event)
        if not self.faults:
            self.held.apply(frame.event)

    def _read(self) -> Iterator[Frame]:
        while self._ready or self._more():
            while self._ready:
                yield self._ready.popleft()

    def _more(self) -> bool:
        """Read the next piece, which may be a comment alone; False at the end."""
        piece = next(self._pieces, None)
        if piece is None:
            self.framing.end()
            self._is_over = True
            return False
        for frame in self.framing.feed(piece):
            self._take(frame)
            self._ready.append(frame)
        return True

    def close(self) -> None:
        """Leave, and judge what came."""
        self._frames.close()  # type: ignore[attr-defined]
        self.response.close()
        if not self.faults:
            self.order.end(is_cut=not self._is_over)
        said = outline(self.events)
        assert not self.faults, "\n".join([*self.faults, f"of: {said}"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None and not self.faults:
            self.response.close()
            return
        self.close()


@dataclass(kw_only=True)
class Front:
    """
    A client of one user and one thread: sends its whole history with each input.

    `version` None is a client older than 1.0. `tools` are its own.
    """

    http: httpx.Client
    thread: str = field(default_factory=new_name)
    version: str | None = "1.0"
    tools: list[dict[str, Any]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    may_wait: tuple[str, ...] = ()
    held: Held = field(default_factory=Held)
    known: Known = field(default_factory=Known)
    run: str = ""

    def input(self, text: str = "", **members: Any) -> dict[str, Any]:
        """Return the next input, with a message of the user if there is `text`."""
        if text:
            self.add_message(text)
        said: dict[str, Any] = {
            "threadId": self.thread,
            "runId": new_name(),
            "messages": [
                one for one in self.held.messages if one["role"] != "activity"
            ],
            "state": {},
            "tools": self.tools,
            "context": [],
            "forwardedProps": {},
        }
        if self.version is not None:
            said["protocolVersion"] = self.version
        return {**said, **members}

    def add_message(self, text: str) -> str:
        """Hold a new message of the user; what waits for the client is given up."""
        own = new_name()
        self.held.messages.append({"id": own, "role": "user", "content": text})
        self.known.messages[own] = "user"
        return own

    def add_result(self, call_id: str, content: str = "", **more: Any) -> None:
        """Hold what a tool of the client has returned."""
        own = new_name()
        told = {"id": own, "role": "tool", "toolCallId": call_id, "content": content}
        self.held.messages.append({**told, **more})
        self.known.messages[own] = "tool"
        self.known.answered.add(call_id)

    def post(self, said: Mapping[str, Any], **more: Any) -> httpx.Response:
        """Send an input and return the whole answer, which is no stream."""
        return self.http.post(ADDRESS, json=said, headers=self._headers(), **more)

    def open(self, text: str = "", **members: Any) -> Reading:
        """Send an input and return its stream. Raise AssertionError if refused."""
        said = self.input(text, **members)
        self.run = said["runId"]
        request = self.http.build_request(
            "POST", ADDRESS, json=said, headers=self._headers(), timeout=READ_S
        )
        return self._reading(request, said["runId"], self.known, self.held)

    def ask(self, text: str = "", **members: Any) -> Reading:
        """Send an input, read its stream to the end, check it, and return it."""
        with self.open(text, **members) as reading:
            return reading.rest()

    def answer(self, *entries: dict[str, Any], **members: Any) -> Reading:
        """Answer interrupts and read on."""
        return self.ask(resume=[*entries], **members)

    def attach(
        self,
        run: str = "",
        *,
        told: Sequence[Frame] = (),
        known: Known | None = None,
        held: Held | None = None,
    ) -> Reading:
        """
        Open the stream of a run again.

        `told` are frames that the client has read already, in order: it goes on behind
        the last id among them. They count as the beginning of what is read. `known`
        and `held` are of streams before that.
        """
        run = run or self.run
        query = {"threadId": self.thread, "runId": run}
        if self.version is None:
            query["protocolVersion"] = ""
        headers = self._headers()
        if after := [frame.event_id for frame in told if frame.event_id]:
            headers["Last-Event-ID"] = after[-1]
        request = self.http.build_request(
            "GET", f"{ADDRESS}stream/", params=query, headers=headers, timeout=READ_S
        )
        reading = self._reading(request, run, known or Known(), held or Held())
        reading.begin_with(told if after else ())
        return reading

    def history(self) -> dict[str, Any]:
        response = self.http.get(
            f"{ADDRESS}history/",
            params={"threadId": self.thread},
            headers=self._headers(),
        )
        assert response.status_code == 200, response.text
        told: dict[str, Any] = response.json()
        return told

    def fresh(self) -> "Front":
        """Return a client of the same thread that holds nothing yet."""
        return Front(
            http=self.http,
            thread=self.thread,
            version=self.version,
            tools=self.tools,
            headers=self.headers,
            may_wait=self.may_wait,
        )

    def _headers(self) -> dict[str, str]:
        return {"Accept": "text/event-stream", **self.headers}

    def _reading(
        self, request: httpx.Request, run: str, known: Known, held: Held
    ) -> Reading:
        response = self.http.send(request, stream=True)
        kind = response.headers.get("content-type", "")
        if response.status_code != 200 or not kind.startswith("text/event-stream"):
            response.read()
            response.close()
            raise Unanswered(response)
        order = Order(
            thread=self.thread,
            run=run,
            known=known,
            mine=[tool["name"] for tool in self.tools],
            may_wait=self.may_wait,
        )
        reading = Reading(response, order, held)
        reading.is_new = self.version is not None
        return reading


class Unanswered(AssertionError):
    """A stream was asked for, and refused."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(f"{response.status_code}: {response.text[:500]}")
        self.response = response


def approve(interrupt: Mapping[str, Any], **payload: Any) -> dict[str, Any]:
    return resolve(interrupt, approved=True, **payload)


def deny(interrupt: Mapping[str, Any], **payload: Any) -> dict[str, Any]:
    return resolve(interrupt, approved=False, **payload)


def resolve(interrupt: Mapping[str, Any], **payload: Any) -> dict[str, Any]:
    """Return the entry of a resume that answers an interrupt."""
    return {
        "interruptId": interrupt["id"],
        "status": "resolved",
        "payload": payload,
    }


def cancel(interrupt: Mapping[str, Any]) -> dict[str, Any]:
    return {"interruptId": interrupt["id"], "status": "cancelled"}
