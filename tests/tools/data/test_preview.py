"""What a person is shown is what will happen, and showing it writes nothing."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ai_assistant.changes.capture.images import row_images, row_key, versions
from ai_assistant.changes.stored import from_json, to_json
from ai_assistant.changes.values import Changes
from tests.tools.data.reading import staff
from tests.tools.data.writing import Movement, columns, preview, shown, use
from tests.warehouse.models import Part, Product, Remark, Secret, Supplier

MODEL = "warehouse.product"


def change(user, obj, values, **arguments):
    return preview(
        "change_object", user, model=MODEL, id=obj.pk, values=values, **arguments
    )


class TestChange:
    @pytest.mark.parametrize(
        ("name", "value", "texts"),
        [
            ("status", "sold", ("Brand new", "Sold out")),
            ("price", "7.5", ("12.50", "7.50")),
            ("is_fragile", False, ("Yes", "No")),
            ("approved", True, ("", "Yes")),
            ("backup", "AC", ("Bolt & Co", "Acme")),
            ("backup", None, ("Bolt & Co", "")),
            ("made_on", "2026-01-31", ("Feb. 3, 2025", "Jan. 31, 2026")),
            ("data", {"a": "ü"}, ('{"a": [1, 2]}', '{"a": "ü"}')),
            ("note", "x" * 5000, ("  kept blanks \n", "x" * 5000)),
            ("weight", 2.5, ("1.5", "2.5")),
        ],
    )
    def test_change_tells_one_field(self, boss, stock, name, value, texts):
        changes = change(boss, stock.lamp, {name: value})

        assert shown(changes) == {name: texts}
        assert changes.total == 1

    def test_change_tells_links_by_their_names(self, boss, stock):
        changes = change(boss, stock.lamp, {"marks": [stock.marks[2].pk]})

        assert shown(changes) == {"marks": ("green, heavy", "old")}

    def test_change_tells_what_the_code_of_the_site_sets(self, boss, stock):
        changes = change(boss, stock.lamp, {"name": "A Lantern"})

        assert shown(changes) == {
            "name": ("Lamp", "A Lantern"),
            "slug": ("lamp", "a-lantern"),
        }

    def test_change_has_labels_and_titles(self, boss, stock):
        changes = change(boss, stock.lamp, {"sku": "L-2"})

        assert changes.objects[0].fields[0].label == "Stock number"
        assert changes.title == "Change stock number of product “Lamp”"
        assert changes.verb == "Change product"
        assert changes.objects[0].text == "Lamp"

    def test_change_has_the_version_of_the_row(self, boss, stock):
        changes = change(boss, stock.lamp, {"sku": "L-2"})

        assert changes.versions == versions([stock.lamp])
        assert list(changes.versions) == [row_key(Product, stock.lamp.pk)]

    @pytest.mark.parametrize(
        "values",
        [
            {"price": "7.5", "weight": 3, "name": "Lantern"},
            {"sold_at": "2026-01-31T10:20:30Z", "opens": "10:00", "lasts": "02:00:00"},
            {"data": {"b": None}, "approved": False, "backup": None},
            {"seen_at": "2026-01-31 10:20", "made_on": None, "note": "a\nb"},
        ],
    )
    def test_raw_values_are_what_the_row_holds_then(self, boss, stock, values):
        changes = change(boss, stock.lamp, values)
        use("change_object", boss, model=MODEL, id=stock.lamp.pk, values=values)

        fields = changes.objects[0].fields
        row = dict(row_images(Product, [stock.lamp.pk], "default"))[stock.lamp.pk]
        assert {one.attname: one.raw for one in fields} == {
            one.attname: row[one.attname] for one in fields
        }
        assert set(values) <= {one.name for one in fields}

    def test_change_writes_nothing(self, boss, stock):
        before = columns(stock.lamp)

        with CaptureQueriesContext(
            connection,
        ) as queries:
            changes = change(
                boss,
                stock.lamp,
                {"name": "Lantern", "marks": []},
                inlines={"parts": [{"code": "N"}, {"id": stock.part.pk, "count": 9}]},
            )

        assert isinstance(changes, Changes)
        words = {query["sql"].split()[0] for query in queries}
        assert words <= {"SELECT"}
        assert columns(stock.lamp) == before

    def test_change_is_stored_and_read_back(self, boss, stock):
        changes = change(boss, stock.lamp, {"price": "7.5", "marks": []})

        assert from_json(to_json(changes)) == changes

    def test_same_values_ask_nobody(self, boss, stock):
        result = change(boss, stock.lamp, {"name": "Lamp"})

        assert (result.ok, result.message) == (
            True,
            "No change: it already has these values.",
        )

    def test_null_that_becomes_empty_is_no_change(self, boss, stock):
        given = {"model": "warehouse.mark", "id": stock.marks[0].pk}
        rows = {"model": "warehouse.mark", "ids": [one.pk for one in stock.marks]}
        empty = {"remark": ""}

        renamed = preview("change_object", boss, **given, values={"name": "B", **empty})
        results = [
            preview("change_object", boss, **given, values=empty),
            preview("change_objects", boss, **rows, values=empty),
        ]

        assert shown(renamed) == {"name": ("green", "B")}
        assert {one.message for one in results} == {
            "No change: it already has these values."
        }

    def test_wrong_values_ask_nobody(self, boss, stock):
        result = change(boss, stock.lamp, {"price": "much"})

        assert (result.ok, result.error_type) == (False, "validation")

    def test_change_names_of_what_the_user_cannot_open_are_no_more_than_the_page(
        self, stock
    ):
        user = staff("nora", "view_product", "change_product")

        changes = change(user, stock.lamp, {"backup": "AC"})

        assert shown(changes) == {"backup": ("Bolt & Co", "Acme")}


class TestInlines:
    def test_each_row_is_an_object(self, boss, stock):
        other = Part.objects.create(product=stock.lamp, code="P-2")

        changes = change(
            boss,
            stock.lamp,
            {"price": 1},
            inlines={
                "parts": [
                    {"id": stock.part.pk, "count": 9},
                    {"id": other.pk, "DELETE": True},
                    {"code": "P-3", "count": 2},
                ]
            },
        )

        kinds = [(one.kind, one.model, one.text) for one in changes.objects]
        assert kinds == [
            ("change", "warehouse.product", "Lamp"),
            ("change", "warehouse.part", "P-1"),
            ("delete", "warehouse.part", "P-2"),
            ("create", "warehouse.part", "P-3"),
        ]
        assert shown(changes, 1) == {"count": ("3", "9")}
        assert shown(changes, 3)["count"] == ("", "2")
        assert set(changes.versions) == {
            row_key(Product, stock.lamp.pk),
            row_key(Part, stock.part.pk),
            row_key(Part, other.pk),
        }


class TestCreate:
    def test_create_tells_the_fields_that_get_a_value(self, boss, stock):
        changes = preview(
            "create_object",
            boss,
            model=MODEL,
            values={"name": "Desk", "sku": "D-1", "supplier": stock.acme.pk},
        )

        told = shown(changes)
        assert told["name"] == ("", "Desk")
        assert told["supplier"] == ("", "Acme")
        assert told["status"] == ("", "Brand new")
        assert "weight" not in told
        assert changes.title == "Add product"
        assert changes.objects[0].object_id == ""
        assert not Product.objects.filter(sku="D-1").exists()


class TestDelete:
    def test_delete_tells_the_cascade(self, boss, stock):
        Remark.objects.create(product=stock.lamp, text="Bright")

        changes = preview("delete_objects", boss, model=MODEL, ids=[stock.lamp.pk])

        related = {(one.model, one.kind): one for one in changes.related}
        assert changes.title == "Delete product “Lamp”"
        assert related["warehouse.part", "delete"].count == 1
        assert related["warehouse.part", "delete"].texts == ("P-1",)
        assert related["warehouse.remark", "change"].texts == ("Bright",)
        assert related["warehouse.product_marks", "delete"].count == 2
        assert row_key(Remark, Remark.objects.get().pk) in changes.versions
        assert Product.objects.filter(pk=stock.lamp.pk).exists()

    def test_delete_counts_several(self, boss, stock):
        ids = [stock.chair.pk, stock.lamp.pk]

        changes = preview("delete_objects", boss, model=MODEL, ids=ids)

        assert changes.title == "Delete product “Chair” and 1 more"
        assert changes.verb == "Delete 2 products"
        assert [one.object_id for one in changes.objects] == [str(one) for one in ids]

    def test_delete_refuses_what_is_protected(self, boss, stock):
        from ai_assistant import ToolFailed

        Movement.objects.create(product=stock.lamp, amount=4)

        with pytest.raises(ToolFailed, match="depend on it: Movement: 4 moved"):
            preview("delete_objects", boss, model=MODEL, ids=[stock.lamp.pk])


class TestBulk:
    def make(self, stock, count):
        Product.objects.bulk_create(
            Product(
                name=f"P{n}", slug=f"p{n}", sku=f"P-{n}", supplier=stock.acme, price=n
            )
            for n in range(count)
        )
        return list(
            Product.objects.filter(sku__startswith="P-").values_list("pk", flat=True)
        )

    def test_bulk_shows_the_first_and_counts_all(self, boss, stock):
        ids = self.make(stock, 45)

        changes = preview(
            "change_objects", boss, model=MODEL, ids=ids, values={"price": "3"}
        )

        assert changes.total == 44  # one costs that already
        assert len(changes.objects) == 20
        assert len(changes.versions) == 44
        assert changes.title == "Change price of 44 products"
        assert changes.verb == "Change 44 products"
        assert changes.rows_argument == "ids"
        assert shown(changes) == {"price": ("0.00", "3.00")}

    def test_one_wrong_row_is_named(self, boss, stock):
        ids = self.make(stock, 3)
        closed = Supplier.objects.get(code="CL")
        Product.objects.filter(pk=ids[2]).update(supplier=closed)

        result = preview(
            "change_objects", boss, model=MODEL, ids=ids, values={"price": "9"}
        )

        assert not result.ok
        assert "“P2” cannot be saved" in result.error
        assert list(result.data["fields"]) == ["supplier"]

    def test_queries_do_not_grow_with_the_shown_links(self, boss, stock):
        ids = self.make(stock, 10)

        with CaptureQueriesContext(connection) as few:
            preview(
                "change_objects", boss, model=MODEL, ids=ids[:5], values={"price": "9"}
            )
        with CaptureQueriesContext(connection) as many:
            preview("change_objects", boss, model=MODEL, ids=ids, values={"price": "9"})

        # Of each: its stock number is unique, its supplier may be chosen.
        assert (len(many) - len(few)) / 5 <= 2

    def test_kept_from_the_assistant(self, boss, stock):
        from ai_assistant import ToolFailed

        Secret.objects.create(mark=stock.marks[0])

        with pytest.raises(ToolFailed, match="kept from the assistant") as caught:
            preview(
                "delete_objects",
                boss,
                model="warehouse.mark",
                ids=[stock.marks[0].pk],
            )
        assert "canary" not in str(caught.value)


class TestAction:
    def test_action_that_is_not_tried_out_says_that_nobody_knows(self, boss, stock):
        changes = preview(
            "run_admin_action",
            boss,
            model=MODEL,
            action="discount",
            ids=[stock.lamp.pk, stock.chair.pk],
        )

        assert changes.title == "Give a discount on products: 2 products"
        assert [one.kind for one in changes.objects] == ["action", "action"]
        assert "not known in advance" in changes.warnings[0]
        assert set(changes.versions) == {
            row_key(Product, stock.lamp.pk),
            row_key(Product, stock.chair.pk),
        }
        assert columns(stock.lamp)["price"] == Decimal("12.50")
