"""The place of a node, which only its form asks for, is known, and said in words."""

import pytest
from django.test import Client

from ai_assistant.render.html.diffs.differences import difference_entry
from tests.hosts.packages.context import context_on, items_on, use
from tests.hosts.packages.sites.treebeard import cases
from tests.hosts.packages.test_same_rows import boss, by_tool, tried

__all__ = ["boss"]  # a fixture
TOPIC = "host.topic"
PLACE = {"treebeard_position", "treebeard_ref_node"}
PLACE_LINE = "Place in the tree"


@pytest.fixture
def client(boss):
    cases.make()
    client = Client()
    client.force_login(boss)
    return client


def test_place_is_described_and_read(client, boss):
    context = context_on("/admin/", client, boss)

    told = use(context, "describe_model", model=TOPIC)["fields"]
    found = use(context, "get_object", model=TOPIC, id=2)["fields"]
    opened = items_on("/admin/host/topic/2/change/", client, boss)["object"]

    described = {one["name"]: one for one in told}
    assert {*described} >= PLACE
    choices = {one["value"] for one in described["treebeard_position"]["choices"]}
    assert "first-child" in choices
    assert described["treebeard_ref_node"]["model"] == TOPIC
    assert "treebeard_position" in found
    assert "treebeard_position" in opened.value["fields"]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("add", {"New": ["Name"]}),
        ("rename", {"Root": ["Name"]}),
        (
            "move",
            {"Child": ["Position", PLACE_LINE], "Root": [PLACE_LINE]},
        ),
        ("delete", {"Child": [], "Root": [PLACE_LINE]}),
    ],
)
def test_columns_of_the_tree_stand_below_one_line(name, lines, client, boss):
    context = context_on("/admin/", client, boss)
    cards = []
    _rows, fault = tried(lambda: by_tool(cases.CASES[name], context, cards))
    assert fault == ""
    (card,) = cards
    drawn = difference_entry(card)["objects"]

    assert {
        str(one["text"]): [str(field["label"]) for field in one["fields"]]
        for one in drawn
    } == lines
    assert card.warnings == ()
    folded = [field for one in card.objects for field in one.fields if field.is_place]
    assert {field.name for field in folded} <= {"path", "depth", "numchild"}
