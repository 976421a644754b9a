"""What cards say of a tree, also where the site leaves out its numbers, or all of it."""

import pytest
from django.test import Client

from ai_assistant import conf
from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.display import sentences_of_gaps
from ai_assistant.render.html.diffs.differences import difference_entry
from tests.hosts.packages.context import context_on, use
from tests.hosts.packages.sites.mptt import cases
from tests.hosts.packages.test_same_rows import boss, by_tool, says_nothing, tried

__all__ = ["boss"]  # a fixture
OF_THE_TREE = ("lft", "rght", "tree_id", "level")
NUMBERS = [f"host.genre.{name}" for name in OF_THE_TREE]
PLACE = "Place in the tree"
MOVED = "Other genres get another place in the tree."


def signed_in(boss):
    client = Client()
    client.force_login(boss)
    return client


@pytest.mark.parametrize("along", [NUMBERS, ["host.genre"]], ids=["numbers", "all"])
@pytest.mark.parametrize("name", list(cases.CASES))
def test_one_card_that_says_what_happens(name, along, boss, settings):
    own = {"DATA": {"WRITTEN_ALONG": along}}
    settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, own)
    cases.make()
    context = context_on("/admin/", signed_in(boss), boss)
    cards = []

    _rows, fault = tried(lambda: by_tool(cases.CASES[name], context, cards))

    assert fault == ""
    (card,) = cards
    assert card.objects
    assert [one for one in card.objects if says_nothing(one)] == []


@pytest.mark.parametrize(
    ("name", "lines", "warnings"),
    [
        ("add below", {"New": ["Name", "Parent", PLACE]}, (MOVED,)),
        ("rename", {"Root": ["Name"]}, ()),
        ("move", {"Leaf": ["Parent", PLACE]}, (MOVED,)),
        ("delete a row", {"S": []}, ()),
        ("bulk", {"Child": ["Parent", PLACE], "Leaf": ["Parent", PLACE]}, (MOVED,)),
        ("delete", {"Child": []}, (MOVED,)),
    ],
)
def test_numbers_stand_below_one_line(name, lines, warnings, boss):
    cases.make()
    context = context_on("/admin/", signed_in(boss), boss)
    cards = []
    _rows, fault = tried(lambda: by_tool(cases.CASES[name], context, cards))
    assert fault == ""
    (card,) = cards
    drawn = difference_entry(card)["objects"]

    assert {
        str(one["text"]): [str(field["label"]) for field in one["fields"]]
        for one in drawn
    } == lines
    assert card.warnings == warnings
    folded = [field for one in card.objects for field in one.fields if field.is_place]
    assert {field.name for field in folded} <= {*OF_THE_TREE}
    assert all(field.before or field.after for field in folded)


def test_report_says_what_became_of_the_others(boss):
    cases.make()
    context = context_on("/admin/", signed_in(boss), boss)
    with recording() as recorder:
        given = {"id": "3", "values": {"parent": 1}}
        assert use(context, "change_object", model="host.genre", **given).ok

    assert sentences_of_gaps(recorder.gaps) == [
        "Other objects of the tree got another place; it cannot be undone."
    ]
