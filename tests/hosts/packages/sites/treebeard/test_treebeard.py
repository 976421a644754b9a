"""The place of a node, which only its form asks for, is known."""

import pytest
from django.test import Client

from tests.hosts.packages.context import context_on, items_on, use
from tests.hosts.packages.sites.treebeard import cases
from tests.hosts.packages.test_same_rows import boss

__all__ = ["boss"]  # a fixture
TOPIC = "host.topic"
PLACE = {"treebeard_position", "treebeard_ref_node"}


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
