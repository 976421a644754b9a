"""Columns that keep the place in a tree are folded, and named in words."""

from dataclasses import replace

from ai_assistant.changes.values import Changes, FieldChange, ObjectChange
from ai_assistant.render.html.diffs.differences import difference_entry
from ai_assistant.render.html.diffs.rows import headline
from tests.render.html.test_differences import asked, diff, texts, with_class

NAME = FieldChange(name="value", label="Value", before="old", after="new")
LEFT = FieldChange(name="lft", label="Lft", before="3", after="5", is_place=True)
RIGHT = replace(LEFT, name="rght", label="Rght", before="4", after="6")
MODEL = "testapp.effect"


def changed(*fields, pk="1"):
    return ObjectChange(
        kind="change", model=MODEL, object_id=pk, text=f"Node {pk}", fields=fields
    )


def card(*objects):
    return Changes(title="Change", model=MODEL, objects=objects, total=len(objects))


def test_one_line_with_the_values_below(story):
    shown = diff(asked(story, card(changed(LEFT, NAME, RIGHT))))

    assert texts(shown, "th") == ["Value", "Place in the tree"]
    (folded,) = with_class(shown, "aia-whole")
    assert "open" not in folded.attrs
    assert texts(folded, "summary") == ["Show 2 values"]
    assert texts(folded, "dt") == ["Lft", "Rght"]
    assert (texts(folded, "del"), texts(folded, "ins")) == (["3", "4"], ["5", "6"])


def test_what_was_asked_for_is_not_folded(story):
    """A form may show such a column, too."""
    shown = diff(asked(story, card(changed(replace(LEFT, is_place=False)))))

    assert texts(shown, "th") == ["Lft"]
    assert with_class(shown, "aia-whole") == []


def test_rows_of_which_only_the_place_changes():
    entry = difference_entry(card(*(changed(LEFT, RIGHT, pk=pk) for pk in "123")))

    assert entry["columns"] == ["Place in the tree"]
    assert [len(one["fields"][0]["folded"]) for one in entry["objects"]] == [2] * 3


def test_headline():
    one = {(MODEL, "change"): 1}

    assert headline([changed(NAME, LEFT)], one) == "Node 1: value old → new"
    assert headline([changed(LEFT)], one) == "Node 1: place in the tree"
