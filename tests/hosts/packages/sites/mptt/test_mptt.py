"""What cards say of a tree, also where the site leaves out its numbers, or all of it."""

import pytest

from ai_assistant import conf
from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.display import sentences_of_gaps
from tests.hosts.packages.context import context_on, folded_of, lines_of, use
from tests.hosts.packages.sites.mptt import cases
from tests.hosts.packages.test_same_rows import only_card, says_nothing

OF_THE_TREE = ("lft", "rght", "tree_id", "level")
NUMBERS = [f"host.genre.{name}" for name in OF_THE_TREE]
PLACE = "Place in the tree"
MOVED = "Other genres get another place in the tree."


@pytest.mark.parametrize("along", [NUMBERS, ["host.genre"]], ids=["numbers", "all"])
@pytest.mark.parametrize("name", list(cases.CASES))
def test_one_card_that_says_what_happens(name, along, client, boss, settings):
    own = {"DATA": {"WRITTEN_ALONG": along}}
    settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, own)

    card = only_card(cases.CASES[name], context_on("/admin/", client, boss))

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
def test_numbers_stand_below_one_line(name, lines, warnings, client, boss):
    card = only_card(cases.CASES[name], context_on("/admin/", client, boss))

    assert lines_of(card) == lines
    assert card.warnings == warnings
    assert folded_of(card) <= {*OF_THE_TREE}
    assert [one for one in card.objects if says_nothing(one)] == []


def test_report_says_what_became_of_the_others(client, boss):
    context = context_on("/admin/", client, boss)
    with recording() as recorder:
        given = {"id": "3", "values": {"parent": 1}}
        assert use(context, "change_object", model="host.genre", **given).ok

    assert sentences_of_gaps(recorder.gaps) == [
        "Other objects of the tree got another place; it cannot be undone."
    ]
