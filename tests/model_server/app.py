"""The routes, and the server that carries them."""

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.model_server import marker, scripts
from tests.model_server.holds import Holds
from tests.model_server.player import Player
from tests.model_server.record import Record
from tests.model_server.whole import whole

MAX_BYTES = 64 * 1024 * 1024


class ModelApp:
    """
    What the server knows: the scripts that were registered, and the record.

    POST /v1/chat/completions answers as the marker says; any other POST plays the
    marker found anywhere in its body, for recordings of other wire formats.
    POST /script {name, steps} registers, POST /release {name} ends a hold,
    GET and DELETE /log read and clear,
    GET /health answers.
    """

    def __init__(self) -> None:
        self.scripts: dict[str, scripts.Script] = {}
        self.record = Record()
        self.holds = Holds()

    def register(self, name: str, steps: list[Any]) -> None:
        """Register a script; `steps` are replies, or the operations of one."""
        self.scripts[name] = scripts.normalise(steps)

    def application(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BYTES)
        app.router.add_get("/health", self.health)
        app.router.add_get("/v1/models", self.models)
        app.router.add_get("/log", self.log)
        app.router.add_delete("/log", self.forget)
        app.router.add_post("/script", self.script)
        app.router.add_post("/release", self.release)
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_post("/{path:.*}", self.other)
        return app

    async def health(self, _: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def models(self, _: web.Request) -> web.Response:
        one = {"id": "scripted", "object": "model", "owned_by": "tests"}
        return web.json_response({"object": "list", "data": [one]})

    async def log(self, request: web.Request) -> web.Response:
        rows = self.record.rows(requests="requests" in request.query)
        return web.json_response(rows)

    async def forget(self, _: web.Request) -> web.Response:
        self.record.clear()
        return web.json_response({"ok": True})

    async def script(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.register(body["name"], body["steps"])
        return web.json_response({"ok": True})

    async def release(self, request: web.Request) -> web.Response:
        self.holds.release((await request.json())["name"])
        return web.json_response({"ok": True})

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        asked = marker.read(body.get("messages", []))
        if body.get("stream"):
            return await self.answer(request, body, asked)
        return whole(body, asked, self.scripts)

    async def other(self, request: web.Request) -> web.StreamResponse:
        text = await request.text()
        return await self.answer(request, json.loads(text), marker.from_text(text))

    async def answer(
        self, request: web.Request, body: dict[str, Any], asked: marker.Asked
    ) -> web.StreamResponse:
        said = json.dumps(body.get("messages"), sort_keys=True).encode()
        # A tag names the question itself: what surrounds it may differ then.
        fingerprint = "" if asked.tag else hashlib.sha256(said).hexdigest()
        key = (asked.name, asked.tag, asked.step, fingerprint)
        entry = self.record.open(key, body)
        entry.authorization = request.headers.get("Authorization", "")
        return await Player(request, body, entry, self.holds).play(
            scripts.find(asked, self.scripts)
        )


@asynccontextmanager
async def serve(model: ModelApp, host: str, port: int) -> AsyncIterator[int]:
    """Serve until left; yield the port."""
    # handler_cancellation: a client that leaves ends the play at once
    runner = web.AppRunner(
        model.application(),
        handler_cancellation=True,
        access_log=None,
        shutdown_timeout=0.1,
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
