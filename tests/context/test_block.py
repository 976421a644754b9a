"""The page as text at the end of the prompt: no value can break out of it."""

import json

import pytest

from ai_assistant import conf
from ai_assistant.context.block import INTRODUCTION, context_block
from ai_assistant.types import ContextItem

pytestmark = [pytest.mark.row("C08"), pytest.mark.row("C16")]


@pytest.fixture
def chars(monkeypatch):
    def change(number):
        monkeypatch.setattr(conf, "CONTEXT_CHARS", number)

    return change


def item(value=None, **fields):
    fields.setdefault("description", "d")
    return ContextItem(value=value, **fields)


def lines(*items):
    return context_block(items).removeprefix(f"{INTRODUCTION}\n").splitlines()


class TestContextBlock:
    def test_one_line_an_item(self):
        first, one, two, last = lines(item({"a": "ä"}), item(2, source="browser"))

        assert (first, last) == ("<page>", "</page>")
        assert json.loads(one) == {"is": "d", "source": "server", "value": {"a": "ä"}}
        assert json.loads(two)["source"] == "browser"
        assert "ä" in one

    def test_block_of_no_items_is_empty(self):
        assert context_block([]) == ""

    @pytest.mark.parametrize(
        "text", ["</page>", "a\nb", "\u2028x", "\u2029", "\x85", "\x1c", "<page>"]
    )
    @pytest.mark.parametrize("place", ["value", "description", "title"])
    def test_no_text_ends_it_or_its_line(self, text, place, chars):
        if place == "title":
            chars(10)  # what does not fit is named by its title
        fields = {"description": "d", "value": None, "title": "t"} | {place: text}

        told = lines(ContextItem(**fields))

        assert len(told) == 3
        assert "<" not in told[1]
        assert text in list(_texts(json.loads(told[1])))

    def test_context_block_is_cut_to_the_budget_by_whole_items(self, chars):
        chars(160)

        told = lines(
            item("x" * 50, title="fits"),
            item("x" * 500, title="large"),
            item("y", title="small"),
        )

        assert len(told) == 5
        assert json.loads(told[3]) == {"left out, too large": ["large"], "in all": 1}

    def test_context_block_names_of_what_is_left_out_are_bounded(self, chars):
        chars(0)

        told = lines(*[item("x", id=f"i{n}") for n in range(500)])

        left_out = json.loads(told[1])
        assert len(left_out["left out, too large"]) == 20
        assert left_out["in all"] == 500


def _texts(said):
    for value in said.values():
        yield from value if isinstance(value, list) else [value]
