"""The forms in which servers stream; every text, however it is cut."""

import contextlib
import json
import random
from decimal import Decimal

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.openai_compatible.stream import (
    MAX_EVENT_BYTES,
    EventReader,
    ReplyReader,
    read_usage,
)
from ai_assistant.providers.stream import ReplyBuilder
from ai_assistant.types import ReasoningDelta, ReplyEnd, TextDelta, ToolCallDelta, Usage

NAMES = (
    *("choices", "delta", "message", "content", "refusal", "reasoning", "tool_calls"),
    *("index", "id", "function", "name", "arguments", "finish_reason", "usage", "type"),
    *(
        "error",
        "code",
        "object",
        "x_groq",
        "reasoning_details",
        "prompt_tokens",
        "text",
    ),
    *("prompt_tokens_details", "cached_tokens", "thinking", "extra_content"),
)


def event(said, end="\n\n"):
    return f"data: {json.dumps(said, ensure_ascii=False)}{end}".encode()


def delta(finish=None, **said):
    return event({"choices": [{"index": 0, "delta": said, "finish_reason": finish}]})


def read(*reads, reader=None):
    """Return the chunks of what was read from the network, one list for each read."""
    reader = reader or ReplyReader(orjson.loads)
    told = [list(reader.read(data)) for data in reads]
    return [*told, list(reader.end())]


def reply_of(*reads):
    reader = ReplyReader(orjson.loads)
    builder = ReplyBuilder("m1")
    for chunks in read(*reads, reader=reader):
        for chunk in chunks:
            builder.add(chunk)
    builder.add(reader.reply_end(lambda usage: None))
    return builder.reply(reasoning_s=0.0)


class TestReads:
    def test_one_chunk_for_all_text_of_one(self):
        told = read(delta(content="a") + delta(content="b"), delta(content="c"))

        assert told == [[TextDelta(text="ab")], [TextDelta(text="c")], []]

    def test_order_is_kept(self):
        told = read(
            delta(reasoning_content="r")
            + delta(content="a")
            + delta(content="b")
            + delta(reasoning="s")
        )

        assert told[0] == [
            ReasoningDelta(text="r"),
            TextDelta(text="ab"),
            ReasoningDelta(text="s"),
        ]

    def test_arguments_of_one_call_are_joined(self):
        head = {"index": 0, "id": "c", "function": {"name": "echo", "arguments": ""}}
        pieces = [{"index": 0, "function": {"arguments": text}} for text in ("{", "}")]
        told = read(b"".join(delta(tool_calls=[one]) for one in (head, *pieces)))

        assert told[0] == [
            ToolCallDelta(index=0, provider_id="c", name="echo"),
            ToolCallDelta(index=0, arguments="{}"),
        ]

    @pytest.mark.parametrize("seed", range(20))
    def test_no_cut_changes_anything(self, seed):
        dice = random.Random(seed)
        said = [
            dice.choice(["Zürich ", "🏔️", "\n\n", "data: [DONE]", "\u2028"])
            for _ in range(50)
        ]
        wire = b": hello\r\n\r\n" + b"".join(delta(content=text) for text in said)
        wire += delta("stop") + event({"choices": [], "usage": {"prompt_tokens": 3}})
        wire += b"data: [DONE]\n\n"
        cuts = sorted(dice.sample(range(len(wire)), 40))
        reads = [wire[a:b] for a, b in zip([0, *cuts], [*cuts, len(wire)], strict=True)]

        reply = reply_of(*reads)

        assert reply.text == "".join(said)
        assert reply.usage.input_tokens == 3

    def test_half_of_a_character(self):
        halves = [
            b'data: {"choices": [{"delta": {"content": "\\ud83d"}}]}\n\n',
            b'data: {"choices": [{"delta": {"content": "\\ude00"}}]}\n\n',
        ]

        assert [one.text for told in read(*halves) for one in told] == [
            "\ud83d",
            "\ude00",
        ]

    def test_what_is_before_an_error_is_told(self):
        reader = ReplyReader(orjson.loads)
        said = []
        with pytest.raises(ModelError) as caught:
            said.extend(reader.read(delta(content="Half") + b"data: {no json\n\n"))

        assert said == [TextDelta(text="Half")]
        assert (caught.value.code, caught.value.retryable) == ("malformed", False)


class TestEvents:
    @pytest.mark.parametrize(
        "wire",
        [
            b'data: {"a": 1}\n\ndata: {"b": 2}\n\n',
            b'data:{"a": 1}\r\n\r\ndata:{"b": 2}\r\n\r\n',
            b'data: {"a": 1}\ndata: {"b": 2}',
            b'id: 1\nevent: message\ndata: {"a": 1}\n\n: ping\n\nretry: 5\ndata: {"b": 2}\n',
            b'data: {\ndata: "a": 1\ndata: }\n\ndata: {"b": 2}\n\n',
        ],
    )
    def test_forms(self, wire):
        reader = EventReader()

        found = [*reader.read(wire), *reader.end()]

        assert [json.loads(one) for one in found] == [{"a": 1}, {"b": 2}]

    def test_events_endless_line(self):
        reader = EventReader()

        with pytest.raises(ModelError, match="malformed"):
            for _ in range(MAX_EVENT_BYTES // 2**20 + 1):
                list(reader.read(b"x" * 2**20))


class TestEnds:
    @pytest.mark.parametrize(
        ("reason", "told"),
        [
            *(("stop", "stop"), ("length", "length"), ("eos", "stop")),
            *(("model_length", "length"), ("end_turn", "stop")),
            ("content_filter: PROHIBITED_CONTENT", "content_filter"),
        ],
    )
    def test_reasons(self, reason, told):
        assert reply_of(delta(content="x"), delta(reason)).finish_reason == told

    def test_stop_after_a_call_is_for_the_call(self):
        call = {"index": 0, "id": "c", "function": {"name": "a", "arguments": "{}"}}

        reply = reply_of(delta(tool_calls=[call]), delta("stop"))

        assert reply.finish_reason == "tool_calls"

    def test_done_is_an_end_too(self):
        reader = ReplyReader(orjson.loads)
        read(delta(content="x"), b"data: [DONE]\n\n", reader=reader)

        assert reader.is_whole

    @pytest.mark.parametrize("reason", ["error", "insufficient_system_resource"])
    def test_broken(self, reason):
        with pytest.raises(ModelError) as caught:
            read(delta(reason))

        assert (caught.value.code, caught.value.retryable) == ("provider_down", True)

    @pytest.mark.parametrize(
        ("error", "code"),
        [
            ("Broken.", "provider_down"),
            ({"message": "Broken."}, "provider_down"),
            ({"message": "Slow.", "code": 429}, "rate_limited"),
            ({"message": "Slow.", "type": "rate_limit_error"}, "rate_limited"),
            ({"message": "Bad gateway", "code": 502}, "provider_down"),
            ({"message": "x", "type": "exceed_context_size_error"}, "context_too_long"),
        ],
    )
    def test_told_in_the_stream(self, error, code):
        with pytest.raises(ModelError) as caught:
            read(event({"error": error}))

        assert caught.value.code == code

    def test_told_in_an_older_form(self):
        with pytest.raises(ModelError, match="bad_request: No"):
            read(event({"object": "error", "message": "No.", "code": 400}))

    def test_told_on_a_line_of_its_own(self):
        with pytest.raises(ModelError, match="provider_down: Broken."):
            read(b'error: {"message": "Broken."}\n\n')

    @pytest.mark.parametrize(
        "said",
        [
            *(b"data: []\n\n", b'data: {"choices": 5}\n\n', delta(content=5)),
            b'data: {"choices": [5]}\n\n',
            b"data: {" + b'"a":{' * 200_000 + b"}\n\n",
        ],
    )
    def test_no_chunk_of_the_protocol(self, said):
        with pytest.raises(ModelError, match="malformed"):
            read(said)


class TestCalls:
    def test_calls_without_an_index(self):
        calls = [
            {"id": id_, "function": {"name": name, "arguments": arguments}}
            for id_, name, arguments in (
                ("c0", "a", "{"),
                (None, None, "}"),
                ("c1", "b", "{}"),
            )
        ]

        reply = reply_of(*(delta(tool_calls=[one]) for one in calls), delta("stop"))

        assert [(c.provider_id, c.name, c.arguments_text) for c in reply.calls] == [
            ("c0", "a", "{}"),
            ("c1", "b", "{}"),
        ]

    def test_arguments_as_an_object(self):
        call = {"index": 0, "function": {"name": "a", "arguments": {"b": 1}}}

        (asked,) = reply_of(delta(tool_calls=[call]), delta("stop")).calls

        assert asked.arguments_text == '{"b": 1}'


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=30,
)


class TestHostile:
    @given(
        said=JSON, at=st.sampled_from(["", "choices", "delta", "tool_calls", "usage"])
    )
    def test_server_causes_no_other_error(self, said, at):
        wrapped = {
            "": said,
            "choices": {"choices": said},
            "delta": {"choices": [{"delta": said}]},
            "tool_calls": {"choices": [{"delta": {"tool_calls": said}}]},
            "usage": {"usage": said, "choices": []},
        }
        reader = ReplyReader(orjson.loads)
        builder = ReplyBuilder("m1")
        with contextlib.suppress(ModelError):
            for chunks in read(event(wrapped[at]), reader=reader):
                for chunk in chunks:
                    builder.add(chunk)
            builder.add(reader.reply_end(lambda usage: None))
            builder.reply()


class TestTexts:
    def test_refusal_of_a_model_is_what_it_says(self):
        assert (
            reply_of(delta(refusal="I will not."), delta("stop")).text == "I will not."
        )

    def test_reasoning_that_is_no_text_is_left(self):
        assert (
            reply_of(delta(content="x", reasoning={"a": 1}), delta("stop")).text == "x"
        )


class TestFields:
    def test_details_of_reasoning_are_put_together(self):
        details = [
            {"type": "reasoning.text", "index": 0, "text": "First ", "format": "f"},
            {"type": "reasoning.text", "index": 0, "text": "things."},
            {"type": "reasoning.text", "index": 0, "signature": "c2ln", "text": ""},
            {"type": "reasoning.encrypted", "index": 1, "data": "eHg="},
        ]

        reply = reply_of(
            *(delta(reasoning_details=[one]) for one in details),
            delta("stop", content="x"),
        )

        assert reply.provider_fields == {
            "reasoning_details": [
                {
                    "type": "reasoning.text",
                    "index": 0,
                    "text": "First things.",
                    "format": "f",
                    "signature": "c2ln",
                },
                {"type": "reasoning.encrypted", "index": 1, "data": "eHg="},
            ]
        }

    def test_content_in_parts(self):
        parts = [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
            {"type": "text", "text": "Yes."},
        ]

        reply = reply_of(delta(content=parts), delta("stop"))

        assert (reply.reasoning, reply.text) == ("Hm.", "Yes.")


class TestWhole:
    def test_answer_that_does_not_stream(self):
        reader = ReplyReader(orjson.loads)
        reader.expect("application/json")
        message = {"role": "assistant", "content": "At once."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = json.dumps(
            {"choices": [choice], "usage": {"completion_tokens": 2}}, indent=1
        )

        told = read(body[:30].encode(), body[30:].encode(), reader=reader)

        assert told[-1] == [TextDelta(text="At once.")]
        assert reader.reply_end(lambda usage: Decimal(1)) == ReplyEnd(
            finish_reason="stop", usage=Usage(output_tokens=2, cost_usd=Decimal(1))
        )


class TestUsage:
    @pytest.mark.parametrize(
        ("said", "usage"),
        [
            ({}, Usage()),
            ({"prompt_tokens": None, "completion_tokens": "x"}, Usage()),
            ({"prompt_tokens": -1, "prompt_tokens_details": [5]}, Usage()),
            (
                {"prompt_tokens": 9, "prompt_cache_hit_tokens": 4},
                Usage(input_tokens=9, cached_tokens=4),
            ),
        ],
    )
    def test_usage_names(self, said, usage):
        assert read_usage(said, lambda usage: None) == usage

    def test_groq(self):
        reader = ReplyReader(orjson.loads)
        read(
            event({"choices": [], "x_groq": {"usage": {"prompt_tokens": 3}}}),
            reader=reader,
        )

        assert reader.usage == {"prompt_tokens": 3}
