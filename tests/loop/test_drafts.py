"""A call that is being written can be watched; nothing of that is kept."""

import pytest

from ai_assistant.engine.loop import CallDraft
from ai_assistant.engine.loop.loop import SHOWN_CHARS, Drafts
from ai_assistant.types import ToolCallDelta


def piece(arguments="", *, index=0, name="", provider_id=""):
    return ToolCallDelta(
        index=index, name=name, provider_id=provider_id, arguments=arguments
    )


@pytest.fixture
def seen():
    drafts = Drafts("m")

    def add(*pieces):
        told = [drafts.add(one) for one in pieces]
        return [(d.position, d.name, d.arguments) for few in told for d in few]

    return add


@pytest.mark.row("L07")
class TestDrafts:
    def test_grow_from_the_beginning(self, seen):
        assert seen(piece(name="echo"), piece('{"te'), piece('xt": "a')) == [
            (0, "echo", ""),
            (0, "echo", '{"te'),
            (0, "echo", '{"text": "a'),
        ]

    def test_pieces_of_several_calls_may_interleave(self, seen):
        told = seen(
            piece(name="a", index=0),
            piece(name="b", index=1),
            piece("{1", index=0),
            piece("{2", index=1),
        )

        assert told[2:] == [(0, "a", "{1"), (1, "b", "{2")]

    def test_another_id_under_one_index_is_another_call(self, seen):
        told = seen(
            piece("{1", name="a", provider_id="x"),
            piece("{2", name="a", provider_id="y"),
        )

        assert told == [(0, "a", "{1"), (1, "a", "{2")]

    def test_a_long_one_stands_still(self, seen):
        told = seen(piece("x" * SHOWN_CHARS, name="a"), piece("more"), piece("more"))

        assert [len(arguments) for _, _, arguments in told] == [SHOWN_CHARS]

    def test_no_more_than_a_step_may_have(self, seen):
        told = seen(*[piece(name="a", index=n) for n in range(60)])

        assert len(told) == 25


async def test_are_told_before_the_reply(collect, calls):
    from ai_assistant.testing import call, reply

    calls.outcomes = [None]
    items = await collect(reply("", call("echo", {"text": "a"})))

    (draft,) = [item for item in items if isinstance(item, CallDraft)]
    assert (draft.name, draft.arguments) == ("echo", '{"text": "a"}')
