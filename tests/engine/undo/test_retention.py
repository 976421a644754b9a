"""Images age out: then a change cannot be undone any more, and everything says so."""

from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.core.management import call_command

from ai_assistant import conf
from ai_assistant.changes.capture.files import backup_storage, store_content
from ai_assistant.changes.undo.values import Outcome
from ai_assistant.exceptions import Refused
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.change import ChangeSet, FileChange
from ai_assistant.render.html.diffs.changes import changes_of_runs, undo_offer
from tests.warehouse.models import Product

pytestmark = pytest.mark.django_db

MODEL = "warehouse.product"


@pytest.fixture
def keep(settings):
    def days(**changed):
        settings.AI_ASSISTANT = conf.merged(
            settings.AI_ASSISTANT, {"RETENTION": changed}
        )

    return days


@pytest.fixture
def made(scene, stock):
    values = {"model": MODEL, "id": stock.lamp.pk, "values": {"note": "x"}}
    return scene.call("change_object", **values)


def purge():
    call_command("assistant_purge", verbosity=0)


def drawn(scene):
    return changes_of_runs([scene.run.pk])[scene.run.pk]


def age(change, days):
    made_at = change.created_at - timedelta(days=days)
    ChangeSet.objects.filter(pk=change.pk).update(created_at=made_at)


def test_images_and_old_files_go(scene, made, keep, stock, capsys):
    keep(UNDO_DAYS=30)
    name = store_content(ContentFile(b"old"), str(made.pk))
    FileChange.objects.create(row=made.rows.first(), field="cover", stash=name)
    age(made, 31)

    call_command("assistant_purge")

    assert "1 images of changes deleted." in capsys.readouterr().out
    assert not any(row.has_images for row in made.rows.all())
    assert ("note" in made.rows.get(model=MODEL).fields) is True
    assert AuditEntry.objects.get(action="images.purged").details["images"] == 1
    (row,) = scene.plan().rows
    assert (row.outcome, row.text) == (Outcome.BLOCKED, "Lamp")
    assert "not kept" in row.reason
    with pytest.raises(Refused):
        scene.undo()
    assert Product.objects.get(pk=stock.lamp.pk).note == "x"
    shown = drawn(scene)
    assert shown["undo"]["url"] == ""
    assert undo_offer(shown) is None
    assert [one["fields"] for one in shown["objects"]] == [[]]


@pytest.mark.django_db(transaction=True)
def test_old_files_are_deleted_from_their_storage(scene, made, keep):
    keep(UNDO_DAYS=30)
    name = store_content(ContentFile(b"old"), str(made.pk))
    FileChange.objects.create(row=made.rows.first(), field="cover", stash=name)
    age(made, 31)

    purge()

    assert not backup_storage().exists(name)


def test_younger_ones_stay(scene, made, keep):
    keep(UNDO_DAYS=30)
    age(made, 29)

    purge()

    assert scene.plan().does_something


def test_redo_of_an_undo_goes_too(scene, made, keep):
    keep(UNDO_DAYS=30)
    undone = scene.undo()
    assert drawn(scene)["undo"]["redo"]
    age(ChangeSet.objects.get(pk=undone.change_id), 31)

    purge()

    assert drawn(scene)["undo"]["redo"] == ""


@pytest.mark.parametrize(
    ("days", "until"),
    [
        ({}, None),
        ({"UNDO_DAYS": 30}, 30),
        ({"CONVERSATION_DAYS": 20}, 20),
        ({"UNDO_DAYS": 30, "CONVERSATION_DAYS": 20}, 20),
        ({"UNDO_DAYS": 10, "CONVERSATION_DAYS": 20}, 10),
    ],
)
def test_message_says_until_when(scene, made, keep, days, until):
    keep(**days)

    said = drawn(scene)["undo"]["until"]

    expected = None if until is None else made.created_at + timedelta(days=until)
    assert said == expected
