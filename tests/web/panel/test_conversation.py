"""From the form to the page: a browser without a screen, and the whole server."""

import asyncio
from uuid import uuid4

import pytest
from django.test import AsyncClient
from django.urls import reverse

from ai_assistant.engine.execution import executor as executors
from ai_assistant.engine.storage.units import in_db
from ai_assistant.exceptions import ModelError
from ai_assistant.models import Conversation, Run
from ai_assistant.models.run import FINAL
from ai_assistant.testing import ScriptedProvider, call, reasoning, reply
from tests.render.html.dom import Page
from tests.render.html.tab import whole_page
from tests.web.sockets import Socket

SCRIPT = {"HX-Request": "true"}
TEXT = "# Found\n\n- one **bold**\n- two <i>x</i>\n\n```py\nx = 1\n```\n\nThe end."


@pytest.fixture(params=["channels.layers.InMemoryChannelLayer", "deaf"])
def layer(request, settings):
    deaf = "tests.servers.deaf_layer.DeafLayer"
    backend = deaf if request.param == "deaf" else request.param
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": backend}}


@pytest.fixture
def model(settings):
    """The model of this test; `model.add(...)` says what it answers."""
    script = ScriptedProvider()
    profile = {
        "PROVIDER": "ai_assistant.testing.ScriptedProvider",
        "MODEL": "scripted",
        "SCRIPT": script,
    }
    settings.AI_ASSISTANT = {
        **settings.AI_ASSISTANT,
        "POLL_S": 0.05,
        "PROFILES": {"default": profile},
    }
    return script


class Visitor:
    """One browser: its cookies, its page, and a socket or the habit of polling."""

    def __init__(self, client, conversation) -> None:
        self.client = client
        self.conversation = conversation
        self.page = Page()
        self.run, self.seq = "", 0
        self.socket: Socket | None = None

    async def post(self, name: str, **fields) -> int:
        fields.setdefault("conversation", str(self.conversation))
        address = reverse(f"ai_assistant:{name}")
        response = await self.client.post(address, fields, headers=SCRIPT)
        return response.status_code

    async def connect(self) -> None:
        session = self.client.cookies["sessionid"].value
        self.socket = Socket(f"sessionid={session}".encode())
        assert await self.socket.open()
        said = {"type": "hello", "conversation": str(self.conversation)}
        await self.socket.send_json_to({**said, "run": self.run, "after": self.seq})

    async def take(self) -> None:
        """Apply what comes next."""
        if self.socket is not None:
            frames = [await self.socket.frame()]
        else:
            await asyncio.sleep(0.02)
            response = await self.client.get(
                reverse("ai_assistant:frames"),
                {
                    "conversation": str(self.conversation),
                    "run": self.run,
                    "after": self.seq,
                },
                headers=SCRIPT,
            )
            frames = response.json()["frames"]
        for frame in frames:
            self.page.draw(frame)
            self.run, self.seq = frame["r"] or self.run, frame["s"]

    @property
    def state(self) -> str:
        return self.page.by_id("aia").attrs.get("data-state", "")

    async def until(self, *states: str) -> None:
        while self.state not in states:
            await self.take()

    async def leave(self) -> None:
        if self.socket is not None:
            await self.socket.disconnect()
            self.socket = None


@pytest.fixture
async def server(people, monkeypatch):
    """An executor of this test's own event loop; its runs end with the test."""
    monkeypatch.setattr(executors, "_executors", {})
    yield
    for task in executors.executor()._tasks.values():
        task.cancel()


@pytest.fixture
async def visitors(people, layer, model, server):
    client, conversation, made = AsyncClient(), uuid4(), []
    await client.aforce_login(people["ada"])

    def make() -> Visitor:
        made.append(Visitor(client, conversation))
        return made[-1]

    yield make
    for visitor in made:
        await visitor.leave()


async def shown_by_a_page_load(visitor: Visitor) -> object:
    def draw():
        conversation = Conversation.objects.get(pk=visitor.conversation)
        return whole_page(conversation)[0].shown()

    return await in_db(draw)


def without_ways_back(shown: object) -> str:
    """Drop the one thing in which fragments differ: the page that they lead back to."""
    return str(shown).replace("'/admin/'", "''").replace("/assistant/'", "'")


async def assert_same(*visitors: Visitor) -> None:
    expected = without_ways_back(await shown_by_a_page_load(visitors[0]))
    for visitor in visitors:
        assert without_ways_back(visitor.page.shown()) == expected


class TestAnswer:
    @pytest.mark.row("N11")
    @pytest.mark.row("D05")
    async def test_answer_is_the_same_in_each_tab_however_it_got_there(
        self, visitors, model
    ):
        model.add(
            [
                reasoning("Let me "),
                reasoning("look."),
                *reply("I look. "),
                1.5,
                *reply("", call("boom")),
            ],
            [*reply("", call("echo", {"text": "<b>x</b>"}))],
            [word for piece in TEXT.split(" ") for word in (f"{piece} ", 0.004)],
        )
        first, second, polling = visitors(), visitors(), visitors()
        await first.connect()
        assert await first.post("send", text="Look <it> up", key="k1") == 204
        await first.until("streaming")
        await second.connect()
        for visitor in (first, second, polling):
            await visitor.until("idle")

        await assert_same(first, second, polling)
        assert "The end." in first.page.by_id("aia-log").text()
        assert "k1" in first.page.accepted

    async def test_answer_waits_for_approval_across_a_reload(self, visitors, model):
        model.add(reply("", call("needs_approval", {"text": "Go"})), "Done.")
        first = visitors()
        await first.connect()
        await first.post("send", text="Do it", key="k1")
        await first.until("waiting-approval")
        await first.leave()
        second = visitors()
        await second.connect()
        await second.until("waiting-approval")
        form = second.page.by_id("aia-pinned")
        fields = {
            node.attrs["name"]: node.attrs["value"]
            for node in form.elements()
            if node.attrs.get("type") == "hidden"
        }

        assert await second.post("answer", **fields, decision="approve") == 204

        await second.until("idle")
        await assert_same(second)
        assert second.page.by_id("aia-pinned").children == []
        assert "Approved: Go" in second.page.by_id("aia-log").text()

    async def test_cut_short_keeps_what_was_said(self, visitors, model):
        model.add(["Half an ", "answer", 0.05, ModelError("cut", "no end")])
        visitor = visitors()
        await visitor.connect()
        await visitor.post("send", text="Go", key="k1")

        await visitor.until("error")

        await assert_same(visitor)
        text = visitor.page.by_id("aia-log").text()
        assert "Half an answer" in text
        assert "Retry" in text

    async def test_answer_stops_on_request(self, visitors, model):
        model.add(["Some ", "text ", 30.0])
        visitor = visitors()
        await visitor.connect()
        await visitor.post("send", text="Go", key="k1")
        await visitor.until("streaming")

        assert await visitor.post("stop", run=visitor.run) == 204

        await visitor.until("stopped")
        await assert_same(visitor)
        assert "Some text" in visitor.page.by_id("aia-log").text()

    @pytest.mark.row("X10")
    async def test_answer_says_nothing_of_the_provider(self, visitors, model, settings):
        profile = settings.AI_ASSISTANT["PROFILES"]["default"]
        profile |= {"API_KEY": "sk-secret", "API_BASE": "https://model.example"}
        model.add("Hello")
        visitor = visitors()
        await visitor.connect()
        await visitor.post("send", text="Go", key="k1")
        await visitor.until("idle")

        page = await visitor.client.get("/admin/", headers={"Cookie": "aia_ui=o=1"})
        for html in (str(visitor.page.shown()), page.content.decode()):
            assert "sk-secret" not in html
            assert "model.example" not in html

    async def test_answer_of_a_signed_out_person_ends_and_is_kept(
        self, visitors, model
    ):
        model.add(["Some ", "text ", 30.0])
        visitor = visitors()
        await visitor.connect()
        await visitor.post("send", text="Go", key="k1")
        await visitor.until("streaming")

        await visitor.client.post("/admin/logout/")

        await visitor.until("stopped")
        assert (await in_db(Run.objects.get)).state in FINAL
        assert await visitor.post("send", text="More", key="k2") == 401
