"""The real class of an object is told where its parent is asked for."""

import pytest

from ai_assistant import ModelRetry
from ai_assistant.testing import call, reply, run_assistant
from tests.hosts.packages.context import context_on, items_on, use
from tests.hosts.packages.sites.polymorphic.models import Transfer

PROJECT = "host.project"
PAGE = "/admin/host/project/1/change/"


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


def test_nobody_is_asked_about_a_parent_alone(client, boss):
    given = {"model": PROJECT, "values": {"topic": "New", "artist": "Ada"}}
    replies = [reply("", call("create_object", given)), "I cannot."]
    played = run_assistant(boss, PAGE, "Add one.", replies=replies)

    assert (played.interrupts, played.text) == ((), "I cannot.")
    assert "one of its child models: host.art" in played.calls[0].read_by_model


def test_parent_of_an_only_child(context):
    told = use(context, "describe_model", model="host.document")

    assert told["child_models"] == ["host.letter"]


def test_rows_of_several_classes(context):
    (inline,) = use(context, "get_object", model="host.order", id=1)["inlines"]

    assert [(row["model"], row["fields"]) for row in inline["rows"]] == [
        ("host.cash", {"amount": 1, "till": "T"}),
        ("host.transfer", {"amount": 2, "bank": "B"}),
    ]
    (told,) = use(context, "describe_model", model="host.order")["inlines"]
    assert {
        model: [field["name"] for field in fields]
        for model, fields in told["child_models"].items()
    } == {"host.cash": ["amount", "till"], "host.transfer": ["amount", "bank"]}


def test_class_that_is_kept_from_the_assistant(context, monkeypatch):
    monkeypatch.setattr(Transfer, "assistant", False, raising=False)
    (inline,) = use(context, "get_object", model="host.order", id=1)["inlines"]

    assert [row["fields"] for row in inline["rows"]] == [{"amount": 1, "till": "T"}, {}]
    assert ["text" in row for row in inline["rows"]] == [True, False]
    for row in ({"id": 2, "bank": "C"}, {"id": 2, "DELETE": True}, {"bank": "C"}):
        with pytest.raises(ModelRetry, match="is kept from the assistant"):
            change_payment(context, row)


def change_payment(context, row):
    rows = {"payments": [row]}
    given = {"model": "host.order", "id": 1, "values": {}, "inlines": rows}
    return use(context, "change_object", **given)


def test_new_row_must_say_of_which_class_it_is(context):
    with pytest.raises(ModelRetry, match="one of host.cash, host.transfer. Say which"):
        change_payment(context, {"amount": 3})
