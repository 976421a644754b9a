"""The model server over HTTP, asked by a plain client."""

import json

import aiohttp
import pytest

from tests.model_server import ModelServer, ModelServerProcess, marker
from tests.model_server.chunks import tokens


@pytest.fixture(scope="module")
def server():
    with ModelServer() as running:
        yield running


def user(said):
    return {"role": "user", "content": said}


ASSISTANT = {"role": "assistant", "content": None, "tool_calls": []}
TOOL = {"role": "tool", "tool_call_id": "call_0", "content": "{}"}


async def chunks(server, *messages):
    """Return the data of each event of one streamed answer."""
    body = {"model": "m", "messages": list(messages), "stream": True}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{server.base}/chat/completions", json=body) as answer,
    ):
        raw = (await answer.read()).decode()
    return [line.removeprefix("data: ") for line in raw.split("\n\n") if line]


async def text(server, *messages):
    deltas = [
        json.loads(data)["choices"][0]["delta"]
        for data in await chunks(server, *messages)
        if data != "[DONE]"
    ]
    return "".join(delta.get("content", "") for delta in deltas)


class TestChat:
    async def test_chat_ends_as_it_should(self, server):
        data = await chunks(server, user("[[script:hello]]"))

        assert json.loads(data[-2])["choices"][0]["finish_reason"] == "stop"
        assert data[-1] == "[DONE]"

    async def test_chat_without_a_marker(self, server):
        assert await text(server, user("Good day")) == "You said: Good day"

    async def test_registered_script(self, server):
        server.script("mine", [{"op": "text", "text": "Mine, {tag}."}])

        assert await text(server, user("[[script:mine#a]]")) == "Mine, a."

    async def test_steps_are_counted_in_the_request(self, server):
        said = user("[[script:echo]]")
        after = [said, ASSISTANT, TOOL]

        assert await text(server, *after) == "Done."
        assert await text(server, said) == ""
        assert await text(server, *after, user("[[script:hello]]"))

    async def test_story_is_told_differently(self, server):
        said = user("[[script:story#once delay=0 rate=0 tokens=5]]")

        first, second = await text(server, said), await text(server, said)

        assert all(word.endswith("1") for word in first.split())
        assert all(word.endswith("2") for word in second.split())

    async def test_unknown_script(self, server):
        data = await chunks(server, user("[[script:no-such]]"))

        assert json.loads(data[0])["error"]["message"] == (
            "There is no script 'no-such'."
        )

    async def test_whole_answer(self, server):
        body = {"model": "m", "messages": [user("[[script:hello]]")]}
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{server.base}/chat/completions", json=body) as answer,
        ):
            message = (await answer.json())["choices"][0]["message"]

        assert message["content"] == "Hello there, how can this help you?"


class TestMarker:
    def test_parts(self):
        asked = marker.read([user("Go [[script:stream#t1 rate=5 tokens=9]] on")])

        assert (asked.name, asked.tag, asked.step) == ("stream", "t1", 0)
        assert asked.params == {"rate": "5", "tokens": "9"}

    def test_content_in_parts(self):
        content = [{"type": "text", "text": "[[script:hello]]"}]

        assert marker.read([user(content)]).name == "hello"


class TestTokens:
    @pytest.mark.parametrize("size", [0, 1, 4])
    def test_nothing_is_lost(self, size):
        said = "  One\n\ntwo  three\t\n"

        assert "".join(tokens(said, size)) == said


class TestModelServerProcess:
    @pytest.mark.servers
    async def test_model_server_process_is_controlled_over_http(self):
        with ModelServerProcess() as server:
            server.script("mine", [{"op": "text", "text": "Mine."}])
            said = await text(server, user("[[script:mine]]"))
            log = server.log()

        assert said == "Mine."
        assert [(e["script"], e["outcome"]) for e in log] == [("mine", "done")]
        assert log[0]["first_byte"] <= log[0]["ended"]
