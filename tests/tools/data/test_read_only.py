"""What the site declares read-only is read by the data tools, and never written."""

import pytest

from ai_assistant import ModelRetry, ToolFailed
from tests.tools.data.reading import context_of
from tests.tools.data.writing import columns, preview, use
from tests.warehouse.models import Part, Product

MODEL = "warehouse.product"


@pytest.fixture(params=["setting", "attribute"])
def read_only(request, settings, monkeypatch):
    def declare(model, *fields):
        if request.param == "attribute":
            said = list(fields) or True
            monkeypatch.setattr(model, "assistant_read_only", said, raising=False)
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
