"""
Plays one reply: a list of operations, each `{"op": NAME, ...}`.

delay {seconds}; open {}: send the headers; text, reasoning {text, rate, size}:
tokens (of `size` characters, else words) at `rate` a second, 0 for at once; story
{tokens, rate, first}: a text of this telling, the first at its own rate; tool_call {name, arguments, id, index,
pieces, fields}; tool_calls {calls, interleave, pieces}; delta {delta}; usage
{prompt, completion, cached, reasoning}; finish {reason}; cut {how}: end without
finish reason, "clean" or "abort"; drop {}: close before any byte; hang {seconds};
hold {name}: wait until the test releases it; status {status, message, code,
retry_after}; answer {status, body, headers, nth}: JSON as it is; page {type, body};
raw {data} or {base64} or {file}; bad_utf8 {}; empty_choices {}.

Any operation may have `times`: it is then left out from the telling after that on.
A reply that ends without finish or cut gets the finish reason that fits it. In
texts `{telling}` and `{tag}` are replaced.
"""

import asyncio
import base64
import json
import time
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.model_server import chunks, scripts
from tests.model_server.holds import Holds
from tests.model_server.record import Entry

RECORDINGS = Path(__file__).parent.parent / "providers" / "recordings"
FOREVER_S = 3600.0


class End(Exception):
    """The reply is over; nothing more is sent. `outcome` goes into the record."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class Player:
    """Plays one reply to one request."""

    def __init__(
        self,
        request: web.Request,
        body: dict[str, Any],
        entry: Entry,
        holds: Holds | None = None,
    ) -> None:
        self.request = request
        self.body = body
        self.entry = entry
        self.holds = holds or Holds()
        self.wire = chunks.Wire(str(body.get("model", "")), f"chatcmpl-{entry.number}")
        self.response: web.StreamResponse = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
        )
        self.finished = False
        self.called = False
        self.counted: dict[str, Any] | None = None

    async def play(self, reply: scripts.Reply) -> web.StreamResponse:
        """Play `reply` to its end, however it ends, and note that."""
        outcome = "closed"
        try:
            for op in reply:
                if self.entry.telling <= op.get("times", self.entry.telling):
                    await getattr(self, f"op_{op['op']}")(op)
            await self._close()
            outcome = "done"
        except End as end:
            outcome = end.outcome
        except (ConnectionError, asyncio.CancelledError):
            raise
        finally:
            self.entry.outcome = outcome
            self.entry.ended = time.time()
        return self.response

    async def _close(self) -> None:
        if not self.finished:
            reason = "tool_calls" if self.called else "stop"
            await self.op_finish({"reason": reason})
        options = self.body.get("stream_options") or {}
        if self.counted is not None or options.get("include_usage"):
            await self._send(self.wire.usage(self.counted or {}))
        await self._send(b"data: [DONE]\n\n")
        await self.response.write_eof()

    async def _send(self, data: bytes) -> None:
        if not self.response.prepared:
            await self.op_open({})
        if self.entry.first_byte is None:
            self.entry.first_byte = time.time()
        self.entry.chunks += 1
        await self.response.write(data)

    async def op_open(self, _: scripts.Op) -> None:
        await self.response.prepare(self.request)

    async def op_delay(self, op: scripts.Op) -> None:
        await asyncio.sleep(op["seconds"])

    async def op_hang(self, op: scripts.Op) -> None:
        await asyncio.sleep(op.get("seconds", FOREVER_S))

    async def op_hold(self, op: scripts.Op) -> None:
        await self.holds.wait(op["name"])

    async def op_text(self, op: scripts.Op) -> None:
        await self._tokens("content", op)

    async def op_reasoning(self, op: scripts.Op) -> None:
        await self._tokens("reasoning_content", op)

    async def op_story(self, op: scripts.Op) -> None:
        telling = self.entry.telling
        seed = f"{self.entry.tag}/{telling}"
        words = scripts.sentence(seed, op["tokens"], str(telling))
        rate = (telling == 1 and op.get("first")) or op.get("rate", 0)
        await self._tokens("content", {**op, "text": words, "rate": rate})

    async def _tokens(self, name: str, op: scripts.Op) -> None:
        text = op["text"].replace("{telling}", str(self.entry.telling))
        text = text.replace("{tag}", self.entry.tag)
        rate = op.get("rate", 0)
        begin = time.monotonic()
        for n, token in enumerate(chunks.tokens(text, op.get("size", 0))):
            # against the clock of the whole text, so that lags do not add up
            wait = begin + n / rate - time.monotonic() if rate else 0
            if wait > 0:
                await asyncio.sleep(wait)
            await self._send(self.wire.delta({name: token}))

    async def op_tool_call(self, op: scripts.Op) -> None:
        await self.op_tool_calls({"calls": [op]})

    async def op_tool_calls(self, op: scripts.Op) -> None:
        self.called = True
        for data in self.wire.calls(op):
            await self._send(data)

    async def op_delta(self, op: scripts.Op) -> None:
        await self._send(self.wire.delta(op["delta"]))

    async def op_empty_choices(self, _: scripts.Op) -> None:
        await self._send(self.wire.empty())

    async def op_usage(self, op: scripts.Op) -> None:
        self.counted = {key: value for key, value in op.items() if key != "op"}

    async def op_finish(self, op: scripts.Op) -> None:
        self.finished = True
        await self._send(self.wire.delta({}, op["reason"]))

    async def op_bad_utf8(self, _: scripts.Op) -> None:
        data = self.wire.delta({"content": "@@"})
        await self._send(data.replace(b"@@", b"\xff\xfe\xc3("))

    async def op_raw(self, op: scripts.Op) -> None:
        if "file" in op:
            data = (RECORDINGS / op["file"]).read_bytes()
        elif "base64" in op:
            data = base64.b64decode(op["base64"])
        else:
            data = op["data"].encode()
        await self._send(data)
        if op.get("end"):
            await self.response.write_eof()
            raise End("done")

    async def op_cut(self, op: scripts.Op) -> None:
        if not self.response.prepared:
            await self.op_open({})
        if op.get("how") == "abort":
            await asyncio.sleep(0.05)  # let what was written leave first
            self._transport().abort()
        else:
            await self.response.write_eof()
        raise End("cut")

    async def op_drop(self, _: scripts.Op) -> None:
        self._transport().abort()
        raise End("cut")

    def _transport(self) -> asyncio.WriteTransport:
        transport = self.request.transport
        if not isinstance(transport, asyncio.WriteTransport):
            raise ConnectionResetError
        return transport

    async def op_status(self, op: scripts.Op) -> None:
        error = {
            "message": op.get("message", ""),
            "type": op.get("type", "error"),
            "param": None,
            "code": op.get("code"),
        }
        headers = {}
        if "retry_after" in op:
            headers["Retry-After"] = str(op["retry_after"])
        self.response = web.Response(
            status=op["status"],
            text=json.dumps({"error": error}),
            content_type="application/json",
            headers=headers,
        )
        raise End("failed")

    async def op_answer(self, op: scripts.Op) -> None:
        """Answer with a body of a server's own, the `nth` time that this is asked."""
        if self.entry.telling != op.get("nth", self.entry.telling):
            return
        self.response = web.json_response(
            op["body"], status=op["status"], headers=op.get("headers")
        )
        raise End("failed")

    async def op_page(self, op: scripts.Op) -> None:
        self.response = web.Response(text=op["body"], content_type=op["type"])
        raise End("done")
