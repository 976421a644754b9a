"""A model reads the ids of rows within rows, and changes one; the person is asked once."""

import json

import pytest

from ai_assistant.changes import stored
from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from tests.library.models import Author, Book, Copy
from tests.tools.data.pages import NESTING, CopyRows, served
from tests.tools.data.reading import call as use_tool


@pytest.fixture(params=NESTING)
def sea(request, db, settings):
    """A book of one author, with two copies, on a page that nests them."""
    author = Author.objects.create(name="Verne")
    book = Book.objects.create(title="Sea", author=author)
    Copy.objects.bulk_create(Copy(book=book, code=code) for code in ("C-1", "C-2"))
    with served(settings, Author, request.param):
        yield book


class Reader:
    """A model that reads an author, and then changes what it has found in a row."""

    def __init__(self, author, **changes):
        self.author, self.changes = author, changes

    async def __call__(self, request):
        last = request.messages[-1]
        named = {"model": "library.author", "id": self.author.pk}
        if last["role"] != "tool":
            return reply("", call("get_object", named))
        if '"inlines"' not in last["content"]:
            return "Done."
        ((book,),) = (one["rows"] for one in found_in(last["content"])["inlines"])
        (copies,) = book["inlines"]
        row = copies["rows"][1]
        rows = [{"id": book["id"], copies["name"]: [{"id": row["id"], **self.changes}]}]
        inlines = {"book_set": rows}
        return reply(
            "", call("change_object", {**named, "values": {}, "inlines": inlines})
        )


def found_in(content):
    """Return the JSON of a result, as it is handed to the model."""
    return json.JSONDecoder().raw_decode(content[content.index("{") :])[0]


class TestWholeWay:
    def test_row_is_read_and_changed_by_one_card(self, boss, sea):
        played = run_assistant(
            boss, "/admin/", "Rename it.", provider=Reader(sea.author, code="C-9")
        )
        card = stored.from_json(played.interrupts[0].proposal)
        assert [(one.text, one.fields[0].after) for one in card.objects] == [
            ("C-2", "C-9")
        ]
        played = answer_interrupt(played, "approve")

        assert (played.state, played.interrupts) == ("succeeded", ())
        assert [one.name for one in played.calls] == ["get_object", "change_object"]
        assert {*sea.copies.values_list("code", flat=True)} == {"C-1", "C-9"}

    def test_removing_a_row_asks_whatever_the_policy_says(self, boss, sea, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "POLICY": {"change_object": "allow"},
        }
        text = f"Change author {sea.author.pk}: DELETE copy C-2 of book {sea.pk}"
        played = run_assistant(
            boss, "/admin/", text, provider=Reader(sea.author, DELETE=True)
        )

        assert played.state == "waiting_approval"
        assert "remove" in played.run.calls.get(name="change_object").asks_because
        assert sea.copies.count() == 2


def test_no_secret_of_a_nested_row(boss, sea, monkeypatch):
    monkeypatch.setattr(CopyRows, "fields", ("code", "pin"))
    sea.copies.update(pin="canary-pin")
    given = {"model": "library.author"}

    found = use_tool("get_object", boss, id=sea.author.pk, **given)
    told = use_tool("describe_model", boss, **given)

    (book,) = found["inlines"][0]["rows"]
    assert book["inlines"][0]["rows"][0]["fields"] == {"code": "C-1"}
    (copies,) = told["inlines"][0]["inlines"]
    assert [field["name"] for field in copies["fields"]] == ["code"]
    assert "canary" not in json.dumps([found, told])
