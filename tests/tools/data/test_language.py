"""What a run does is done in the language of the page on which its person was."""

import pytest
from django.contrib import admin
from django.utils.translation import get_language, override

from ai_assistant import tool
from ai_assistant.changes import stored
from ai_assistant.context.page import page_info
from ai_assistant.registry import registry
from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from ai_assistant.tools.data.access.model_admin import find_access
from tests.tools.data.pages import served
from tests.tools.data.reading import context_of
from tests.tools.data.writing import preview
from tests.warehouse.models import Product

MODEL = "warehouse.product"
LIST = "admin/warehouse/product/"
heard, read = [], []


def hear(request, told=heard):
    told.append((get_language(), request.LANGUAGE_CODE))


class HearingAdmin(admin.ModelAdmin):
    """Notes in which language its own code is called."""

    fields = ("note", "name", "sku", "supplier")
    actions = ("stamp", "delete_selected")
    assistant_undo = "admin"

    def get_object(self, request, *args, **kwargs):
        hear(request, read)
        return super().get_object(request, *args, **kwargs)

    def save_model(self, request, obj, form, change):
        hear(request)
        super().save_model(request, obj, form, change)

    def delete_model(self, request, obj):
        hear(request)
        super().delete_model(request, obj)

    @admin.action
    def stamp(self, request, queryset):
        hear(request)
        queryset.update(note="stamped")


@pytest.fixture(params=[True, False], ids=["prefix", "no prefix"])
def said(request, settings, boss, stock):
    """Return what runs tools for a person on a German page, with or without a prefix."""
    heard.clear()
    read.clear()

    def say(*calls):
        replies = [*(reply("", one) for one in calls), "Done."]
        if request.param:
            return run_assistant(boss, f"/de/{LIST}", "Do it.", replies=replies)
        with override("de"):
            return run_assistant(boss, f"/{LIST}", "Do it.", replies=replies)

    with served(settings, Product, HearingAdmin, prefixed=request.param):
        yield say


def of_model(name, **arguments):
    return call(name, {"model": MODEL, **arguments})


def card(played):
    return stored.from_json(played.interrupts[-1].proposal)


class TestLanguageOfTheRun:
    @pytest.mark.parametrize(
        ("name", "more"),
        [
            ("change_object", {"values": {"note": "x"}}),
            ("change_objects", {"values": {"note": "x"}}),
            ("delete_objects", {}),
            ("run_admin_action", {"action": "stamp"}),
        ],
    )
    def test_trial_and_write(self, said, stock, name, more):
        pk = str(stock.chair.pk)
        which = {"id": pk} if name == "change_object" else {"ids": [pk]}

        played = said(of_model(name, **which, **more))
        tried_out = len(heard)
        with override("fr"):  # of whoever approves it, and of the process that does it
            played = answer_interrupt(played, "approve")

        assert played.state == "succeeded"
        assert 0 < tried_out < len(heard)
        assert {*heard} == {("de", "de")}

    def test_undo(self, said, stock):
        change = {"id": stock.lamp.pk, "values": {"note": "x"}}
        asked = said(of_model("change_object", **change), call("undo_changes", {}))
        asked = answer_interrupt(asked, "approve")
        heard.clear()
        with override("fr"):
            played = answer_interrupt(asked, "approve")

        assert played.state == "succeeded"
        assert {*heard} == {("de", "de")}

    def test_read(self, said, stock):
        said(of_model("get_object", id=stock.lamp.pk))

        assert {*read} == {("de", "de")}

    def test_words_of_card_and_result(self, said, stock):
        change = {"id": stock.lamp.pk, "values": {"note": "x"}}
        played = said(of_model("change_object", **change))
        shown = card(played)
        with override("fr"):
            played = answer_interrupt(played, "approve")

        assert shown.title.endswith("„Lamp“ ändern")
        assert played.run.calls.get().label == "Objekt ändern"
        assert played.run.calls.get().summary.endswith("geändert")

    def test_words_of_an_error(self, said, stock):
        change = {"id": stock.lamp.pk, "values": {"sku": "C-1"}}
        played = said(of_model("change_object", **change))

        assert played.calls[0].error.startswith("Es lässt sich nicht sichern")

    def test_tools_of_every_thread(self, said):
        def where() -> str:
            """Tell the language."""
            return str(get_language())

        async def awaited() -> str:
            """Tell the language."""
            return str(get_language())

        with registry.restored():
            tool(effect="read", name="where")(where)
            tool(effect="read", name="awaited")(awaited)
            tool(effect="read", name="later", background=True)(where)
            played = said(*map(call, ("where", "awaited", "later")))

        assert [one.data for one in played.calls] == ["de"] * 3


def test_query_of_the_page_whatever_language_asks(settings, boss, stock):
    """A person may edit what is proposed on a page of another language."""
    context = context_of(boss)
    change = f"/de/{LIST}{stock.lamp.pk}/change/"
    context.page = page_info(f"{change}?language=nl")

    with served(settings, Product, HearingAdmin, prefixed=True), override("fr"):
        access = find_access(context, MODEL).at_object(stock.lamp.pk)

    assert access.request.path == change.replace("/de/", "/fr/")
    assert access.request.GET.dict() == {"language": "nl"}


class TranslatedAdmin(HearingAdmin):
    """Tells its form the language of the tab, as that of django-parler does."""

    def get_form(self, request, obj=None, **kwargs):
        form_class = super().get_form(request, obj, **kwargs)
        form_class.language_code = request.GET.get("language", "en")
        return form_class


@pytest.mark.parametrize(
    ("query", "end"), [("?language=nl", " (Dutch)"), ("", " (English)")]
)
def test_card_names_the_language_of_the_texts(settings, boss, stock, query, end):
    context = context_of(boss)
    context.page = page_info(f"/{LIST}{stock.lamp.pk}/change/{query}")
    given = {"model": MODEL, "id": stock.lamp.pk, "values": {"note": "x"}}

    with served(settings, Product, TranslatedAdmin):
        one = preview("change_object", boss, context, **given)
        new = {"name": "D", "sku": "D", "supplier": stock.acme.pk}
        added = preview("create_object", boss, context, model=MODEL, values=new)

    assert one.title == f"Change note of product “Lamp”{end}"
    assert one.verb == "Change product"
    assert added.title == "Add product (English)"
