"""What could not be undone is said before the change, and nothing more is claimed."""

from dataclasses import replace

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.files.base import ContentFile

from ai_assistant import conf
from ai_assistant.changes.undo.limits import with_undo_limits
from ai_assistant.changes.values import Changes, ObjectChange, Related
from ai_assistant.tools.data.undo.permissions import AdminPermissions
from tests.tools.data.writing import make_stock, preview
from tests.warehouse.models import Product

pytestmark = pytest.mark.django_db

MODEL = "warehouse.product"


@pytest.fixture
def stock():
    return make_stock()


@pytest.fixture
def boss():
    return get_user_model().objects.create_superuser("ada")


@pytest.fixture
def clerk():
    """Staff who may do with products what a test says."""
    user = get_user_model().objects.create_user("nora", is_staff=True)

    def may(*verbs, others=()):
        names = [f"{verb}_product" for verb in verbs]
        names += [f"{verb}_{name}" for verb in verbs for name in others]
        user.user_permissions.set(Permission.objects.filter(codename__in=names))
        return get_user_model().objects.get(pk=user.pk)

    return may


def limits_of(user, changes):
    told = with_undo_limits(changes, AdminPermissions(user))
    return told.undoable, list(told.undo_limits)


def test_change(boss, stock):
    values = {"note": "x"}
    shown = preview("change_object", boss, model=MODEL, id=stock.lamp.pk, values=values)

    assert limits_of(boss, shown) == (True, [])


def test_deletion_with_all_that_goes_along(boss, stock):
    shown = preview("delete_objects", boss, model=MODEL, ids=[stock.lamp.pk])

    assert limits_of(boss, shown) == (True, [])


def test_who_may_delete_and_not_add(clerk, stock):
    nora = clerk("view", "delete", others=["part", "remark", "movement"])
    shown = preview("delete_objects", nora, model=MODEL, ids=[stock.chair.pk])

    assert limits_of(nora, shown) == (False, ["products: You may not add it."])


def test_who_may_add_and_not_delete(clerk, stock):
    nora = clerk("view", "add")
    values = {"name": "Bed", "sku": "B-1", "supplier": stock.acme.pk}
    shown = preview("create_object", nora, model=MODEL, values=values)

    assert limits_of(nora, shown) == (False, ["products: You may not delete it."])


def test_what_goes_along_and_does_not_come_back(boss, stock):
    shown = preview("delete_objects", boss, model=MODEL, ids=[stock.chair.pk])
    along = Related(model="warehouse.mark", label="marks", kind="delete", count=1)
    shown = replace(
        shown, related=(along,), versions={f"warehouse.mark:{stock.marks[0].pk}": ""}
    )

    class OfProducts(AdminPermissions):
        def to_create(self, instance):
            return "" if isinstance(instance, Product) else "No."

    told = with_undo_limits(shown, OfProducts(boss))

    assert told.undoable
    assert told.undo_limits == ("marks: No.",)


def test_file_that_is_too_large(boss, stock, monkeypatch, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    stock.chair.cover.save("a.txt", ContentFile(b"too large"))
    shown = preview("delete_objects", boss, model=MODEL, ids=[stock.chair.pk])
    monkeypatch.setattr(conf, "CHANGED_BYTES", 5)

    assert limits_of(boss, shown) == (
        False,
        ["products: a file of it is too large to be kept."],
    )


def test_more_rows_than_are_kept(boss, stock, monkeypatch):
    monkeypatch.setattr(conf, "CHANGED_ROWS", 1)
    ids = [stock.lamp.pk, stock.chair.pk]
    values = {"note": "x"}
    shown = preview("change_objects", boss, model=MODEL, ids=ids, values=values)

    assert limits_of(boss, shown) == (True, ["Images of at most 1 rows are kept."])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (Changes(title="x", total=1, undoable=False), (False, [])),
        (Changes(title="x"), (True, [])),
        (
            Changes(
                title="x",
                total=1,
                objects=(ObjectChange(kind="action", model=MODEL, object_id="1"),),
            ),
            (True, ["What an action does outside of the database stays."]),
        ),
        (
            Changes(
                title="x",
                total=1,
                objects=(ObjectChange(kind="change", model="gone.model"),),
            ),
            (True, []),
        ),
    ],
)
def test_of_proposals(boss, changes, expected):
    assert limits_of(boss, changes) == expected
