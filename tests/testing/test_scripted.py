import re

import pytest

from ai_assistant.exceptions import ModelError
from ai_assistant.testing import ScriptedProvider, call, reasoning, reply
from ai_assistant.types import (
    ModelRequest,
    ReasoningDelta,
    ReplyEnd,
    TextDelta,
    ToolCallDelta,
    Usage,
)

REQUEST = ModelRequest(model="m", messages=[{"role": "user", "content": "Hello"}])


async def played(provider):
    return [chunk async for chunk in provider.stream(REQUEST)]


class TestScriptedProvider:
    async def test_scripted_text_is_one_delta_and_an_end(self):
        assert await played(ScriptedProvider(["Good day."])) == [
            TextDelta(text="Good day."),
            ReplyEnd(finish_reason="stop"),
        ]

    async def test_parts(self):
        parts = [reasoning("Hm."), 0.0, "Let me look.", call("look", {"a": 1})]

        assert await played(ScriptedProvider([parts])) == [
            ReasoningDelta(text="Hm."),
            TextDelta(text="Let me look."),
            ToolCallDelta(index=0, name="look", arguments='{"a": 1}'),
            ReplyEnd(finish_reason="tool_calls"),
        ]

    async def test_error_after_text(self):
        stream = ScriptedProvider([["Half", ModelError("cut")]]).stream(REQUEST)

        assert await anext(stream) == TextDelta(text="Half")
        with pytest.raises(ModelError, match="cut"):
            await anext(stream)

    async def test_one_reply_after_the_other(self):
        provider = ScriptedProvider(["one"])
        provider.add("two")

        assert [(await played(provider))[0].text for _ in range(2)] == ["one", "two"]
        assert provider.requests == [REQUEST, REQUEST]

    async def test_profile_plays_on(self):
        script = ScriptedProvider(["one", "two"])
        profile = {"MODEL": "scripted", "SCRIPT": script}

        said = [(await played(ScriptedProvider(profile)))[0].text for _ in range(2)]

        assert said == ["one", "two"]
        assert len(script.requests) == 2

    async def test_end_of_the_script(self):
        message = "The script has 0 replies, and this is call 1."

        with pytest.raises(AssertionError, match=re.escape(message)):
            await played(ScriptedProvider([]))


class TestReply:
    async def test_words_and_calls(self):
        usage = Usage(input_tokens=1)
        one = reply("Let me look.", call("a"), call("b", "{no json"), usage=usage)

        assert one == [
            "Let ",
            "me ",
            "look.",
            ToolCallDelta(index=0, provider_id="call_0", name="a", arguments="{}"),
            ToolCallDelta(
                index=1, provider_id="call_1", name="b", arguments="{no json"
            ),
            ReplyEnd(finish_reason="tool_calls", usage=usage),
        ]
