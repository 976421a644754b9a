"""What a card has no room for is seen on a page of its own, all of it."""

import pytest

from ai_assistant.changes.stored import to_json
from ai_assistant.changes.values import Changes, FieldChange, ObjectChange
from ai_assistant.models import Interrupt, ToolCall
from ai_assistant.render.html.diffs.long_texts import PART_CHARS, Place, whole_entry
from tests.render.html.dom import parse

WORDS = [f"word{n} " for n in range(12_000)]
BEFORE = "".join(WORDS)
AFTER = "".join([*WORDS[:9000], "another ", *WORDS[9001:]])


def interrupt(before, after, kind="change", **call):
    field = FieldChange(name="f", label="Text", before=before, after=after)
    row = ObjectChange(
        kind=kind, model="a.b", object_id="1", text="A row", fields=(field,)
    )
    proposal = to_json(Changes(title="Change it", objects=(row,), total=1))
    fields = {"name": "any", "label": "Any", "arguments": {}, **call}
    return Interrupt(proposal=proposal, call=ToolCall(**fields))


def parts(asked, place=None):
    place = place or Place()
    first = whole_entry(asked, place, 1)
    return [whole_entry(asked, place, n + 1) for n in range(first["count"])]


class TestWhole:
    @pytest.mark.parametrize("kind", ["create", "delete", "change"])
    def test_parts_hold_every_character(self, kind):
        before = "" if kind == "create" else BEFORE
        asked = interrupt(before, "" if kind == "delete" else AFTER, kind)

        found = parts(asked)

        shown = "".join(parse(one["text"]).text() for one in found)
        if kind == "change":
            shown = shown.replace("word9000another", "another")
        assert shown == (BEFORE if kind == "delete" else AFTER)
        assert all(len(one["text"]) <= PART_CHARS + 100 for one in found)

    def test_whole_says_which_parts_have_changes(self):
        found = parts(interrupt(BEFORE, AFTER))

        (number,) = found[0]["changed"]
        assert "<ins>another</ins>" in found[number - 1]["text"]
        assert all(
            "<ins>" not in one["text"] for one in found if one["number"] != number
        )

    def test_words_are_not_cut(self):
        for one in parts(interrupt("", AFTER, "create"))[:-1]:
            assert parse(one["text"]).text()[-1] == " "

    def test_whole_marks_what_nobody_sees(self):
        asked = interrupt("", f"{BEFORE}a\u202eb", "create")

        assert "RLO" in parts(asked)[-1]["text"]

    def test_argument(self):
        asked = interrupt("", "", arguments={"the_text": BEFORE, "ids": [1]})

        found = parts(asked, Place(argument="the_text"))

        assert "".join(parse(one["text"]).text() for one in found) == BEFORE
        assert (found[0]["title"], found[0]["label"]) == ("Any", "The text")
        assert whole_entry(asked, Place(argument="ids"), 1)["text"] == "[\n  1\n]"

    @pytest.mark.parametrize(
        "place", [Place(row=1), Place(field=1), Place(argument="none")]
    )
    def test_what_is_not_there(self, place):
        assert whole_entry(interrupt("a", "b"), place, 1) is None
        asked = Interrupt(proposal=None, call=ToolCall(arguments={}))
        assert whole_entry(asked, place, 1) is None

    def test_part_that_is_not_there_is_the_next_best(self):
        asked = interrupt(BEFORE, AFTER)

        begin = whole_entry(asked, Place(), 0)
        assert [begin["number"]] == begin["changed"]
        assert whole_entry(asked, Place(), 999)["number"] == len(parts(asked))
