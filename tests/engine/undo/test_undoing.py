"""What the assistant changed is taken back, and no person's work with it."""

import uuid

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.db.models.signals import pre_save

from ai_assistant.changes.undo.values import Outcome, UndoTarget
from ai_assistant.exceptions import Refused
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.models.run import RunState
from tests.tools.data.writing import columns
from tests.warehouse.models import Mark, Movement, Part, Product, Remark

pytestmark = pytest.mark.django_db

MODEL = "warehouse.product"


def change(scene, product, **values):
    return scene.call("change_object", model=MODEL, id=product.pk, values=values)


def code_of(work) -> str:
    with pytest.raises(Refused) as refused:
        work()
    return refused.value.code


class TestUndo:
    @pytest.mark.row("R05")
    def test_change_is_undone_and_redone(self, scene, stock):
        before = columns(stock.lamp)
        change(scene, stock.lamp, name="Lantern", price="5.00")
        left = columns(Product.objects.get(pk=stock.lamp.pk))

        undone = scene.undo()

        assert columns(Product.objects.get(pk=stock.lamp.pk)) == before
        assert undone.differing == []
        assert scene.plan().rows == []
        scene.redo(undone)
        assert columns(Product.objects.get(pk=stock.lamp.pk)) == left
        assert scene.plan().does_something

    def test_created_object_goes(self, scene, stock):
        scene.call(
            "create_object",
            model=MODEL,
            values={"name": "Bed", "sku": "B-1", "supplier": stock.lamp.supplier_id},
            inlines={"parts": [{"code": "leg"}]},
        )

        undone = scene.undo()

        assert not Product.objects.filter(name="Bed").exists()
        assert not Part.objects.filter(code="leg").exists()
        scene.redo(undone)
        assert Part.objects.get(code="leg").product.name == "Bed"

    @pytest.mark.row("R05")
    def test_deleted_object_comes_back_with_all_that_went_along(self, scene, stock):
        remark = Remark.objects.create(product=stock.lamp, text="Bright")
        before = columns(stock.lamp)
        parts = list(Part.objects.values())
        marks = set(stock.lamp.marks.all())
        scene.call("delete_objects", model=MODEL, ids=[stock.lamp.pk])

        scene.undo()

        lamp = Product.objects.get(pk=stock.lamp.pk)
        assert columns(lamp) == before
        assert list(Part.objects.values()) == parts
        assert set(lamp.marks.all()) == marks
        remark.refresh_from_db()
        assert remark.product == lamp

    def test_two_calls_on_one_object_are_one(self, scene, stock):
        change(scene, stock.lamp, name="A")
        change(scene, stock.lamp, name="B", price="7.00")

        (row,) = scene.plan().rows

        assert {one.name for one in row.fields} >= {"name", "price"}
        scene.undo()
        lamp = Product.objects.get(pk=stock.lamp.pk)
        assert (lamp.name, lamp.price) == ("Lamp", stock.lamp.price)

    def test_one_call_under_a_newer_one_is_a_conflict(self, scene, stock):
        first = change(scene, stock.lamp, name="A")
        change(scene, stock.lamp, name="B")

        target = UndoTarget(kind="call", id=first.call_id)

        (row,) = scene.plan(target).rows
        assert row.outcome == Outcome.CONFLICT
        assert "assistant" in row.changed_by

    def test_some_rows(self, scene, stock):
        change(scene, stock.lamp, note="x")
        change(scene, stock.chair, note="x")

        scene.undo(rows=[f"{MODEL}:{stock.lamp.pk}"])

        assert Product.objects.get(pk=stock.lamp.pk).note == ""
        assert Product.objects.get(pk=stock.chair.pk).note == "x"
        (left,) = scene.plan().rows
        assert left.object_id == str(stock.chair.pk)

    def test_row_that_needs_another(self, scene, stock):
        scene.call("delete_objects", model=MODEL, ids=[stock.lamp.pk])
        part = scene.row(model="warehouse.part")

        assert code_of(lambda: scene.undo(rows=[part.key])) == "incomplete"
        assert not Part.objects.exists()

    def test_history_audit_and_signals_hear_of_it(self, scene, stock):
        change(scene, stock.lamp, name="Lantern")
        saved = []

        def heard(instance, **_):
            saved.append(instance.name)

        pre_save.connect(heard, sender=Product)
        try:
            scene.undo()
        finally:
            pre_save.disconnect(heard, sender=Product)

        assert saved == ["Lamp"]
        entry = LogEntry.objects.latest("pk")
        assert entry.object_id == str(stock.lamp.pk)
        assert "Undone: " in entry.change_message
        assert str(scene.run.pk)[:8] in entry.change_message
        audit = AuditEntry.objects.get(action="change.undone")
        assert audit.details["objects"] == [f"change {MODEL}:{stock.lamp.pk}"]

    def test_swapped_unique_values(self, scene, stock):
        lamp, chair = stock.lamp, stock.chair
        old = lamp.sku, chair.sku

        def swap():
            Product.objects.filter(pk=lamp.pk).update(sku="parked")
            Product.objects.filter(pk=chair.pk).update(sku=old[0])
            Product.objects.filter(pk=lamp.pk).update(sku=old[1])

        scene.do(swap)

        scene.undo()

        lamp.refresh_from_db()
        chair.refresh_from_db()
        assert (lamp.sku, chair.sku) == old


class TestConflict:
    """A person has changed something since."""

    def test_other_field_of_a_person_stays(self, scene, stock):
        change(scene, stock.lamp, name="Lantern")
        Product.objects.filter(pk=stock.lamp.pk).update(note="by hand")

        scene.undo()

        lamp = Product.objects.get(pk=stock.lamp.pk)
        assert (lamp.name, lamp.note) == ("Lamp", "by hand")

    @pytest.mark.row("R05")
    def test_same_field_stays_unless_it_is_overruled(self, scene, stock):
        change(scene, stock.lamp, name="Lantern", price="5.00")
        other = get_user_model().objects.create_user("eve")
        Product.objects.filter(pk=stock.lamp.pk).update(name="Torch")
        LogEntry.objects.create(
            user=other,
            content_type_id=LogEntry.objects.latest("pk").content_type_id,
            object_id=str(stock.lamp.pk),
            object_repr="Torch",
            action_flag=2,
        )
        (row,) = scene.plan().rows
        (name,) = [one for one in row.fields if one.name == "name"]
        assert (row.outcome, row.changed_by) == (Outcome.CONFLICT, "eve")
        assert (name.now, name.left, name.restored) == ("Torch", "Lantern", "Lamp")

        scene.undo()

        lamp = Product.objects.get(pk=stock.lamp.pk)
        assert (lamp.name, lamp.price) == ("Torch", stock.lamp.price)

    def test_overruled(self, scene, stock):
        change(scene, stock.lamp, name="Lantern")
        Product.objects.filter(pk=stock.lamp.pk).update(name="Torch")

        scene.undo(overruled=[f"{MODEL}:{stock.lamp.pk}"])

        assert Product.objects.get(pk=stock.lamp.pk).name == "Lamp"

    def test_texts_are_merged(self, scene, stock):
        Product.objects.filter(pk=stock.lamp.pk).update(note="one two three four")
        change(scene, stock.lamp, note="one 2 three four")
        Product.objects.filter(pk=stock.lamp.pk).update(note="one 2 three and four")

        scene.undo()

        lamp = Product.objects.get(pk=stock.lamp.pk)
        assert lamp.note == "one two three and four"

    def test_person_between_two_calls_is_kept(self, scene, stock):
        change(scene, stock.lamp, name="A")
        Product.objects.filter(pk=stock.lamp.pk).update(name="by hand")
        change(scene, stock.lamp, name="B")

        scene.undo()

        assert Product.objects.get(pk=stock.lamp.pk).name == "by hand"

    def test_deleted_since(self, scene, stock):
        change(scene, stock.chair, name="Stool")
        Product.objects.filter(pk=stock.chair.pk).delete()

        (row,) = scene.plan().rows

        assert row.outcome == Outcome.GONE
        assert code_of(scene.undo) == "nothing"

    def test_built_upon_since(self, scene, stock):
        scene.call("create_object", model="warehouse.mark", values={"name": "New"})
        mark = Mark.objects.get(name="New")
        stock.lamp.marks.add(mark)

        (row,) = scene.plan().rows

        assert (row.outcome, row.can_overrule) == (Outcome.CONFLICT, False)
        assert code_of(lambda: scene.undo(overruled=[row.key])) == "nothing"
        assert Mark.objects.filter(pk=mark.pk).exists()

    def test_protected_since(self, scene, stock):
        values = {"name": "Bed", "sku": "B-1", "supplier": stock.lamp.supplier_id}
        scene.call("create_object", model=MODEL, values=values)
        Movement.objects.create(product=Product.objects.get(sku="B-1"))

        (row,) = scene.plan().rows

        assert (row.outcome, "1 moved" in row.reason) == (Outcome.CONFLICT, True)

    def test_what_came_along_and_was_changed_since_keeps_its_object(self, scene, stock):
        values = {"name": "Bed", "sku": "B-1", "supplier": stock.lamp.supplier_id}
        inlines = {"parts": [{"code": "leg"}, {"code": "slat"}]}
        scene.call("create_object", model=MODEL, values=values, inlines=inlines)
        Part.objects.filter(code="leg").update(count=4)

        row = scene.row(model=MODEL)
        scene.undo()

        assert (row.outcome, row.can_overrule) == (Outcome.CONFLICT, False)
        assert "leg" in row.reason
        assert Part.objects.get(code="leg").count == 4
        assert not Part.objects.filter(code="slat").exists()
        legs = scene.row(object_id=str(Part.objects.get(code="leg").pk))
        scene.undo(overruled=[legs.key])
        scene.undo()
        assert not Product.objects.filter(name="Bed").exists()

    def test_created_and_changed_since(self, scene):
        scene.call("create_object", model="warehouse.mark", values={"name": "New"})
        Mark.objects.update(name="Newer")

        (row,) = scene.plan().rows

        assert (row.outcome, row.can_overrule) == (Outcome.CONFLICT, True)
        scene.undo(overruled=[row.key])
        assert not Mark.objects.exists()

    def test_unique_value_is_taken(self, scene, stock):
        old = stock.lamp.sku
        change(scene, stock.lamp, sku="S-9", note="x")
        Product.objects.filter(pk=stock.chair.pk).update(sku=old)

        scene.undo()

        lamp = Product.objects.get(pk=stock.lamp.pk)
        assert (lamp.sku, lamp.note) == ("S-9", "")

    def test_unique_value_of_a_deleted_one_is_taken(self, scene, stock):
        scene.call("delete_objects", model=MODEL, ids=[stock.lamp.pk])
        Product.objects.filter(pk=stock.chair.pk).update(sku=stock.lamp.sku)

        row = scene.row(model=MODEL)

        assert row.outcome == Outcome.BLOCKED
        # What goes with it cannot come back alone.
        assert scene.row(model="warehouse.part").outcome == Outcome.BLOCKED

    def test_unique_value_is_taken_by_what_keeps_it(self, scene, stock):
        scene.call("delete_objects", model=MODEL, ids=[stock.chair.pk])
        change(scene, stock.lamp, note="x")
        Product.objects.filter(pk=stock.lamp.pk).update(sku=stock.chair.sku)

        scene.undo()

        assert not Product.objects.filter(pk=stock.chair.pk).exists()
        lamp = Product.objects.get(pk=stock.lamp.pk)
        assert (lamp.sku, lamp.note) == (stock.chair.sku, "")

    def test_foreign_key_is_gone(self, scene, stock):
        supplier = stock.lamp.supplier
        other = type(supplier).objects.create(name="Other", code="O")
        change(scene, stock.lamp, supplier=other.pk, note="x")
        Product.objects.exclude(pk=stock.lamp.pk).update(supplier=other)
        supplier.delete()

        scene.undo()

        lamp = Product.objects.get(pk=stock.lamp.pk)
        assert (lamp.supplier, lamp.note) == (other, "")


class TestByAdmin:
    """A ModelAdmin that wants an undo to go through its own methods."""

    @pytest.fixture(autouse=True)
    def told(self, monkeypatch):
        found, own = [], admin.site.get_model_admin(Mark)
        save, delete = own.save_model, own.delete_model

        def save_model(request, obj, form, change):
            found.append((request.method, change, obj.name, form.changed_data))
            obj.name = obj.name.upper()
            save(request, obj, form, change)

        def delete_model(request, obj):
            found.append(("delete", obj.name))
            delete(request, obj)

        monkeypatch.setattr(own, "assistant_undo", "admin", raising=False)
        monkeypatch.setattr(own, "save_model", save_model)
        monkeypatch.setattr(own, "delete_model", delete_model)
        return found

    def test_change(self, scene, stock, told):
        scene.do(lambda: Mark.objects.filter(name="green").update(name="x"))

        undone = scene.undo()

        assert told == [("POST", True, "green", ["name"])]
        assert undone.differing == []
        assert Mark.objects.filter(name="green").exists()

    def test_deleted_and_created(self, scene, stock, told):
        scene.do(Mark.objects.get(name="old").delete)
        undone = scene.undo()
        scene.redo(undone)

        (saved, deleted) = told
        assert (saved[:3], {*saved[3]}) == (
            ("POST", False, "old"),
            {"id", "name", "remark"},
        )
        assert deleted == ("delete", "old")
        assert not Mark.objects.filter(name="old").exists()


class TestRefused:
    def test_moved_since_the_plan(self, scene, stock):
        change(scene, stock.lamp, name="Lantern")
        digest = scene.plan().digest
        Product.objects.filter(pk=stock.lamp.pk).update(note="moved")

        undone = scene.undo(digest=digest)

        assert undone.moved.digest == scene.plan().digest != digest
        assert Product.objects.get(pk=stock.lamp.pk).name == "Lantern"
        assert not ChangeSet.objects.exclude(kind="call").exists()

    def test_twice(self, scene, stock):
        change(scene, stock.lamp, name="Lantern")
        digest = scene.plan().digest
        scene.undo(digest=digest)

        assert scene.undo(digest=digest).moved.rows == []
        assert ChangeSet.objects.exclude(kind="call").count() == 1

    def test_nothing_to_undo(self, scene):
        assert code_of(scene.undo) == "nothing"

    def test_another_user(self, scene, stock, clerk):
        change(scene, stock.lamp, name="Lantern")

        assert code_of(lambda: scene.plan(user=clerk)) == "not_found"

    def test_another_user_who_may_undo(self, scene, stock, boss, clerk):
        change(scene, stock.lamp, name="Lantern")
        from django.contrib.auth.models import Permission

        clerk.user_permissions.add(Permission.objects.get(codename="undo_changes"))

        undone = scene.undo(user=clerk)

        made = ChangeSet.objects.get(pk=undone.change_id)
        assert (made.user, made.kind, made.run) == (clerk, "undo", scene.run)
        assert Product.objects.get(pk=stock.lamp.pk).name == "Lamp"

    def test_unknown(self, scene):
        target = UndoTarget(kind="change", id=uuid.uuid4())

        assert code_of(lambda: scene.plan(target)) == "not_found"

    def test_while_a_run_works(self, scene, stock):
        change(scene, stock.lamp, name="Lantern")
        scene.run.state = RunState.RUNNING
        scene.run.save(update_fields=["state"])

        assert code_of(scene.undo) == "busy"

    @pytest.mark.row("R05")
    def test_site_that_raises_leaves_nothing_half_done(self, scene, stock):
        change(scene, stock.lamp, name="Lantern")
        change(scene, stock.chair, name="Stool")

        def refuse(instance, **_):
            if instance.name == "Lamp":
                raise RuntimeError("no")

        pre_save.connect(refuse, sender=Product)
        try:
            assert code_of(scene.undo) == "undo_failed"
        finally:
            pre_save.disconnect(refuse, sender=Product)

        names = set(Product.objects.values_list("name", flat=True))
        assert {"Lantern", "Stool"} <= names
        assert not RowChange.objects.exclude(undone_by=None).exists()


class TestPermission:
    """It is that of now, for each object."""

    def test_object_that_is_locked_by_now(self, scene, stock):
        change(scene, stock.lamp, note="x")
        Product.objects.filter(pk=stock.lamp.pk).update(name="locked lamp")

        (row,) = scene.plan().rows

        assert row.outcome == Outcome.BLOCKED
        assert code_of(scene.undo) == "nothing"

    def test_hidden_object(self, scene, stock):
        change(scene, stock.lamp, note="x")
        Product.objects.filter(pk=stock.lamp.pk).update(name="hidden")

        assert scene.plan().rows[0].outcome == Outcome.BLOCKED

    def test_field_that_is_read_only_by_now(self, scene, stock):
        change(scene, stock.lamp, price="5.00", note="x")
        Product.objects.filter(pk=stock.lamp.pk).update(status="sold")

        scene.undo()

        lamp = Product.objects.get(pk=stock.lamp.pk)
        assert (str(lamp.price), lamp.note) == ("5.00", "")

    def test_permission_that_is_lost(self, scene_of, clerk, stock):
        scene = scene_of(clerk)
        change(scene, stock.lamp, note="x")
        clerk.user_permissions.filter(codename="change_product")
        clerk.user_permissions.remove(
            clerk.user_permissions.get(codename="change_product")
        )

        assert scene.plan().rows[0].outcome == Outcome.BLOCKED

    def test_rights_of_a_group_do_not_come_back(self, scene):
        group = Group.objects.create(name="Clerks")
        group.permissions.add(*Permission.objects.all()[:2])
        scene.do(group.delete)

        links = [row for row in scene.plan().rows if row.action == "link"]
        scene.undo()

        assert {row.outcome for row in links} == {Outcome.BLOCKED}
        assert len(links) == 2
        assert not Group.objects.get(name="Clerks").permissions.exists()

    def test_who_may_not_delete(self, scene_of, clerk, boss, stock):
        scene = scene_of(boss)
        values = {"name": "Bed", "sku": "B-1", "supplier": stock.lamp.supplier_id}
        scene.call("create_object", model=MODEL, values=values)
        from django.contrib.auth.models import Permission

        clerk.user_permissions.add(Permission.objects.get(codename="undo_changes"))

        assert scene.plan(user=clerk).rows[0].outcome == Outcome.BLOCKED
        assert scene.plan().rows[0].outcome == Outcome.RESTORE
