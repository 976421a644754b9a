"""Where code of the site saves more, the first card says so: it was tried out."""

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db.models.signals import post_save

from ai_assistant.changes import values
from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from tests.tools.data.pages import OwnViewAdmin, ParentAdmin, served
from tests.tools.data.writing import columns, make_stock
from tests.warehouse.models import Mark, Product

pytestmark = pytest.mark.django_db


class MarginAdmin(admin.ModelAdmin):
    fields = ("name", "sku", "note")

    def save_model(self, request, obj, form, change):
        obj.margin = 42
        super().save_model(request, obj, form, change)
        Mark.objects.create(name=f"of {obj.name}")


class MailingAdmin(MarginAdmin):
    assistant_tries_out = False


class RefusingAdmin(admin.ModelAdmin):
    fields = ("name", "sku", "note")

    def save_model(self, request, obj, form, change):
        raise PermissionDenied


@pytest.fixture
def stock(db):
    return make_stock()


@pytest.fixture
def ask(stock):
    """Return a run that wants to change the note of the lamp."""
    user = get_user_model().objects.create_superuser("ada")

    def start(**values):
        arguments = {
            "model": "warehouse.product",
            "id": stock.lamp.pk,
            "values": values or {"note": "new"},
        }
        replies = [reply("", call("change_object", arguments)), "Done."]
        return run_assistant(user, "/admin/", "Change it.", replies=replies)

    return start


def card(played):
    return values.from_json(played.interrupts[-1].proposal)


def labels(changes):
    return {one.model: {field.label for field in one.fields} for one in changes.objects}


class TestOnce:
    def test_first_card_has_all_and_is_enough(self, settings, stock, ask):
        with served(settings, Product, MarginAdmin):
            played = ask()
            shown = card(played)
            assert not Mark.objects.filter(name="of Lamp").exists()

            played = answer_interrupt(played, "approve")

        assert labels(shown) == {
            "warehouse.product": {"Note", "Margin"},
            "warehouse.mark": {"Name"},
        }
        assert shown.verb == "Change product"
        assert played.state == "succeeded"
        assert columns(stock.lamp)["margin"] == 42
        assert Mark.objects.filter(name="of Lamp").count() == 1

    def test_signal_of_the_site(self, stock, ask):
        def along(sender, instance, **_kwargs):
            Mark.objects.get_or_create(name="along")

        post_save.connect(along, sender=Product)
        try:
            played = ask()
            shown = card(played)
            played = answer_interrupt(played, "approve")
        finally:
            post_save.disconnect(along, sender=Product)

        assert "warehouse.mark" in labels(shown)
        assert played.state == "succeeded"

    def test_card_of_the_form_where_nothing_comes_along(self, ask):
        shown = card(ask())

        assert labels(shown) == {"warehouse.product": {"Note"}}
        assert not shown.exact

    def test_no_trial_where_saving_does_more_than_write(self, settings, ask):
        with served(settings, Product, MailingAdmin):
            played = ask()
            assert labels(card(played)) == {"warehouse.product": {"Note"}}

            played = answer_interrupt(played, "approve")
            assert played.state == "waiting_approval"
            assert "warehouse.mark" in labels(card(played))

    def test_refusal_comes_before_the_question(self, settings, ask):
        with served(settings, Product, RefusingAdmin):
            played = ask()

        assert played.interrupts == ()
        assert played.state == "succeeded"
        assert played.calls[0].status in ("failed", "denied")

    @pytest.mark.parametrize("kind", [ParentAdmin, OwnViewAdmin])
    def test_page_of_its_own(self, settings, stock, ask, kind):
        with served(settings, Product, kind):
            played = answer_interrupt(ask(name="A lantern"), "approve")

        assert played.state == "succeeded", played.interrupts
        assert columns(stock.lamp)["name"] == "A lantern"
