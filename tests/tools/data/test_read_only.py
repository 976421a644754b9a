"""What the site declares read-only is read by the data tools, and never written."""

import pytest
from django.contrib import admin

from ai_assistant import ModelRetry, ToolFailed
from tests.tools.data.pages import served
from tests.tools.data.reading import context_of
from tests.tools.data.test_nested_inlines import LoanRows, hals
from tests.tools.data.writing import columns, preview, use
from tests.warehouse.admin import PartInline
from tests.warehouse.models import Mark, Part, Product

__all__ = ["hals"]  # a fixture
MODEL = "warehouse.product"


@pytest.fixture(params=["setting", "model", "admin"])
def read_only(request, settings, monkeypatch):
    def declare(model, *fields):
        if request.param != "setting":
            said, own = list(fields) or True, admin.site._registry.get(model)
            admin_class = PartInline if own is None else type(own)
            of = model if request.param == "model" else admin_class
            monkeypatch.setattr(of, "assistant_read_only", said, raising=False)
            return
        label = model._meta.label
        names = [f"{label}.{name}" for name in fields] or [label]
        settings.AI_ASSISTANT = {"DATA": {"READ_ONLY": names}}

    return declare


CALLS = {
    "create_object": {"values": {"name": "x"}},
    "change_object": {"id": 1, "values": {"note": "x"}},
    "change_objects": {"ids": [1], "values": {"note": "x"}},
    "delete_objects": {"ids": [1]},
    "run_admin_action": {"ids": [1], "action": "discount"},
}


@pytest.mark.parametrize("name", CALLS)
def test_model(name, boss, stock, read_only):
    read_only(Product)
    pk = stock.lamp.pk
    given = dict(CALLS[name])
    given |= {key: [pk] if key == "ids" else pk for key in given if "id" in key}
    before = columns(stock.lamp)

    for ask in (preview, use):
        with pytest.raises(ToolFailed, match="only read products"):
            ask(name, boss, model=MODEL, **given)
    assert columns(stock.lamp) == before


def test_field(boss, stock, read_only):
    read_only(Product, "status")
    given = {"model": MODEL, "values": {"status": "sold"}}

    with pytest.raises(ModelRetry, match="'status' of product cannot be given"):
        use("change_object", boss, id=stock.lamp.pk, **given)
    with pytest.raises(ModelRetry, match="'status' of product cannot be given"):
        use("change_objects", boss, ids=[stock.lamp.pk], **given)
    assert use(
        "change_object", boss, model=MODEL, id=stock.lamp.pk, values={"note": "x"}
    ).ok


def test_rows_of_an_inline_and_what_goes_along(boss, stock, read_only):
    read_only(Part)
    rows = {"parts": [{"code": "new"}]}

    with pytest.raises(ModelRetry, match="is kept from the assistant"):
        use(
            *("change_object", boss),
            model=MODEL,
            id=stock.lamp.pk,
            values={},
            inlines=rows,
        )
    with pytest.raises(ToolFailed, match="kept from the assistant: parts"):
        preview("delete_objects", boss, model=MODEL, ids=[stock.lamp.pk])


def test_rows_within_rows_that_go_along(boss, hals, monkeypatch):
    monkeypatch.setattr(LoanRows, "assistant_read_only", True, raising=False)

    with pytest.raises(ToolFailed, match="kept from the assistant: loans"):
        preview("delete_objects", boss, model="gallery.artist", ids=[hals.pk])


def test_field_of_a_row(boss, stock, read_only):
    read_only(Part, "count")
    given = {"model": MODEL, "id": stock.lamp.pk, "values": {}}
    rows = {"parts": [{"id": stock.part.pk, "count": 5}]}

    with pytest.raises(ModelRetry, match="'count' of part cannot be given"):
        use("change_object", boss, **given, inlines=rows)
    assert use(
        *("change_object", boss),
        **given,
        inlines={"parts": [{"id": stock.part.pk, "code": "P-2"}]},
    ).ok
    stock.part.refresh_from_db()
    assert (stock.part.code, stock.part.count) == ("P-2", 3)


class LinkInline(admin.TabularInline):
    model = Product.marks.through
    extra = 0


class LinkingAdmin(admin.ModelAdmin):
    fields = ("name", "sku", "supplier")
    inlines = (LinkInline,)


def test_links_as_rows_of_an_inline(settings, boss, stock, read_only):
    rows = {"Product_marks": [{"mark": stock.marks[2].pk}]}
    given = {"model": MODEL, "id": stock.lamp.pk, "values": {}, "inlines": rows}

    with served(settings, Product, LinkingAdmin):
        assert use("change_object", boss, **given).ok
        read_only(Product, "marks")
        with pytest.raises(ModelRetry, match="is kept from the assistant"):
            use("change_object", boss, **given)


@pytest.mark.parametrize(("field", "linked"), [("backup", "bolt"), ("marks", "mark")])
def test_field_that_a_deletion_would_empty(boss, stock, read_only, field, linked):
    read_only(Product, field)
    target = stock.marks[0] if linked == "mark" else stock.bolt
    given = {"model": target._meta.label_lower, "ids": [target.pk]}

    with pytest.raises(ToolFailed, match="kept from the assistant: products"):
        preview("delete_objects", boss, **given)
    with pytest.raises(ToolFailed, match="kept from the assistant: products"):
        use("delete_objects", boss, **given)
    assert type(target).objects.filter(pk=target.pk).exists()


def test_deletion_that_empties_another_field(boss, stock, read_only):
    read_only(Product, "status")

    ids = [stock.marks[0].pk]
    assert use("delete_objects", boss, model=Mark._meta.label_lower, ids=ids).ok


def test_reading(boss, stock, read_only):
    read_only(Product)
    context = context_of(boss)

    assert use("describe_model", boss, context, model=MODEL).get("may") == ["view"]
    found = use("get_object", boss, context, model=MODEL, id=stock.lamp.pk)
    assert found["fields"]["name"] == "Lamp"
    assert "may" not in found or found["may"] == []


def test_fields_are_described_as_read_only(boss, stock, read_only):
    read_only(Product, "status")
    fields = use("describe_model", boss, model=MODEL)["fields"]

    assert next(one for one in fields if one["name"] == "status")["readonly"] is True
