"""A client as fast as a client can be: signed in, with an open socket."""

import asyncio
import json
import re
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import aiohttp
import websockets

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
TEXT = re.compile(r"<[^>]+>")
TIMEOUT_S = 60.0
QUIET_S = 0.3  # without a frame: all is there
ENDED = ("idle", "error", "limited", "stopped")


@dataclass(slots=True)
class Answer:
    """Seconds from sending to the first text and to the end; `text` is the last."""

    first_s: float = 0.0
    total_s: float = 0.0
    posted_s: float = 0.0
    state: str = ""
    blocks: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> int:
        return sum(len(TEXT.sub(" ", html).split()) for html in self.blocks.values())


class Chat:
    """One signed-in person with one tab. Enter it, then `ask`."""

    def __init__(self, url: str, user: str = "admin") -> None:
        self.url = url
        self.user = user
        self.conversation = str(uuid.uuid4())
        self.http: aiohttp.ClientSession
        self.socket: Any = None
        self.last_run = ""

    async def __aenter__(self) -> Self:
        self.http = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        await self._sign_in()
        self.socket = await self.connect()
        await self._hello()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.socket.close()
        await self.http.close()

    async def connect(self) -> Any:
        """Open a socket, as a tab does."""
        cookies = self.http.cookie_jar.filter_cookies(self.url)  # type: ignore[arg-type]
        said = "; ".join(f"{name}={item.value}" for name, item in cookies.items())
        return await websockets.connect(
            f"{self.url.replace('http', 'ws')}/assistant/ws/",
            origin=self.url,  # type: ignore[arg-type]
            additional_headers={"Cookie": said},
            max_size=None,
        )

    async def _sign_in(self) -> None:
        address = f"{self.url}/admin/login/"
        async with self.http.get(address) as page:
            token = TOKEN.search(await page.text())
        assert token is not None
        form = {
            "username": self.user,
            "password": self.user,
            "csrfmiddlewaretoken": token[1],
            "next": "/admin/",
        }
        async with self.http.post(address, data=form) as answer:
            assert answer.status == 200, answer.status
        cookies = self.http.cookie_jar.filter_cookies(self.url)  # type: ignore[arg-type]
        self.token = cookies["csrftoken"].value

    async def _hello(self) -> None:
        hello = {"type": "hello", "conversation": self.conversation, "after": 0}
        await self.socket.send(json.dumps(hello))

    async def open_conversation(self, named: str) -> None:
        """Attach to a conversation that has messages, and read what it brings."""
        self.conversation = named
        await self._hello()
        with suppress(TimeoutError):
            while True:
                said = await asyncio.wait_for(self.socket.recv(), QUIET_S)
                self.last_run = json.loads(said)["r"]

    async def new_conversation(self) -> None:
        self.conversation = str(uuid.uuid4())
        await self._hello()
        await asyncio.sleep(0.05)

    async def ask(self, text: str) -> Answer:
        """Send `text` and read frames until the run has ended."""
        answer = Answer()
        begin = time.perf_counter()
        reading = asyncio.create_task(self._read(answer, begin))
        form = {
            "conversation": self.conversation,
            "key": str(uuid.uuid4()),
            "text": text,
            "path": "/admin/",
        }
        headers = {"X-CSRFToken": self.token, "HX-Request": "true"}
        address = f"{self.url}/assistant/send/"
        async with self.http.post(address, data=form, headers=headers) as response:
            assert response.status == 204, (response.status, await response.text())
        answer.posted_s = time.perf_counter() - begin
        await asyncio.wait_for(reading, TIMEOUT_S)
        return answer

    async def _read(self, answer: Answer, begin: float) -> None:
        while True:
            frame = json.loads(await self.socket.recv())
            now = time.perf_counter() - begin
            grown = {key: html for key, html in frame.get("grow", ()) if "-b" in key}
            answer.blocks |= grown
            if grown or "aia-body" in frame.get("html", ""):
                answer.first_s = answer.first_s or now
            answer.state = frame.get("state", answer.state)
            if frame["r"] != self.last_run and answer.state in ENDED:
                self.last_run = frame["r"]
                answer.total_s = now
                return
