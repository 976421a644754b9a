"""A person edits what is proposed in the fields of the admin's own form."""

from datetime import UTC, datetime

import pytest
from django import forms
from django.http import QueryDict
from django.utils.dateparse import parse_datetime

from ai_assistant import ModelRetry
from ai_assistant.registry import registry
from ai_assistant.tools.data.writing.editing import PREFIX
from tests.tools.data.reading import context_of
from tests.tools.data.writing import columns, use

MODEL = "warehouse.product"


def edited(user, name, arguments, posted):
    """Return the arguments after a person has posted the form."""
    editor = registry.tool(name).approval.editor
    form = editor.form(context_of(user), arguments, posted)
    assert form.is_valid(), form.errors
    return editor.arguments(form, arguments)


class TestForm:
    def test_form_has_the_given_fields_with_real_widgets(self, boss, stock):
        arguments = {
            "model": MODEL,
            "id": stock.lamp.pk,
            "values": {
                "supplier": stock.bolt.pk,
                "marks": [stock.marks[2].pk],
                "sold_at": "2026-01-31T10:20:30Z",
                "status": "sold",
                "is_fragile": False,
            },
        }

        form = registry.tool("change_object").approval.editor.form(
            context_of(boss), arguments
        )

        assert list(form.fields) == list(arguments["values"])
        assert isinstance(form.fields["supplier"].widget, forms.Select)
        html = form.as_p()
        assert (
            f'<option value="{stock.bolt.pk}" selected>Bolt &amp; Co</option>' in html
        )
        assert f'<option value="{stock.marks[2].pk}" selected>old</option>' in html
        assert 'value="2026-01-31"' in html
        assert '<option value="sold" selected>Sold out</option>' in html
        assert "Closed" not in html

    def test_form_edits_become_arguments(self, boss, stock):
        arguments = {
            "model": MODEL,
            "id": stock.lamp.pk,
            "values": {
                "supplier": stock.bolt.pk,
                "backup": None,
                "marks": [],
                "sold_at": None,
                "price": "1",
                "data": {},
                "approved": None,
                "lasts": None,
            },
            "version": "",
        }
        posted = {
            "supplier": str(stock.acme.pk),
            "backup": "AC",
            "marks": [str(stock.marks[0].pk)],
            "sold_at_0": "2026-01-31",
            "sold_at_1": "10:20:30",
            "price": "2.50",
            "data": '{"x": [1]}',
            "approved": "true",
            "lasts": "02:00:00",
        }

        after = edited(boss, "change_object", arguments, _posted(posted))
        result = use("change_object", boss, **after)

        assert result.ok, result.error
        row = columns(stock.lamp)
        assert (row["backup_id"], str(row["price"]), row["data"]) == (
            "AC",
            "2.50",
            {"x": [1]},
        )
        assert row["sold_at"] == datetime(2026, 1, 31, 10, 20, 30, tzinfo=UTC)
        assert parse_datetime(after["values"]["sold_at"]) == row["sold_at"]
        assert row["approved"] is True
        assert [one.name for one in stock.lamp.marks.all()] == ["green"]

    def test_wrong_values_are_told_at_the_field(self, boss, stock):
        arguments = {"model": MODEL, "id": stock.lamp.pk, "values": {"price": "1"}}
        editor = registry.tool("change_object").approval.editor

        form = editor.form(context_of(boss), arguments, _posted({"price": "much"}))

        assert list(form.errors) == ["price"]

    @pytest.mark.parametrize(
        ("name", "target"),
        [("create_object", {}), ("change_objects", {"ids": None})],
    )
    def test_other_tools(self, boss, stock, name, target):
        target = {"ids": [stock.lamp.pk, stock.chair.pk]} if target else {}
        arguments = {"model": MODEL, **target, "values": {"note": "a"}}

        after = edited(boss, name, arguments, _posted({"note": "b"}))

        assert after == {**arguments, "values": {"note": "b"}}

    def test_nothing_beside_the_given_fields(self, boss, stock):
        arguments = {"model": MODEL, "id": stock.lamp.pk, "values": {"note": "a"}}
        posted = _posted({"note": "b", "price": "99", "api_key": "x"})

        assert edited(boss, "change_object", arguments, posted)["values"] == {
            "note": "b"
        }

    def test_sensitive_fields(self, boss, stock):
        arguments = {"model": MODEL, "id": stock.lamp.pk, "values": {"api_key": "a"}}

        with pytest.raises(ModelRetry, match="cannot be given"):
            registry.tool("change_object").approval.editor.form(
                context_of(boss), arguments
            )


def _posted(values):
    data = QueryDict(mutable=True)
    for key, value in values.items():
        data.setlist(f"{PREFIX}-{key}", value if isinstance(value, list) else [value])
    return data
