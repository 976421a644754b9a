"""Two undos of the same changes at once: one of them does it."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections

from ai_assistant.changes.undo import groups
from ai_assistant.changes.undo.values import UndoRequest
from ai_assistant.engine.storage import units
from ai_assistant.engine.undo import Undoing, read_progress, stop_undo
from ai_assistant.exceptions import Refused
from ai_assistant.models.change import ChangeSet
from tests.engine.people import locked
from tests.warehouse.models import Mark, Product

pytestmark = pytest.mark.django_db


def test_two_at_once_undo_once(scene, stock):
    values = {"name": "Lantern"}
    model, own = "warehouse.product", stock.lamp.pk
    scene.call("change_object", model=model, id=own, values=values)
    digest = scene.plan().digest

    def undo():
        try:
            return scene.undo(digest=digest)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        done = [one.result() for one in [pool.submit(undo), pool.submit(undo)]]

    assert sorted(one.done for one in done) == [False, True]
    assert ChangeSet.objects.filter(kind="undo").count() == 1
    assert Product.objects.get(pk=own).name == "Lamp"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL only")
class TestHeldRow:
    """Another transaction holds a row: nothing is half undone, and it is said."""

    @pytest.fixture(autouse=True)
    def _short(self, monkeypatch):
        monkeypatch.setattr(units, "FIRST_WAIT_S", 0.02)
        monkeypatch.setattr(units, "LOCK_WAIT_S", 0.05)

    @pytest.fixture
    def marks(self, scene):
        """Marks that one call has renamed."""
        made = [Mark.objects.create(name=f"old {n}") for n in range(6)]

        def rename():
            for mark in made:
                Mark.objects.filter(pk=mark.pk).update(name=f"new {mark.pk}")

        scene.do(rename)
        return made

    def old(self):
        return Mark.objects.filter(name__startswith="old").count()

    def test_nothing_is_done_until_it_is_free(self, scene, marks):
        digest = scene.plan().digest

        with locked(marks[3]), pytest.raises(Refused, match="Try again in a mo") as why:
            scene.undo(digest=digest)

        assert (why.value.code, self.old()) == ("locked", 0)
        assert not ChangeSet.objects.filter(kind="undo").exists()
        scene.undo(digest=digest)
        assert self.old() == len(marks)

    def test_stop_waits_for_none(self, scene, marks):
        with locked(ChangeSet.objects.get()):
            stop_undo(scene.user.pk, scene.target)

            assert read_progress(scene.user.pk, scene.target).is_stopping

    def test_plan_is_read_meanwhile(self, scene, marks):
        with locked(marks[3]):
            assert len(scene.plan().rows) == len(marks)

    def test_pieces_before_it_stay(self, scene, marks, monkeypatch):
        monkeypatch.setattr(groups, "PIECE_ROWS", 2)

        undoing = Undoing(
            UndoRequest(
                user_id=scene.user.pk, target=scene.target, digest=scene.plan().digest
            )
        )
        assert undoing.step()
        assert undoing.step()
        assert undoing.step()

        with locked(marks[0]):  # of the last piece: the newest is undone first
            assert not undoing.step()

        done = undoing.undone
        assert self.old() == len(done.rows) == 4
        assert "Try again in a moment." in done.reason
        assert {row.key for row in (*done.failed, *done.untouched)} == {
            f"warehouse.mark:{mark.pk}" for mark in marks[:2]
        }
        scene.undo()
        assert self.old() == len(marks)
