"""An undo of many rows is done in pieces that hold whole groups."""

import pytest
from django.db import DatabaseError
from django.db.models.signals import pre_save

from ai_assistant.changes.undo import groups
from ai_assistant.changes.undo.groups import groups_of, pieces_of
from ai_assistant.changes.undo.values import UndoRequest, UndoTarget
from ai_assistant.engine.undo import Undoing
from ai_assistant.exceptions import Refused
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.models.run import RunState
from tests.warehouse.models import Mark, Part, Product

pytestmark = pytest.mark.django_db

MARKS = 10


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Hold four rows at most in a piece."""
    monkeypatch.setattr(groups, "PIECE_ROWS", 4)


@pytest.fixture
def marks(scene):
    """Marks that one call has renamed: "new 0" was "old 0"."""
    made = [Mark.objects.create(name=f"old {n}") for n in range(MARKS)]
    scene.do(lambda: [renamed(mark, f"new {n}") for n, mark in enumerate(made)])
    return made


def renamed(mark, name):
    mark.name = name
    mark.save()


def undone():
    return set(Mark.objects.filter(name__startswith="old").values_list("pk", flat=True))


@pytest.fixture
def refuse():
    """Let the site refuse to save what a test names, with an error that it chooses."""
    told = {}

    def check(instance, **_):
        if (error := told.get(str(instance))) is not None:
            raise error

    for model in (Mark, Product):
        pre_save.connect(check, sender=model)
    yield told.__setitem__
    for model in (Mark, Product):
        pre_save.disconnect(check, sender=model)


@pytest.fixture
def undoing(scene):
    """An undo of all, which goes on step by step."""

    def begin():
        digest = scene.plan().digest
        user = scene.user.pk
        return Undoing(UndoRequest(user_id=user, target=scene.target, digest=digest))

    return begin


def keys(rows):
    return [row.key for row in rows]


class TestWhole:
    @pytest.mark.row("R05")
    def test_all_is_one_change_and_redone_at_once(self, scene, marks):
        before = RowChange.objects.count()

        done = scene.undo()

        assert len(done.rows) == len(undone()) == MARKS
        assert (done.reason, done.failed, done.untouched) == ("", [], [])
        change = ChangeSet.objects.get(kind="undo")
        assert change.pk == done.change_id
        assert list(change.rows.values_list("order", flat=True)) == [*range(MARKS)]
        assert not RowChange.objects.filter(
            change_set__kind="call", undone_by=None
        ).exists()

        again = scene.redo(done)

        assert (len(again.rows), undone()) == (MARKS, set())
        assert scene.plan().does_something
        assert RowChange.objects.count() == before + 2 * MARKS

    def test_each_step_is_a_piece(self, marks, undoing):
        work, counts = undoing(), []
        while work.step():
            counts.append(len(undone()))

        assert [*counts, len(undone())] == [0, 4, 8, 10]

    def test_few_rows_are_one_step(self, scene, stock, undoing):
        scene.do(lambda: renamed(stock.marks[0], "x"))

        assert not undoing().step()
        assert stock.marks[0].__class__.objects.filter(name="green").exists()


class TestError:
    @pytest.mark.row("R05")
    @pytest.mark.parametrize("error", [RuntimeError("no"), DatabaseError("no")])
    def test_ends_after_the_last_whole_group(self, scene, marks, refuse, error):
        # The newest is undone first: the seventh of them is "old 3".
        refuse("old 3", error)

        done = scene.undo()

        assert undone() == {mark.pk for mark in marks[4:]}
        assert keys(done.rows) == [f"warehouse.mark:{m.pk}" for m in marks[:3:-1]]
        assert keys(done.failed) == [f"warehouse.mark:{marks[3].pk}"]
        assert keys(done.untouched) == [f"warehouse.mark:{m.pk}" for m in marks[2::-1]]
        assert "refused" in done.reason

    def test_goes_on_with_what_is_left(self, scene, marks, refuse):
        refuse("old 3", RuntimeError("no"))
        scene.undo()
        refuse("old 3", None)
        assert len(scene.plan().rows) == 4

        done = scene.undo()

        assert (len(done.rows), len(undone())) == (4, MARKS)
        assert scene.plan().rows == []

    def test_is_taken_back(self, scene, marks, refuse):
        refuse("old 3", RuntimeError("no"))
        done = scene.undo()

        scene.redo(done)

        assert undone() == set()
        assert len(scene.plan().rows) == MARKS

    def test_first_row_leaves_all_as_it_was(self, scene, marks, refuse):
        refuse("old 9", RuntimeError("no"))

        with pytest.raises(Refused) as refused:
            scene.undo()

        assert refused.value.code == "undo_failed"
        assert not undone()
        assert not ChangeSet.objects.exclude(kind="call").exists()

    def test_nothing_of_a_group_is_done(self, scene, stock, refuse):
        for product in (stock.lamp, stock.chair, stock.locked):
            parts = [Part(product=product, code=f"n{n}") for n in range(2)]
            parts = Part.objects.bulk_create(parts)
        everything = Part.objects.count()
        scene.do(lambda: [one.delete() for one in Product.objects.all()])
        refuse("Chair", RuntimeError("no"))

        done = scene.undo()

        assert {"Lamp": 3, "locked safe": 2}.items() >= {
            product.name: product.parts.count() for product in Product.objects.all()
        }.items()
        assert not Product.objects.filter(name="Chair").exists()
        assert len(done.failed) == 3
        refuse("Chair", None)
        scene.undo()
        assert Part.objects.count() == everything


class TestBetweenPieces:
    """What happens while others may write."""

    def test_stop(self, marks, undoing):
        work = undoing()
        work.step()
        work.step()
        ChangeSet.objects.filter(kind="undo").update(stop_requested=True)

        assert not work.step()

        assert len(undone()) == len(work.undone.rows) == 4
        assert len(work.undone.untouched) == MARKS - 4
        assert work.undone.reason == "It was stopped."

    def test_row_that_a_person_changes(self, marks, undoing):
        work = undoing()
        work.step()
        work.step()
        Mark.objects.filter(pk=marks[4].pk).update(name="by hand")

        while work.step():
            pass

        assert undone() == {mark.pk for mark in marks[5:]}
        assert keys(work.undone.failed) == [f"warehouse.mark:{marks[4].pk}"]
        assert Mark.objects.get(pk=marks[4].pk).name == "by hand"

    def test_run_that_starts(self, scene, marks, undoing):
        work = undoing()
        work.step()
        work.step()
        scene.run.state = RunState.RUNNING
        scene.run.save(update_fields=["state"])

        assert not work.step()
        assert (len(undone()), "still working" in work.undone.reason) == (4, True)

    def test_permission_that_is_lost(self, scene, marks, undoing):
        work = undoing()
        work.step()
        work.step()
        scene.user.is_active = False
        scene.user.save()

        assert not work.step()
        assert (len(undone()), len(work.undone.untouched)) == (4, MARKS - 4)

    def test_another_tab_that_undoes_the_rest(self, scene, marks, undoing):
        first = undoing()
        first.step()
        first.step()

        second = scene.undo()

        assert not first.step()
        assert (len(second.rows), len(undone())) == (MARKS - 4, MARKS)
        assert len(RowChange.objects.filter(change_set__kind="undo")) == MARKS

    def test_killed_and_asked_again(self, scene, marks, undoing):
        killed = undoing()
        killed.step()
        killed.step()
        del killed

        scene.undo()

        assert len(undone()) == MARKS
        for change in ChangeSet.objects.filter(kind="undo").order_by("-created_at"):
            scene.undo(UndoTarget(kind="change", id=change.pk))
        assert undone() == set()


class TestGroups:
    def found(self, scene):
        return [
            {row.object_id for row in group if row.model == "warehouse.product"}
            for group in groups_of(scene.plan().rows)
        ]

    def test_unique_values_that_were_swapped(self, scene, stock):
        others = [
            Product.objects.create(name=f"P{n}", sku=f"P{n}", supplier=stock.acme)
            for n in range(4)
        ]

        def swap():
            for one, sku in zip(others, ("P1", "x", "P2", "P3"), strict=True):
                Product.objects.filter(pk=one.pk).update(sku=f"parked {sku}")
            for one, sku in zip(others, ("P1", "P0", "y", "z"), strict=True):
                Product.objects.filter(pk=one.pk).update(sku=sku)
            Product.objects.filter(pk=stock.lamp.pk).update(note="x")

        scene.do(swap)

        tied = {str(others[0].pk), str(others[1].pk)}
        assert tied in self.found(scene)
        assert {str(stock.lamp.pk)} in self.found(scene)

    def test_what_points_to_the_same_row_is_not_tied_by_it(self, scene, stock):
        every = [stock.lamp, stock.chair, stock.locked]
        more = [
            Product.objects.create(name=f"P{n}", sku=f"P{n}", supplier=stock.acme)
            for n in range(2)
        ]
        scene.do(lambda: Product.objects.update(note="x"))

        assert len(self.found(scene)) == len([*every, *more])

    def test_small_change_stays_together(self, scene, stock):
        scene.do(lambda: [renamed(mark, f"x {mark.name}") for mark in stock.marks[:2]])
        scene.do(lambda: renamed(stock.marks[2], "x"))

        plan = scene.plan()

        assert sorted(map(len, groups_of(plan.rows))) == [1, 2]
        assert [len(piece.rows) for piece in pieces_of(groups_of(plan.rows))] == [3]
