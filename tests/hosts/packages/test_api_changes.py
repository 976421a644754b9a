"""What a call of django-ninja would change is shown, is just that, and is undone."""

import importlib
import os

import pytest
from django.contrib.auth import get_user_model

if os.environ.get("HOSTS_PACKAGE") != "ninja":
    pytest.skip("of the site of django-ninja", allow_module_level=True)

from ai_assistant.changes.undo.values import UndoRequest, UndoTarget
from ai_assistant.engine.undo import read_plan, undo
from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from tests.hosts.packages.rows import state
from tests.hosts.packages.sites.ninja import models, traps

cases = importlib.import_module("tests.hosts.packages.sites.ninja.cases")
pytestmark = pytest.mark.django_db
FUNCTIONS = "tests_hosts_packages_sites_ninja_api_"
TABLES = (models.Author, models.Book, models.Tag)
ONE = {"path": {"book_id": 1}}
WRITES = {
    f"{FUNCTIONS}create_book": {"body": {"title": "Mars", "author": 1, "author_id": 1}},
    f"{FUNCTIONS}change_book": {**ONE, "body": {"title": "Mars", "price": "2.25"}},
    f"{FUNCTIONS}delete_book": ONE,
    f"{FUNCTIONS}lend": {**ONE, "body": {"to": "Ada"}},
    f"{FUNCTIONS}loss.post": ONE,
    f"{FUNCTIONS}loss.delete": {"path": {"book_id": 3}},
    f"{FUNCTIONS}create_author": {"body": {"name": "Woolf"}},
    f"{FUNCTIONS}delete_author": {"path": {"author_id": 1}},
    # In async functions, or beside one.
    f"{FUNCTIONS}create_tag": {"body": {"name": "new"}},
    f"{FUNCTIONS}change_tag": {"path": {"tag_id": 1}, "body": {"name": "ocean"}},
    f"{FUNCTIONS}delete_tag": {"path": {"tag_id": 1}},
    "tag-count.post": {"body": {"name": "new"}},
}


@pytest.fixture
def boss():
    cases.make()
    return get_user_model().objects.create_superuser("ada", password="x")


def play(user, operation, **arguments):
    asked = [
        reply("", call("search_api", {"operation": operation})),
        reply("", call("call_api", {"operation": operation, **arguments})),
        "Done.",
    ]
    return run_assistant(user, "/admin/", "Do it", replies=asked)


def rows():
    """Return the columns of all rows, by table and key."""
    return {
        (model._meta.label_lower, str(row["id"])): row
        for model in TABLES
        for row in model.objects.values()
    }


def difference(before, after):
    """Return what has become of the rows: their kind of change, and the new columns."""
    found = {}
    for key in {*before, *after}:
        old, new = before.get(key), after.get(key)
        if new is None:
            found[key] = "delete"
        elif old is None:
            found[key[0], "new"] = "create"
        elif old != new:
            found[key] = {one: str(new[one]) for one in new if new[one] != old[one]}
    return found


def shown_in(proposal):
    """Return the same of what a person was shown, without the links of a row."""
    found = {}
    for one in proposal["objects"]:
        if one["model"] == "host.book_tags":
            continue
        key = one["model"], one["object_id"] or "new"
        fields = {field["attname"]: str(field["raw"]) for field in one["fields"]}
        found[key] = fields if one["kind"] == "change" else one["kind"]
    return found


@pytest.mark.parametrize("operation", WRITES)
def test_what_is_shown_happens_and_is_undone(boss, operation):
    before = rows()

    played = play(boss, operation, **WRITES[operation])
    assert played.state == "waiting_approval", played.calls
    assert rows() == before
    proposal = played.interrupts[0].proposal
    played = answer_interrupt(played, "approve")

    assert played.state == "succeeded", played.error
    assert played.calls[-1].status == "complete"
    happened = difference(before, rows())
    assert happened
    shown = shown_in(proposal) | {
        (one["model"], one["object_id"]): "delete"
        for one in proposal.get("related", ())
        if one.get("kind") == "delete" and one["model"] != "host.book_tags"
    }
    assert shown == happened
    target = UndoTarget(kind="run", id=played.run.pk)
    plan = read_plan(boss.pk, target)
    undo(UndoRequest(user_id=boss.pk, target=target, digest=plan.digest))
    assert difference(before, rows()) == {}


def test_nothing_is_left_of_what_is_denied(boss):
    before = state()

    played = play(boss, f"{FUNCTIONS}create_tag", body={"name": "new"})
    played = answer_interrupt(played, "deny")

    assert played.calls[-1].status == "denied"
    assert state()["host.Tag"] == before["host.Tag"]


def test_what_the_api_refuses_is_not_asked(boss):
    played = play(boss, f"{FUNCTIONS}lend", path={"book_id": 2}, body={"to": "Ada"})

    assert played.state == "succeeded"
    assert "lent already" in played.calls[-1].error


def test_external_is_shown_as_a_request(boss):
    traps.seen.clear()

    played = play(boss, "tests_hosts_packages_sites_ninja_traps_mailing")
    assert traps.seen == []
    (shown,) = played.interrupts[0].proposal["objects"]
    assert shown["text"] == "POST /api/traps/mailing"
    played = answer_interrupt(played, "approve")

    assert (played.state, traps.seen) == ("succeeded", ["mailed"])
