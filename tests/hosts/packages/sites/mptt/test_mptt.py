"""No card is empty where the site leaves out the numbers of the tree, or all of it."""

import pytest
from django.test import Client

from ai_assistant import conf
from tests.hosts.packages.context import context_on
from tests.hosts.packages.sites.mptt import cases
from tests.hosts.packages.test_same_rows import boss, by_tool, says_nothing, tried

__all__ = ["boss"]  # a fixture
NUMBERS = [f"host.genre.{name}" for name in ("lft", "rght", "tree_id", "level")]


@pytest.mark.parametrize("along", [NUMBERS, ["host.genre"]], ids=["numbers", "all"])
@pytest.mark.parametrize("name", list(cases.CASES))
def test_one_card_that_says_what_happens(name, along, boss, settings):
    own = {"DATA": {"WRITTEN_ALONG": along}}
    settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, own)
    cases.make()
    client = Client()
    client.force_login(boss)
    context = context_on("/admin/", client, boss)
    cards = []

    _rows, fault = tried(lambda: by_tool(cases.CASES[name], context, cards))

    assert fault == ""
    (card,) = cards
    assert card.objects
    assert [one for one in card.objects if says_nothing(one)] == []
