"""What a tool does is what its preview has shown, by the images of the rows."""

import pytest
from django.db import transaction

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.verify.compare import unexpected_changes
from tests.tools.data.writing import preview, use
from tests.warehouse.models import Part, Product, Remark

MODEL = "warehouse.product"


def both(user, name, **arguments):
    """Return what was shown, and the recorder of what was done."""
    changes = preview(name, user, **arguments)
    with transaction.atomic(), recording() as recorder:
        result = use(name, user, **arguments)
    assert result.ok, result.error
    return changes, recorder


def changed_rows(recorder):
    return {(row.label, row.kind or "update") for row in recorder.rows}


class TestAsShown:
    @pytest.mark.parametrize(
        "values",
        [
            {"name": "A Lantern", "price": "7.5"},
            {"sold_at": "2026-01-31T10:20:30Z", "lasts": "02:00:00", "made_on": None},
            {"data": {"b": None}, "approved": False, "backup": None, "weight": 3},
            {"seen_at": "2026-01-31 10:20", "note": "a\nb", "opens": "10:00"},
            {"marks": []},
            {"marks": [3], "is_fragile": False},
        ],
    )
    def test_change(self, boss, stock, values):
        if values.get("marks"):
            values = {**values, "marks": [stock.marks[2].pk]}

        changes, recorder = both(
            boss, "change_object", model=MODEL, id=stock.lamp.pk, values=values
        )

        assert unexpected_changes(changes, recorder) == []
        assert not recorder.gaps
        assert recorder.rows

    @pytest.mark.parametrize("name", ["change_object", "delete_objects"])
    def test_row_whose_file_is_missing(self, boss, stock, name):
        Product.objects.filter(pk=stock.chair.pk).update(cover="covers/gone.png")
        chosen = {
            "change_object": {"id": stock.chair.pk, "values": {"note": "x"}},
            "delete_objects": {"ids": [stock.chair.pk]},
        }

        changes, recorder = both(boss, name, model=MODEL, **chosen[name])

        assert unexpected_changes(changes, recorder) == []
        assert not recorder.gaps

    def test_inlines(self, boss, stock):
        gone = Part.objects.create(product=stock.lamp, code="P-2")
        rows = [
            {"id": stock.part.pk, "count": 9},
            {"id": gone.pk, "DELETE": True},
            {"code": "P-3", "count": 2},
        ]

        changes, recorder = both(
            boss,
            "change_object",
            model=MODEL,
            id=stock.lamp.pk,
            values={"price": 1},
            inlines={"parts": rows},
        )

        assert unexpected_changes(changes, recorder) == []
        assert changed_rows(recorder) == {
            ("warehouse.product", "update"),
            ("warehouse.part", "update"),
            ("warehouse.part", "delete"),
            ("warehouse.part", "create"),
        }

    def test_create(self, boss, stock):
        changes, recorder = both(
            boss,
            "create_object",
            model=MODEL,
            values={
                "name": "Desk",
                "sku": "D-1",
                "supplier": stock.acme.pk,
                "marks": [stock.marks[0].pk],
            },
            inlines={"parts": [{"code": "A"}]},
        )

        assert unexpected_changes(changes, recorder) == []
        assert not recorder.gaps

    def test_delete_with_all_that_goes_along(self, boss, stock):
        Remark.objects.create(product=stock.lamp, text="Bright")

        changes, recorder = both(
            boss, "delete_objects", model=MODEL, ids=[stock.lamp.pk, stock.chair.pk]
        )

        assert unexpected_changes(changes, recorder) == []
        assert not recorder.gaps
        assert ("warehouse.remark", "update") in changed_rows(recorder)

    def test_many_more_than_are_shown(self, boss, stock):
        Product.objects.bulk_create(
            Product(name=f"P{n}", slug=f"p{n}", sku=f"P-{n}", supplier=stock.acme)
            for n in range(30)
        )
        ids = list(
            Product.objects.filter(sku__startswith="P-").values_list("pk", flat=True)
        )

        changes, recorder = both(
            boss, "change_objects", model=MODEL, ids=ids, values={"price": "3"}
        )

        assert len(changes.objects) == 20
        assert unexpected_changes(changes, recorder) == []
        assert len(recorder.rows) == 30

    def test_code_of_the_site_that_does_more_is_found(self, boss, stock, monkeypatch):
        changes = preview(
            "change_object", boss, model=MODEL, id=stock.lamp.pk, values={"price": 1}
        )
        monkeypatch.setattr(Product, "save", _also(Product.save, stock.chair.delete))

        with transaction.atomic(), recording() as recorder:
            use(
                "change_object",
                boss,
                model=MODEL,
                id=stock.lamp.pk,
                values={"price": 1},
            )

        assert "Product “Chair” would be deleted too." in " ".join(
            unexpected_changes(changes, recorder)
        ).replace("product", "Product")


def _also(save, more):
    def both_of_them(self, *args, **kwargs):
        save(self, *args, **kwargs)
        more()

    return both_of_them
