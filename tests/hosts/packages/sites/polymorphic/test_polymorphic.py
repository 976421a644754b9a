"""The real class of an object is told where its parent is asked for."""

import pytest
from django.test import Client

from ai_assistant import ModelRetry
from tests.hosts.packages.context import context_on, items_on, use
from tests.hosts.packages.sites.polymorphic import cases
from tests.hosts.packages.test_same_rows import boss

__all__ = ["boss"]  # a fixture
PROJECT = "host.project"
PAGE = "/admin/host/project/1/change/"


@pytest.fixture
def client(boss):
    cases.make()
    client = Client()
    client.force_login(boss)
    return client


@pytest.fixture
def context(client, boss):
    return context_on("/admin/host/project/", client, boss)


def test_object(context):
    assert use(context, "get_object", model=PROJECT, id=1)["model"] == "host.art"


def test_rows_of_the_list(context):
    found = use(context, "search_objects", model=PROJECT)

    assert {row["id"]: row["model"] for row in found["rows"]} == {
        1: "host.art",
        2: "host.science",
    }
    own = use(context, "search_objects", model="host.art")
    assert "model" not in own["rows"][0]


def test_page(client, boss):
    item = items_on(PAGE, client, boss)["object"]

    assert item.value["model"] == "host.art"
    assert item.description == "The art that the user has opened."


def test_model(context):
    told = use(context, "describe_model", model=PROJECT)

    assert told["child_models"] == ["host.art", "host.science"]
    assert "child_models" not in use(context, "describe_model", model="host.art")


def test_parent_alone_cannot_be_added(context):
    values = {"topic": "New", "artist": "Ada"}

    with pytest.raises(ModelRetry, match="one of its child models: host.art, host.sci"):
        use(context, "create_object", model=PROJECT, values=values)
