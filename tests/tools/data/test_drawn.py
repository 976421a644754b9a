"""
No template is drawn on the way of a write, of its preview and of its refusal.

That is: no page, nor a part of one. A widget of Django's own is known by rule, and not
drawn either; one of an unknown kind is drawn by itself, which is the only way to know
its inputs. `make hosts` holds each of its cases to it, too.
"""

import pytest
from django import forms
from django.contrib import admin

from tests.tools.data import pages
from tests.tools.data.drawn import drawn_templates
from tests.tools.data.writing import preview, use
from tests.warehouse.models import Part, Product

MODEL = "warehouse.product"


class Parts(admin.StackedInline):
    model = Part


class DirectAdmin(admin.ModelAdmin):
    autocomplete_fields = ("supplier",)
    raw_id_fields = ("backup",)
    filter_horizontal = ("marks",)
    inlines = (Parts,)


class ViewAdmin(DirectAdmin):
    """All of its pages are code of the site."""

    def add_view(self, request, form_url="", extra_context=None):
        return super().add_view(request, form_url, extra_context)

    def change_view(self, request, object_id, form_url="", extra_context=None):
        return super().change_view(request, object_id, form_url, extra_context)

    def delete_view(self, request, object_id, extra_context=None):
        return super().delete_view(request, object_id, extra_context)


def calls(stock):
    lamp, new = {"id": stock.lamp.pk}, {"name": "Desk", "supplier": stock.acme.pk}
    return {
        "add": ("create_object", {"values": {**new, "sku": "D-1"}}),
        "add with a row": (
            "create_object",
            {"values": {**new, "sku": "D-1"}, "inlines": {"parts": [{"code": "N"}]}},
        ),
        "change": ("change_object", {**lamp, "values": {"name": "A", "marks": []}}),
        "change a row": (
            "change_object",
            {
                **lamp,
                "values": {},
                "inlines": {"parts": [{"id": stock.part.pk, "code": "N"}]},
            },
        ),
        "delete a row": (
            "change_object",
            {
                **lamp,
                "values": {},
                "inlines": {"parts": [{"id": stock.part.pk, "DELETE": True}]},
            },
        ),
        "refused": ("change_object", {**lamp, "values": {"sku": "C-1"}}),
        "bulk": (
            "change_objects",
            {"ids": [stock.lamp.pk, stock.chair.pk], "values": {"note": "N"}},
        ),
        "delete": ("delete_objects", {"ids": [stock.chair.pk]}),
        "delete several": ("delete_objects", {"ids": [stock.lamp.pk, stock.chair.pk]}),
    }


NAMES = (
    *("add", "add with a row", "change", "change a row", "delete a row", "refused"),
    *("bulk", "delete", "delete several"),
)


@pytest.mark.parametrize("kind", [DirectAdmin, ViewAdmin])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_drawn(settings, client, boss, stock, name, kind):
    tool, given = calls(stock)[name]
    given = {"model": MODEL, **given}
    client.force_login(boss)

    with pages.served(settings, Product, kind):
        with drawn_templates() as by_page:
            client.get(f"/admin/warehouse/product/{stock.lamp.pk}/change/")
        with drawn_templates(widgets=True) as by_tool:
            preview(tool, boss, **given)
            result = use(tool, boss, **given)

    assert "admin/change_form.html" in by_page
    assert result.ok is (name != "refused")
    assert by_tool == []


class DottedInput(forms.TextInput):
    """Nobody knows what it makes of its value."""

    def get_context(self, name, value, attrs):
        return super().get_context(name, f"{value}.", attrs)


class DottedAdmin(DirectAdmin):
    inlines = ()

    def formfield_for_dbfield(self, db_field, request, **kwargs):
        if db_field.name == "name":
            kwargs["widget"] = DottedInput()
        return super().formfield_for_dbfield(db_field, request, **kwargs)


def test_unknown_widget_is_drawn_by_itself(settings, boss, stock):
    given = {"model": MODEL, "id": stock.lamp.pk, "values": {"note": "N"}}

    with (
        pages.served(settings, Product, DottedAdmin),
        drawn_templates(widgets=True) as drawn,
    ):
        use("change_object", boss, **given)

    assert {*drawn} == {
        "django/forms/widgets/text.html",
        "django/forms/widgets/input.html",
        "django/forms/widgets/attrs.html",
    }
