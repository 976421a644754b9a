import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.stream import ReplyBuilder
from ai_assistant.types import (
    ModelReply,
    ReasoningDelta,
    ReplyEnd,
    RequestedCall,
    TextDelta,
    ToolCallDelta,
    Usage,
)

STOP = ReplyEnd(finish_reason="stop")
CALLS = ReplyEnd(finish_reason="tool_calls")


def build(*chunks, message_id="m1"):
    builder = ReplyBuilder(message_id)
    for chunk in chunks:
        builder.add(chunk)
    return builder.reply(reasoning_s=0.0)


def piece(index, arguments="", **more):
    return ToolCallDelta(index=index, arguments=arguments, **more)


def told(reply):
    return [(c.provider_id, c.name, c.arguments_text) for c in reply.calls]


class TestReplyBuilder:
    @pytest.mark.row("V03")
    def test_whole_reply(self):
        end = ReplyEnd(
            finish_reason="tool_calls",
            usage=Usage(input_tokens=3, output_tokens=4),
            provider_fields={"thinking_blocks": [{"signature": "s"}]},
        )

        reply = build(
            ReasoningDelta(text="Hm"),
            ReasoningDelta(text="m."),
            TextDelta(text="Let me "),
            TextDelta(text="look."),
            piece(0, '{"a": 1}', provider_id="c1", name="look"),
            end,
        )

        assert reply == ModelReply(
            message_id="m1",
            text="Let me look.",
            reasoning="Hmm.",
            calls=(
                RequestedCall(
                    position=0,
                    provider_id="c1",
                    name="look",
                    arguments_text='{"a": 1}',
                ),
            ),
            finish_reason="tool_calls",
            usage=Usage(input_tokens=3, output_tokens=4),
            provider_fields={"thinking_blocks": [{"signature": "s"}]},
        )

    def test_name_in_pieces(self):
        reply = build(
            piece(0, provider_id="c", name="list_"), piece(0, name="orders"), CALLS
        )

        assert told(reply) == [("c", "list_orders", "")]

    def test_name_repeated_in_each_piece(self):
        reply = build(piece(0, "{", name="look"), piece(0, "}", name="look"), CALLS)

        assert told(reply) == [("", "look", "{}")]

    def test_id_repeated_in_each_piece(self):
        first = piece(0, "{", provider_id="c", name="look")
        again = piece(0, "}", provider_id="c", name="look")

        assert told(build(first, again, CALLS)) == [("c", "look", "{}")]

    def test_id_comes_late(self):
        reply = build(piece(0, "{", name="look"), piece(0, "}", provider_id="c"), CALLS)

        assert told(reply) == [("c", "look", "{}")]

    def test_index_and_not_arrival_is_the_order(self):
        reply = build(piece(1, name="b"), piece(0, name="a"), CALLS)

        assert [(c.position, c.name) for c in reply.calls] == [(0, "a"), (1, "b")]

    @pytest.mark.row("V05")
    def test_provider_fields_of_a_call(self):
        fields = {"provider_specific_fields": {"thought_signature": "x"}}

        reply = build(piece(0, name="a", provider_fields=fields), piece(0, "{}"), CALLS)

        assert reply.calls[0].provider_fields == fields

    def test_unfinished_arguments_with_an_end_are_kept(self):
        reply = build(piece(0, '{"a": ', name="a"), ReplyEnd(finish_reason="length"))

        assert told(reply) == [("", "a", '{"a": ')]

    def test_reasoning_time_by_the_clock(self):
        builder = ReplyBuilder()
        for chunk in (ReasoningDelta(text="a"), ReasoningDelta(text="b")):
            builder.add(chunk)
        builder.add(TextDelta(text="c"))
        builder.add(STOP)

        assert builder.reply().reasoning_s > 0

    @pytest.mark.parametrize(
        ("chunks", "code"),
        [
            ([], "cut"),
            ([TextDelta(text="Half an ans")], "cut"),
            ([piece(0, '{"a"', name="a")], "cut"),
            ([STOP], "empty"),
            ([TextDelta(text=" \n"), STOP], "empty"),
            ([ReasoningDelta(text="Hm."), STOP], "empty"),
            ([ReplyEnd(finish_reason="content_filter")], "content_refused"),
        ],
    )
    def test_what_is_no_answer(self, chunks, code):
        with pytest.raises(ModelError) as caught:
            build(*chunks)

        assert caught.value.code == code


@st.composite
def interleaved(draw):
    """Calls, and their pieces in any order that keeps each call's own order."""
    arguments = draw(st.lists(st.text(max_size=12), min_size=1, max_size=5))
    queues = []
    for index, text in enumerate(arguments):
        head = piece(index, provider_id=f"c{index}", name=f"tool{index}")
        queues.append([head, *(piece(index, character) for character in text)])
    chunks = []
    while any(queues):
        queue = draw(st.sampled_from([queue for queue in queues if queue]))
        chunks.append(queue.pop(0))
    return arguments, chunks


@given(interleaved())
def test_any_interleaving_gives_the_same_calls(case):
    arguments, chunks = case

    assert told(build(*chunks, CALLS)) == [
        (f"c{n}", f"tool{n}", text) for n, text in enumerate(arguments)
    ]
