"""The place of a node, which only its form asks for, is known, and said in words."""

import pytest

from tests.hosts.packages.context import context_on, folded_of, items_on, lines_of, use
from tests.hosts.packages.sites.treebeard import cases
from tests.hosts.packages.test_same_rows import only_card

TOPIC = "host.topic"
PLACE = {"treebeard_position", "treebeard_ref_node"}
PLACE_LINE = "Place in the tree"


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
    card = only_card(cases.CASES[name], context_on("/admin/", client, boss))

    assert lines_of(card) == lines
    assert card.warnings == ()
    assert folded_of(card) <= {"path", "depth", "numchild"}
