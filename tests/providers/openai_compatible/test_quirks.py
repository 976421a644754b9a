"""
What servers refuse, in their own words, and what they are asked instead.

The refusals of `recordings/refusals.json` were met by users of each server.
"""

import json
from dataclasses import replace

import pytest

from ai_assistant.providers.openai_compatible import provider as module
from ai_assistant.providers.openai_compatible.provider import OpenAICompatibleProvider
from ai_assistant.providers.openai_compatible.servers import quirk_behind
from tests.model_server.player import RECORDINGS
from tests.providers.conftest import failure, whole

REFUSALS = json.loads((RECORDINGS / "refusals.json").read_text())
EACH = pytest.mark.parametrize("refused", REFUSALS, ids=lambda one: one["server"])
FUNCTION = {"name": "echo", "parameters": {"type": "object", "properties": {}}}
TOOLS = [{"type": "function", "function": FUNCTION}]
CALL = {"id": "c1", "type": "function", "function": {"name": "echo", "arguments": "{}"}}
BEFORE = [
    {"role": "user", "content": "Look."},
    {
        "role": "assistant",
        "content": None,
        "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}],
        "tool_calls": [{**CALL, "extra_content": {"google": {"thought": "x"}}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "Seen."},
]


@pytest.fixture(autouse=True)
def nothing_learned(monkeypatch):
    monkeypatch.setattr(module, "_learned", type(module._learned)())


@pytest.fixture
def scripted(server, ask):
    """Return a request that `server` refuses the first time, in given words."""

    def make(*refusals, then=()):
        ops = [
            {"op": "answer", "status": one["status"], "body": one["body"], "nth": nth}
            for nth, one in enumerate(refusals, 1)
        ]
        server.script("strict", [*ops, *then, {"op": "text", "text": "Taken."}])
        tag = str(len(server.log()))
        request = ask(f"[[script:strict#{tag}]]", tools=TOOLS)
        return replace(request, messages=[*BEFORE, *request.messages])

    return make


def asked(server, count):
    return [entry.request for entry in server.log()[-count:]]


@pytest.fixture
def provider(server):
    def make(**options):
        return OpenAICompatibleProvider(
            {"MODEL": "openai/strict", "API_BASE": server.base, "OPTIONS": options}
        )

    return make


class TestRefused:
    @EACH
    async def test_refused_is_asked_again_without_it(
        self, server, provider, scripted, refused
    ):
        own = provider(**refused["options"])

        reply = await whole(own.stream(scripted(refused)))

        first, second = asked(server, 2)
        expected = {k: v for k, v in first.items() if k not in refused["removed"]}
        expected.update(refused.get("added", {}))
        expected["messages"] = second["messages"]
        assert reply.text == "Taken."
        assert second == expected
        _, answered, *_ = second["messages"]
        assert ("reasoning_details" in answered) is not refused.get("plain", False)
        assert answered.get("reasoning_content", "") == " " * refused.get("thoughts", 0)
        called, result = answered["tool_calls"][0]["id"], second["messages"][2]
        assert called == result["tool_call_id"]
        assert (len(called) == 9) is refused.get("short_ids", False)
        if refused.get("plain"):
            assert answered == {
                "role": "assistant",
                "content": None,
                "tool_calls": [CALL],
            }

    @EACH
    @pytest.mark.row("V09")
    async def test_refused_is_remembered(self, server, provider, scripted, refused):
        own = provider(**refused["options"])
        await whole(own.stream(scripted(refused)))
        before = len(server.log())

        await whole(own.stream(scripted()))

        assert len(server.log()) == before + 1
        assert not any(name in server.log()[-1].request for name in refused["removed"])

    async def test_one_after_another(self, server, provider, scripted):
        refusals = [one for one in REFUSALS if one["removed"] == ["stream_options"]][:1]
        refusals += [one for one in REFUSALS if one["removed"] == ["temperature"]]

        reply = await whole(provider(temperature=0).stream(scripted(*refusals)))

        assert reply.text == "Taken."
        assert "temperature" not in server.log()[-1].request

    async def test_refused_of_one_model_is_not_of_another(
        self, server, provider, scripted, ask
    ):
        await whole(provider().stream(scripted(REFUSALS[0])))
        request = replace(ask("[[script:hello]]"), model="openai/other")

        await whole(provider().stream(request))

        assert "stream_options" in server.log()[-1].request

    async def test_again_and_again_is_an_error(self, server, provider, scripted):
        before = len(server.log())

        error, _ = await failure(
            provider().stream(scripted(REFUSALS[0], *[REFUSALS[0]] * 9))
        )

        assert error.code == "bad_request"
        assert len(server.log()) == before + 2


class TestNotAQuirk:
    BODY = {"model": "x", "messages": [], "temperature": 0, "own_field": 1}  # noqa: RUF012

    @pytest.mark.parametrize(
        "said",
        [
            "Unknown parameter: 'x'.",
            "Unknown parameter: 'own_field'.",  # what the site wants, it is told of
            "Unknown parameter: 'model'.",
            "Incorrect API key provided.",
            '"auto" tool choice requires --enable-auto-tool-choice',
            "registry.ollama.ai/library/gemma does not support tools",
        ],
    )
    def test_not_aquirk_is_told(self, said):
        assert quirk_behind(said, self.BODY) is None


class TestThoughts:
    async def test_thoughts_are_kept_once_they_are_wanted(
        self, server, provider, scripted
    ):
        (wants,) = (one for one in REFUSALS if one["server"] == "DeepSeek")
        thinks = [{"op": "reasoning", "text": "First things first."}]
        first = await whole(provider().stream(scripted(wants, then=thinks)))
        second = await whole(provider().stream(scripted(then=thinks)))

        assert first.provider_fields == {}
        assert second.provider_fields == {"reasoning_content": "First things first."}
