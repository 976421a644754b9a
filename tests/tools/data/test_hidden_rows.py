"""A bulk change is held to what it does to the rows that are not shown, too."""

import pytest
from django.contrib.admin import ModelAdmin
from django.db import transaction
from django.utils.text import slugify

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.stored import from_json, to_json
from ai_assistant.changes.verify.compare import unexpected_changes
from tests.tools.data.writing import preview, use
from tests.warehouse.models import Product

MODEL = "warehouse.product"
COUNT = 30


@pytest.fixture
def many(stock):
    """Rows of which each gets a slug of its own when it is saved by its form."""
    Product.objects.bulk_create(
        Product(name=f"Row {n}", sku=f"P-{n}", supplier=stock.acme)
        for n in range(COUNT)
    )
    return list(Product.objects.filter(sku__startswith="P-").order_by("pk"))


@pytest.fixture
def changed(boss, many, stock, monkeypatch):
    """Preview a bulk change, let `save` write otherwise; return what is unexpected."""

    def do(save=None, **values):
        values = values or {"note": "n"}
        arguments = {"model": MODEL, "ids": [row.pk for row in many], "values": values}
        shown = from_json(to_json(preview("change_objects", boss, **arguments)))
        if save is not None:
            monkeypatch.setattr(Product, "save", save)
        with transaction.atomic(), recording() as recorder:
            assert use("change_objects", boss, **arguments).ok
        return shown, unexpected_changes(shown, recorder)

    return do


def other(**fields):
    """Return a save() that gives the last row, which is not shown, other values."""
    save = Product.save

    def saves(self, *args, **kwargs):
        if self.sku == f"P-{COUNT - 1}":
            for name, value in fields.items():
                setattr(self, name, value)
        save(self, *args, **kwargs)

    return saves


class TestHiddenRows:
    def test_each_with_its_own_value_is_as_shown(self, changed, many):
        shown, found = changed()

        assert found == []
        assert len(shown.objects) == 20
        assert len({one.fields[1].raw for one in shown.objects}) == 20
        slug = next(one for one in shown.hidden if one.name == "slug")
        assert sum(map(len, slug.ids.values())) == COUNT - 20
        many[-1].refresh_from_db()
        assert many[-1].slug == slugify(many[-1].name)

    def test_other_value_where_shown_rows_differ(self, changed):
        _shown, found = changed(other(slug="other"))

        assert found == [f"product “Row {COUNT - 1}” would get different values: slug."]

    def test_other_value_where_all_are_alike(self, changed):
        _shown, found = changed(other(note="other"))

        assert found == [f"product “Row {COUNT - 1}” would get different values: note."]

    def test_other_field(self, changed):
        _shown, found = changed(other(margin=9))

        assert found == [
            f"product “Row {COUNT - 1}” would have more fields changed: margin."
        ]

    def test_one_that_alone_is_changed_in_a_field(self, changed, many):
        Product.objects.exclude(pk=many[-1].pk).update(note="n")
        for row in many[:-1]:
            Product.objects.filter(pk=row.pk).update(slug=slugify(row.name))
        Product.objects.filter(pk=many[0].pk).update(margin=1)

        _shown, found = changed(price="3")

        assert found == []

    def test_one_that_stays_as_it_is(self, changed, many):
        save = Product.save

        def saves(self, *args, **kwargs):
            if self.pk != many[-1].pk:
                save(self, *args, **kwargs)

        _shown, found = changed(saves)

        assert found == [f"product “{many[-1].pk}” would stay as it is."]

    def test_links(self, changed, many, stock):
        marks = [stock.marks[0].pk, stock.marks[1].pk]
        shown, found = changed(marks=marks)

        assert found == []
        assert [list(one.ids) for one in shown.hidden if one.name == "marks"] == [
            [f'["{marks[0]}", "{marks[1]}"]']
        ]

    def test_other_link(self, changed, many, stock, monkeypatch):
        save_related = ModelAdmin.save_related

        def saves(self, request, form, formsets, change):
            save_related(self, request, form, formsets, change)
            if form.instance.pk == many[-1].pk:
                form.instance.marks.add(stock.marks[2])

        monkeypatch.setattr(ModelAdmin, "save_related", saves)

        _shown, found = changed(marks=[stock.marks[0].pk])

        assert len(found) == 1
        assert found[0].startswith("A link would change too: ")

    def test_values_are_kept_as_digests(self, changed):
        shown, _found = changed(note="a note that is long")

        assert "a note" not in str(to_json(shown)["hidden"])
