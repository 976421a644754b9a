"""Why a write was not done: the person reads it in German, the model what it needs."""

from datetime import timedelta

import pytest
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone
from django.utils.translation import gettext, override

import ai_assistant
from ai_assistant import ContextModule, conf
from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.registry import registry
from ai_assistant.render.html.cards.interrupts import with_interrupts
from ai_assistant.render.html.transcript.entries import call_entry
from ai_assistant.testing import (
    ScriptedProvider,
    answer_interrupt,
    call,
    reply,
    run_assistant,
)
from tests.tools.data.pages import served
from tests.tools.data.reading import staff
from tests.warehouse.models import Product

MODEL, AT = "warehouse.product", "/de/admin/warehouse/product/"
REQUIRED = "Dieses Feld ist zwingend erforderlich."
NOT_SAVED = "Es lässt sich nicht sichern."


class StrictAdmin(admin.ModelAdmin):
    """Refuses some values only as it saves, in the language of the request."""

    fields = ("note", "name", "sku", "supplier")

    def save_model(self, request, obj, form, change):
        if obj.note == "field":
            raise ValidationError({"sku": gettext("This field is required.")})
        if obj.note == "whole":
            raise ValidationError(gettext("This field is required."))
        if obj.note == "forbidden":
            raise PermissionDenied
        super().save_model(request, obj, form, change)


@pytest.fixture
def change(settings, stock):
    """Return what asks on a German page to change the lamp, and its script."""

    def play(user, **values):
        given = {"model": MODEL, "id": stock.lamp.pk, "values": values}
        one = call("change_object", given)
        script = ScriptedProvider([reply("", one), "Gut."])
        played = run_assistant(user, AT, "Ändere es.", provider=script)
        return played, script

    with served(settings, Product, StrictAdmin, prefixed=True):
        yield play


def card_of(run):
    return call_entry(with_interrupts(ToolCall.objects.filter(run=run)).get())


def told(script):
    return script.requests[-1].messages[-1]["content"]


class TestFailed:
    def test_form(self, boss, change):
        played, script = change(boss, sku="C-1")
        card = card_of(played.run)

        assert card["error"].startswith(f"{NOT_SAVED} Stock number: ")
        assert "existiert bereits" in card["error"]
        assert '"sku": ["' in told(script)  # by the name that it has to use

    @pytest.mark.parametrize(
        ("note", "named", "labelled"),
        [("whole", "", ""), ("field", "sku: ", "Stock number: ")],
    )
    def test_saving(self, boss, change, note, named, labelled):
        played, script = change(boss, note=note)
        card = card_of(played.run)

        assert card["status"] == "failed"
        assert card["error"] == f"{NOT_SAVED} {labelled}{REQUIRED}"
        assert card["detail"] == f"It cannot be saved: {named}{REQUIRED}"
        assert f"{named}{REQUIRED}" in told(script)

    def test_module(self, boss, change):
        class Rules(ContextModule):
            matches = ["admin:warehouse_product_*"]  # noqa: RUF012

            def validate(self, context, root):
                raise ValidationError({"note": gettext("This field is required.")})

        with registry.restored():
            ai_assistant.register(Rules)
            played, script = change(boss, note="x")

        assert played.interrupts == ()
        assert card_of(played.run)["error"] == f"{NOT_SAVED} Note: {REQUIRED}"
        assert f"note: {REQUIRED}" in told(script)

    def test_wrong_call(self, boss, change):
        played, script = change(boss, margin=3)
        card = card_of(played.run)

        assert card["error"].startswith("Der Assistent hat")
        assert "'margin' of product cannot be given" in told(script)


class TestDenied:
    def test_permission(self, change):
        reader = staff("nora", "view_product", "view_assistant", "use_assistant")
        played, script = change(reader, note="x")
        card = card_of(played.run)

        said = "Sie können sie ansehen, aber nicht ändern."
        assert card["status"] == "denied"
        assert said in card["error"]
        assert "Der Benutzer darf auf dieser Seite ansehen" in told(script)

    def test_page(self, boss, change):
        played, _script = change(boss, note="forbidden")
        card = card_of(played.run)

        said = "Sie haben dafür keine Berechtigung."
        assert (card["status"], card["error"]) == ("failed", said)
        assert "change_object" in card["detail"]

    def test_policy(self, boss, change, settings):
        own = {"POLICY": {"change_object": "deny"}}
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, own)
        played, script = change(boss, note="x")

        card = card_of(played.run)

        said = "Diese Website erlaubt dies nicht."
        assert (card["status"], card["error"]) == ("denied", said)
        assert "„change_object“" in told(script)

    def test_person(self, boss, change):
        asked, script = change(boss, note="x")
        with override("de"):
            played = answer_interrupt(asked, "deny", text="Nein, danke.")
            card = card_of(played.run)

        assert card["decision"]["sentence"] == "Sie haben dies abgelehnt"
        assert card["decision"]["reason"] == "Nein, danke."
        assert "Nein, danke." in told(script)

    def test_expired(self, boss, change):
        asked, _script = change(boss, note="x")
        Interrupt.objects.update(expires_at=timezone.now() - timedelta(days=1))
        sweep_once()

        said = "Niemand hat dies rechtzeitig freigegeben. Es wurde nicht ausgeführt."
        assert card_of(asked.run)["error"] == said
