"""One way through a reply for every filter: no piece is lost, none is out of order."""

import asyncio

import pytest

from ai_assistant.providers.base import with_masked_secrets
from ai_assistant.providers.stream import with_whole_characters
from ai_assistant.text.redaction.redact import MARK
from ai_assistant.types import ReasoningDelta, ReplyEnd, TextDelta, ToolCallDelta

SECRET = "canary-of-the-mail-Qm55"


@pytest.fixture(autouse=True)
def planted(settings):
    settings.MAIL_HOST_PASSWORD = SECRET


def told(through, *chunks):
    async def stream():
        for chunk in chunks:
            yield chunk

    async def collect():
        return [chunk async for chunk in through(stream())]

    return asyncio.run(collect())


def joined(chunks, kind, name="text"):
    return "".join(getattr(one, name) for one in chunks if isinstance(one, kind))


WAYS = [
    pytest.param(with_masked_secrets, SECRET[:9], SECRET[9:], MARK, id="secret"),
    pytest.param(with_whole_characters, "\ud83d", "\ude00", "\U0001f600", id="half"),
]


@pytest.mark.parametrize(("through", "first", "second", "whole"), WAYS)
class TestCutInTwo:
    def test_cut_in_two_in_the_text(self, through, first, second, whole):
        chunks = told(through, TextDelta(text="a" + first), TextDelta(text=second))

        assert joined(chunks, TextDelta) == "a" + whole

    def test_cut_in_two_in_the_reasoning(self, through, first, second, whole):
        pieces = [ReasoningDelta(text=first), ReasoningDelta(text=second)]
        chunks = told(through, *pieces, TextDelta(text="b"))

        assert joined(chunks, ReasoningDelta) == whole
        assert joined(chunks, TextDelta) == "b"

    def test_cut_in_two_in_the_arguments_of_calls_that_interleave(
        self, through, first, second, whole
    ):
        pieces = [
            ToolCallDelta(index=index, arguments=text)
            for text in (first, second)
            for index in (0, 1)
        ]

        chunks = told(through, *pieces)

        for index in (0, 1):
            own = [one for one in chunks if one.index == index]
            assert joined(own, ToolCallDelta, "arguments") == whole

    def test_cut_in_two_in_what_comes_in_one_piece(self, through, first, second, whole):
        text = first + second
        call = ToolCallDelta(
            index=0, provider_id=text, name=text, provider_fields={"a": [text]}
        )
        end = ReplyEnd(finish_reason=text, provider_fields={"b": text})

        chunks = told(through, call, end)

        assert (chunks[0].provider_id, chunks[0].name) == (whole, whole)
        assert chunks[0].provider_fields == {"a": [whole]}
        assert chunks[-1].finish_reason == whole
        assert chunks[-1].provider_fields == {"b": whole}

    def test_cut_in_two_that_ends_half_way(self, through, first, second, whole):
        chunks = told(
            through,
            ReasoningDelta(text="r" + first),
            TextDelta(text="t" + first),
            ToolCallDelta(index=0, name="tool", arguments="c" + first),
            ReplyEnd(finish_reason="stop"),
        )

        kinds = [type(one) for one in chunks]
        last = {kind: len(kinds) - 1 - kinds[::-1].index(kind) for kind in set(kinds)}
        # What is kept back of one text is told before the next begins.
        assert last[ReasoningDelta] < kinds.index(TextDelta)
        assert last[TextDelta] < kinds.index(ToolCallDelta)
        assert last[ToolCallDelta] < last[ReplyEnd] == len(chunks) - 1
        for kind, name, start in (
            (ReasoningDelta, "text", "r"),
            (TextDelta, "text", "t"),
            (ToolCallDelta, "arguments", "c"),
        ):
            text = joined(chunks, kind, name)
            assert text[0] == start
            assert len(text) == 1 + len(first)
