"""What an undo writes has the request of its person around it, as a write has."""

import pytest
from django.contrib import admin
from django.db import transaction
from django.db.models.signals import m2m_changed, post_delete, post_save

import ai_assistant
from ai_assistant.changes.undo.values import UndoTarget
from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from tests.engine.undo.conftest import page_of
from tests.tools.data.test_site_request import Remembering, configured, local
from tests.warehouse.models import Mark, Part, Product

__all__ = ["configured"]  # a fixture
SIGNALS = (post_save, post_delete, m2m_changed)
pytestmark = pytest.mark.django_db(transaction=True)


def person():
    request = getattr(local, "request", None)
    return (request.user.get_username(), request.method) if request else None


@pytest.fixture
def written(configured):
    """Return who has written what, and who was there after the commit."""
    configured(Remembering)
    seen = []

    def note(sender, action="post_save", **_kwargs):
        if action.startswith("post"):
            seen.append((sender.__name__, person()))
            transaction.on_commit(lambda: seen.append((sender.__name__, person())))

    models = (Product, Part, Mark, Product.marks.through)
    for signal in SIGNALS:
        for model in models:
            signal.connect(note, sender=model, weak=False, dispatch_uid="written")
    yield seen
    for signal in SIGNALS:
        for model in models:
            signal.disconnect(sender=model, dispatch_uid="written")


def change(stock):
    """Change a product, its links and its part, and delete a mark."""
    Product.objects.filter(pk=stock.lamp.pk).update(name="Lantern")
    stock.lamp.marks.clear()
    stock.part.delete()
    Mark.objects.get(name="old").delete()


def test_rows_of_all_kinds(scene, stock, written):
    scene.do(lambda: change(stock))
    written.clear()

    undone = scene.undo()

    assert undone.differing == []
    assert {name for name, _who in written} == {
        *("Product", "Part", "Mark", "Product_marks")
    }
    assert {who for _name, who in written} == {("ada", "POST")}
    written.clear()
    scene.redo(undone)
    assert {name for name, _who in written} >= {"Product", "Part", "Mark"}
    assert {who for _name, who in written} == {("ada", "POST")}
    assert person() is None


def test_rows_that_their_admin_saves(scene, stock, written, monkeypatch):
    own = admin.site._registry[Mark]
    monkeypatch.setattr(own, "assistant_undo", "admin", raising=False)
    scene.do(lambda: change(stock))
    written.clear()

    scene.redo(scene.undo())

    assert {name for name, _who in written} >= {"Product", "Part", "Mark"}
    assert {who for _name, who in written} == {("ada", "POST")}


@pytest.mark.usefixtures("product_module")
def test_object_that_a_module_brings_back(scene, boss, stock, written):
    @ai_assistant.tool(name="work", effect="write", policy="allow")
    def work() -> str:
        """Change it."""
        Part.objects.filter(pk=stock.part.pk).update(code="P-2")
        return "done"

    replies = [reply("", call("work")), "Done."]
    played = run_assistant(boss, page_of(stock.lamp), "Do it.", replies=replies)
    answer_interrupt(played, "approve")
    written.clear()

    scene.undo(UndoTarget(kind="run", id=played.run.pk))

    assert Part.objects.get(pk=stock.part.pk).code == "P-1"
    assert written
    assert {who for _name, who in written} == {("ada", "POST")}
