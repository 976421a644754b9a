"""The panel's socket, opened as a browser does, against the whole application."""

import asyncio
import json
from typing import Any

from channels.testing import WebsocketCommunicator

from project.asgi import application

ADDRESS = "/assistant/ws/"
TIMEOUT_S = 30


class Socket(WebsocketCommunicator):
    """`cookies` sign it in; `origin` is the page that opens it."""

    def __init__(
        self,
        cookies: bytes = b"",
        *,
        origin: str | None = "http://testserver",
        host: str = "testserver",
        path: str = ADDRESS,
    ) -> None:
        headers = [(b"host", host.encode())]
        if origin is not None:
            headers.append((b"origin", origin.encode()))
        if cookies:
            headers.append((b"cookie", cookies))
        super().__init__(application, path, headers)

    async def open(self) -> bool:
        """Connect; True if the server takes the call."""
        return (await self.connect(TIMEOUT_S))[0]

    async def disconnect(self, code: int = 1000, timeout: float = TIMEOUT_S) -> None:  # noqa: ASYNC109 - of channels
        """End the call; channels itself waits for one second."""
        await super().disconnect(code, timeout)

    async def hello(
        self, run, *, after: int = 0, drawn: bool = False, **more: Any
    ) -> None:
        """Say which conversation the page shows; `drawn` if also the run."""
        said = {"type": "hello", "conversation": str(run.conversation_id)}
        said |= {"run": str(run.pk) if drawn else "", "after": after, **more}
        await self.send_json_to(said)

    async def frame(self) -> dict[str, Any]:
        """Return the next frame. Fail if the socket closes instead."""
        message = await self.receive_output(TIMEOUT_S)
        assert message["type"] == "websocket.send", message
        return json.loads(message["text"])

    async def code(self) -> int:
        """Return the code with which the server closes; frames before it pass."""
        while True:
            message = await self.receive_output(TIMEOUT_S)
            if message["type"] == "websocket.close":
                return message["code"]

    async def is_silent(self) -> bool:
        """Tell whether nothing more has been sent by now."""
        for _ in range(20):
            await asyncio.sleep(0)
        return self.output_queue.empty()
