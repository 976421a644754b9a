"""One reply: its chunks become events, and the whole reply comes last."""

import pytest

from ai_assistant.engine.loop import CallDraft
from ai_assistant.engine.loop.loop import stream_reply
from ai_assistant.events import (
    ReasoningContent,
    ReasoningEnd,
    ReasoningStart,
    TextContent,
    TextEnd,
    TextStart,
)
from ai_assistant.exceptions import ModelError
from ai_assistant.testing import ScriptedProvider, call, reasoning, reply
from ai_assistant.types import (
    ModelReply,
    ReplyEnd,
    RequestedCall,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from tests.loop.conftest import ModelInMemory


async def streamed(*parts):
    """Return the events of one reply, and the reply."""
    model = ModelInMemory(ScriptedProvider([list(parts)]))
    items = [item async for item in stream_reply(model, 0)]
    *events, whole = [item for item in items if not isinstance(item, CallDraft)]
    assert isinstance(whole, ModelReply)
    return events, whole


class TestText:
    async def test_pieces_carry_their_offset(self):
        events, whole = await streamed("Hel", "lo ", "you")

        own = whole.message_id
        assert events == [
            TextStart(message_id=own),
            TextContent(message_id=own, offset=0, delta="Hel"),
            TextContent(message_id=own, offset=3, delta="lo "),
            TextContent(message_id=own, offset=6, delta="you"),
            TextEnd(message_id=own),
        ]
        assert whole.text == "Hello you"

    async def test_empty_pieces_are_left_out(self):
        events, _ = await streamed("", "a", "")

        assert [type(event) for event in events] == [TextStart, TextContent, TextEnd]

    async def test_each_reply_is_a_message_of_its_own(self):
        _, first = await streamed("a")
        _, second = await streamed("a")

        assert first.message_id != second.message_id


@pytest.mark.row("Z04")
class TestReasoning:
    async def test_reasoning_ends_where_the_text_begins(self):
        events, whole = await streamed(reasoning("Let me "), reasoning("see."), "Yes.")

        own = whole.message_id
        assert events == [
            ReasoningStart(message_id=own),
            ReasoningContent(message_id=own, offset=0, delta="Let me "),
            ReasoningContent(message_id=own, offset=7, delta="see."),
            ReasoningEnd(message_id=own),
            TextStart(message_id=own),
            TextContent(message_id=own, offset=0, delta="Yes."),
            TextEnd(message_id=own),
        ]
        assert (whole.reasoning, whole.text) == ("Let me see.", "Yes.")
        assert whole.reasoning_s >= 0

    async def test_alone_before_a_call(self):
        events, whole = await streamed(reasoning("Hm."), call("a"))

        assert [type(event) for event in events] == [
            ReasoningStart,
            ReasoningContent,
            ReasoningEnd,
        ]
        assert whole.text == ""

    async def test_reasoning_goes_on_after_text(self):
        events, whole = await streamed(reasoning("One."), "a", reasoning("Two."), "b")

        assert [type(event) for event in events].count(ReasoningStart) == 1
        assert [e.offset for e in events if isinstance(e, ReasoningContent)] == [0, 4]
        assert (whole.reasoning, whole.text) == ("One.Two.", "ab")


class TestCalls:
    async def test_pieces_may_interleave(self):
        _, whole = await streamed(
            ToolCallDelta(index=1, provider_id="b", name="second", arguments='{"x":'),
            ToolCallDelta(index=0, provider_id="a", name="first", arguments="{"),
            ToolCallDelta(index=1, arguments=" 1}"),
            ToolCallDelta(index=0, arguments="}"),
        )

        assert whole.calls == (
            RequestedCall(
                position=0, provider_id="a", name="first", arguments_text="{}"
            ),
            RequestedCall(
                position=1, provider_id="b", name="second", arguments_text='{"x": 1}'
            ),
        )

    async def test_end_is_kept(self):
        usage = Usage(input_tokens=3, output_tokens=5)

        _, whole = await streamed(*reply("Yes.", usage=usage, finish_reason="length"))

        assert (whole.usage, whole.finish_reason) == (usage, "length")

    async def test_provider_fields_are_kept(self):
        fields = {"signature": "x"}

        _, whole = await streamed(
            "Yes.", ReplyEnd(finish_reason="stop", provider_fields=fields)
        )

        assert whole.provider_fields == fields


class TestCharacters:
    """What a database or a socket would not take never gets in."""

    async def test_halves_that_belong_together_are_joined(self):
        events, whole = await streamed("a\ud83d", "\ude00b")

        assert whole.text == "a\U0001f600b"
        assert "".join(e.delta for e in events if isinstance(e, TextContent)) == (
            whole.text
        )
        assert [e.offset for e in events if isinstance(e, TextContent)] == [0, 1]

    @pytest.mark.parametrize("said", ["a\ud83db", "a\ude00b", "a\x00b"])
    async def test_what_is_no_character_is_replaced(self, said):
        _, whole = await streamed(said)

        assert whole.text == "a\ufffdb"

    async def test_a_half_at_the_end_is_replaced(self):
        events, whole = await streamed(reasoning("x\ud83d"), "a\ud83d")

        assert (whole.reasoning, whole.text) == ("x\ufffd", "a\ufffd")
        assert "".join(e.delta for e in events if isinstance(e, TextContent)) == (
            "a\ufffd"
        )

    async def test_characters_calls_too(self):
        _, whole = await streamed(
            ToolCallDelta(
                index=0,
                provider_id="a\x00",
                name="na\ud800me",
                arguments='{"x": "\ud83d',
                provider_fields={"signature": "\udfff", "n": [1, {"\x00": None}]},
            ),
            ToolCallDelta(index=0, arguments='\ude00"}'),
        )

        assert whole.calls == (
            RequestedCall(
                position=0,
                provider_id="a\ufffd",
                name="na\ufffdme",
                arguments_text='{"x": "\U0001f600"}',
                provider_fields={"signature": "\ufffd", "n": [1, {"\ufffd": None}]},
            ),
        )

    async def test_end_too(self):
        end = ReplyEnd(finish_reason="st\x00op", provider_fields={"id": "\ud800"})

        _, whole = await streamed("Yes.", end)

        assert whole.finish_reason == "st\ufffdop"
        assert whole.provider_fields == {"id": "\ufffd"}


class TestFailures:
    @pytest.mark.parametrize(
        ("parts", "code"),
        [
            ([ReplyEnd(finish_reason="stop")], "empty"),
            ([reasoning("Hm."), ReplyEnd(finish_reason="stop")], "empty"),
            ([ReplyEnd(finish_reason="content_filter")], "content_refused"),
            (["Hal", ModelError("idle_timeout")], "idle_timeout"),
        ],
    )
    async def test_raise(self, parts, code):
        with pytest.raises(ModelError) as raised:
            await streamed(*parts)

        assert raised.value.code == code

    async def test_no_finish_reason_is_a_cut(self):
        class Cut:
            async def stream(self, _request):
                yield TextDelta(text="Hal")

        model = ModelInMemory(Cut())
        with pytest.raises(ModelError, match="cut"):
            [item async for item in stream_reply(model, 0)]
