"""An undo of many rows is done in pieces that hold whole groups."""

import pytest
from django.db import DatabaseError
from django.db.models import Value
from django.db.models.functions import Replace
from django.db.models.signals import pre_save

from ai_assistant.changes.undo import groups
from ai_assistant.changes.undo.groups import groups_of, pieces_of
from ai_assistant.changes.undo.values import Outcome, UndoRequest, UndoTarget
from ai_assistant.engine.undo import Undoing, read_progress, stop_undo
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


@pytest.mark.broad
def test_database_error_at_row_700_of_1000(scene, refuse, monkeypatch):
    monkeypatch.undo()  # pieces of their usual size
    every = Mark.objects.bulk_create(Mark(name=f"old {n}") for n in range(1000))
    renaming = Mark.objects.filter(name__startswith="old")
    scene.do(lambda: renaming.update(name=Replace("name", Value("old"), Value("new"))))
    refuse("old 300", DatabaseError("no"))

    done = scene.undo()

    assert undone() == {mark.pk for mark in every[301:]}
    assert keys(done.failed) == [f"warehouse.mark:{every[300].pk}"]
    assert (len(done.rows), len(done.untouched)) == (699, 300)
    assert RowChange.objects.filter(change_set__kind="undo").count() == 699
    refuse("old 300", None)
    scene.undo()
    assert len(undone()) == 1000


class TestGoOn:
    """What is done then is what the plan of the rest showed."""

    @pytest.fixture
    def ended(self, scene, marks, refuse):
        """An undo that ended at "old 3", which the site would let through now."""
        refuse("old 3", RuntimeError("no"))
        done = scene.undo()
        refuse("old 3", None)
        return done

    def test_plan_is_of_what_failed_and_was_not_reached(self, scene, ended):
        rest = scene.plan().rows

        assert keys(rest) == keys([*ended.failed, *ended.untouched])
        assert {row.outcome for row in rest} == {Outcome.RESTORE}

    def test_what_is_done_is_not_done_again(self, scene, marks, ended):
        Mark.objects.filter(pk=marks[9].pk).update(name="by hand")
        digest = scene.plan().digest
        Mark.objects.filter(pk=marks[8].pk).update(name="by hand too")

        done = scene.undo(digest=digest)

        assert keys(done.rows) == keys([*ended.failed, *ended.untouched])
        assert Mark.objects.get(pk=marks[9].pk).name == "by hand"
        assert Mark.objects.get(pk=marks[8].pk).name == "by hand too"
        assert RowChange.objects.filter(change_set__kind="undo").count() == MARKS

    def test_plan_from_before_does_nothing(self, scene, marks, refuse):
        first = scene.plan().digest
        refuse("old 3", RuntimeError("no"))
        scene.undo(digest=first)
        refuse("old 3", None)
        so_far = undone()

        done = scene.undo(digest=first)

        assert (len(done.moved.rows), undone()) == (4, so_far)

    def test_row_that_a_person_has_changed_since_the_plan(self, scene, marks, ended):
        digest, so_far = scene.plan().digest, undone()
        Mark.objects.filter(pk=marks[1].pk).update(name="by hand")

        done = scene.undo(digest=digest)

        assert undone() == so_far
        assert [row.outcome for row in done.moved.rows].count(Outcome.CONFLICT) == 1
        again = scene.undo(digest=done.moved.digest)
        assert len(again.rows) == 3
        assert Mark.objects.get(pk=marks[1].pk).name == "by hand"

    def test_permission_that_is_lost_since(self, scene, marks, ended):
        digest, so_far = scene.plan().digest, undone()
        scene.user.is_active = False
        scene.user.save()

        with pytest.raises(Refused):
            scene.undo(digest=digest)

        assert undone() == so_far

    def test_both_parts_are_taken_back_one_by_one(self, scene, ended):
        second = scene.undo()
        assert second.change_id != ended.change_id

        scene.redo(second)
        assert keys(scene.plan().rows) == keys([*ended.failed, *ended.untouched])
        scene.redo(ended)

        assert undone() == set()

    def test_ends_again_at_the_same_row(self, scene, marks, ended, refuse):
        refuse("old 3", RuntimeError("no"))

        with pytest.raises(Refused) as refused:
            scene.undo()

        assert refused.value.code == "undo_failed"
        rows = keys(scene.plan().rows)
        done = scene.undo(rows=rows[1:])  # Undo the others without it
        assert (len(done.rows), len(undone())) == (3, MARKS - 1)


class TestBetweenPieces:
    """What happens while others may write."""

    def test_stop(self, scene, marks, undoing):
        work = undoing()
        work.step()
        work.step()
        stop_undo(scene.user.pk, scene.target)

        assert not work.step()

        assert len(undone()) == len(work.undone.rows) == 4
        assert len(work.undone.untouched) == MARKS - 4
        assert work.undone.reason == "It was stopped."

    def test_stop_before_the_first(self, scene, marks, undoing):
        work = undoing()
        work.step()
        stop_undo(scene.user.pk, scene.target)

        assert read_progress(scene.user.pk, scene.target).is_stopping
        assert not work.step()

        assert (undone(), work.undone.rows) == (set(), [])
        assert len(work.undone.untouched) == MARKS
        assert work.undone.reason == "It was stopped."
        assert not ChangeSet.objects.filter(kind="undo").exists()

    @pytest.mark.parametrize("size", [4, 200])
    def test_stop_while_the_plan_is_compared(
        self, scene, marks, undoing, monkeypatch, size
    ):
        monkeypatch.setattr(groups, "PIECE_ROWS", size)
        work = undoing()
        stop_undo(scene.user.pk, scene.target)

        while work.step():
            pass

        assert (undone(), work.undone.reason) == (set(), "It was stopped.")
        assert len(work.undone.untouched) == MARKS

    def test_stop_is_over_when_another_one_begins(self, scene, marks, undoing):
        first = undoing()
        first.step()
        stop_undo(scene.user.pk, scene.target)
        first.step()

        second = undoing()
        second.step()

        assert not read_progress(scene.user.pk, scene.target).is_stopping
        while second.step():
            pass
        assert (len(undone()), second.undone.reason) == (MARKS, "")

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
