"""
Tell which modules a message, a piece of text and a tool call pass, as JSON.

Run as a program: a profiler sees only threads that begin after it. Each way is gone
twice, and the second time is told: caches are filled then.
"""

import asyncio
import inspect
import json
import os
import sys
import threading
import uuid
from collections import defaultdict
from collections.abc import Awaitable
from types import FrameType
from unittest.mock import patch

CONFIGURED = "tests.settings"
OPTIMIZED = inspect.CO_OPTIMIZED  # read by the profiler to the very end
LEFT_OUT = ("models", "migrations", "conf", "types", "exceptions")  # tables and values
# Passed when a thread opens its first connection, whichever way it is on.
OF_CONNECTIONS = ("_note_connection", "begin_immediate", "keep_few_pages")


class Tracer:
    """Notes the modules of which a function runs while `way` has a name."""

    def __init__(self) -> None:
        self.way = ""
        self.seen: defaultdict[str, set[str]] = defaultdict(set)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if not self.way or event != "call" or code.co_filename.startswith("<"):
            return
        if code.co_name in OF_CONNECTIONS:
            return
        if code.co_flags & OPTIMIZED:  # no module and no class body
            self.seen[self.way].add(frame.f_globals.get("__name__", ""))

    def ways(self) -> dict[str, list[str]]:
        """Return the modules of each way, below `ai_assistant`."""
        return {
            way: sorted(
                name.removeprefix("ai_assistant.")
                for name in names
                if name.startswith("ai_assistant.")
                and name.split(".")[1] not in LEFT_OUT
            )
            for way, names in self.seen.items()
        }


tracer = Tracer()
threading.setprofile(tracer)
sys.setprofile(tracer)

os.environ["DJANGO_SETTINGS_MODULE"] = CONFIGURED
import django  # noqa: E402

django.setup()

from asgiref.testing import ApplicationCommunicator  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.db import connection  # noqa: E402
from django.test.utils import override_settings, setup_test_environment  # noqa: E402

import ai_assistant  # noqa: E402
from ai_assistant import conf  # noqa: E402
from ai_assistant.engine.execution import launch  # noqa: E402
from ai_assistant.engine.execution.executor import executor  # noqa: E402
from ai_assistant.engine.storage.lease import Hold  # noqa: E402
from ai_assistant.engine.storage.units import in_db  # noqa: E402
from ai_assistant.models import Run  # noqa: E402
from ai_assistant.text.redaction.redact import redact  # noqa: E402
from project.asgi import application  # noqa: E402
from tests.model_server.scripts import call, text  # noqa: E402
from tests.model_server.thread import ModelServer  # noqa: E402
from tests.web.sockets import Socket  # noqa: E402
from tests.web.test_routing import cookies_of, part, scope  # noqa: E402

TOKEN = b"a" * 32
SCRIPT = [
    [
        text("one two "),
        {"op": "hold", "name": "text"},
        text("three four."),
        {"op": "hold", "name": "call"},
        {"op": "tool_calls", "calls": [call("look"), call("linger")]},
    ],
    [{"op": "hold", "name": "end"}, text("It is over.")],
]
UNHURRIED = {"POLL_S": 60.0, "LEASE_S": 3000.0}  # nothing in between
done = threading.Event()  # the last call of the step may end


@ai_assistant.tool(effect="read")
def look() -> str:
    """Look."""
    return "seen"


@ai_assistant.tool(effect="read")
def linger() -> str:
    """Keep the step open, so that the model is not asked again yet."""
    done.wait(30)
    return "over"


class Browser:
    """One tab of a user, and the model that answers it."""

    def __init__(self, cookies: bytes, model: ModelServer) -> None:
        self.cookies, self.model = cookies, model
        self.conversation = str(uuid.uuid4())
        self.socket = Socket(cookies)

    async def post(self) -> None:
        """Send a message as the panel's form does."""
        body = (
            f"text=[[script:ways]]&key={uuid.uuid4()}&conversation={self.conversation}"
            "&path=/admin/&next=/admin/"
        ).encode()
        headers = [
            (b"cookie", self.cookies + b"; csrftoken=" + TOKEN),
            (b"x-csrftoken", TOKEN),
            (b"hx-request", b"true"),
        ]
        sent = scope("/assistant/send/", body, headers=headers)
        page = ApplicationCommunicator(application, sent)
        await page.send_input(part(body))
        started = await page.receive_output(10)
        assert started["status"] == 204, started
        await page.wait(10)

    async def frame_with(self, words: str) -> None:
        """Wait for a frame that has these words."""
        while words not in json.dumps(await self.socket.frame()):
            pass

    async def go(self) -> None:
        """Go all three ways, and wait for the end of the run."""
        done.clear()
        holds: list[Hold] = []
        with (
            configured(EXECUTOR="web"),
            patch.object(
                executor(), "launch", lambda hold, _loaded: holds.append(hold)
            ),
            patch.object(launch, "RING_AFTER_S", 60.0),  # when the way is gone
        ):
            redact("")  # a process reads its secrets once, and now they are others
            await noted("message", self.post())
        run = await in_db(Run.objects.latest, "created_at")
        assert await self.socket.open()
        await self.socket.hello(run)
        executor().launch(*holds)
        await self.frame_with("one two")
        await noted("text", self.released("text", "three four"))
        await noted("call", self.released("call", 'data-status=\\"complete\\"'))
        done.set()
        self.model.model.holds.release("end")
        await self.frame_with("It is over.")
        await self.socket.disconnect()
        while not await in_db(Run.objects.filter(state="succeeded", pk=run.pk).exists):
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.3)  # what looks for the next message has looked

    async def released(self, hold: str, words: str) -> None:
        """Let the model go on, and wait for what the page gets of it."""
        loop = self.model._loop
        loop.call_soon_threadsafe(self.model.model.holds.release, hold)
        await self.frame_with(words)


async def noted(way: str, work: Awaitable[None]) -> None:
    """Wait for `work`, and note what it passes."""
    tracer.seen[way].clear()
    tracer.way = way
    await work
    tracer.way = ""


def configured(**changes: object) -> override_settings:
    """Set options of AI_ASSISTANT."""
    return override_settings(AI_ASSISTANT={**settings.AI_ASSISTANT, **changes})


async def go(model: ModelServer) -> None:
    """Go the ways twice."""
    user = await in_db(get_user_model().objects.create_superuser, "ada")
    for _ in range(2):
        await Browser(await in_db(cookies_of, user), model).go()


def main() -> None:
    """Print the ways."""
    conf.FLUSH_S = 60.0
    setup_test_environment()
    connection.creation.create_test_db(verbosity=0, serialize=False)
    with ModelServer() as model:
        model.script("ways", SCRIPT)
        profile = {
            "MODEL": "openai/scripted",
            "API_BASE": model.base,
            "API_KEY": "none",
        }
        # Only POSTs are those of a web process: what the layer brings would wake the
        # executor of one, beside the way.
        with configured(PROFILES={"default": profile}, EXECUTOR="worker", **UNHURRIED):
            asyncio.run(go(model))
    sys.stdout.write(json.dumps(tracer.ways()))
    sys.stdout.flush()
    connection.creation.destroy_test_db("", verbosity=0)


if __name__ == "__main__":
    main()
