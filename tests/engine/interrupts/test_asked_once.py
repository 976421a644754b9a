"""Where code of the site saves more, the first card says so: it was tried out."""

from uuid import uuid4

import pytest
from django import forms
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.db.models.signals import post_delete, post_save
from django.http import HttpResponse

from ai_assistant.changes import stored
from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from ai_assistant.testing.stage import answer_and_resume
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


class TidyingAdmin(admin.ModelAdmin):
    """Makes NULL an empty text along the way, as many forms do."""

    fields = ("name", "sku", "note")

    def save_model(self, request, obj, form, change):
        super().save_model(request, obj, form, change)
        Mark.objects.filter(remark=None).update(remark="")


class UntriedAdmin(TidyingAdmin):
    assistant_tries_out = False


class CachingAdmin(admin.ModelAdmin):
    fields = ("name", "sku", "note")

    def save_model(self, request, obj, form, change):
        if cache.get("note") == obj.note:
            return  # as django-parler saves only what differs
        cache.set("note", obj.note)
        obj.margin = cache.incr("saved")
        super().save_model(request, obj, form, change)


class SavingForm(forms.ModelForm):
    """Saves more than its columns, as forms with tags do."""

    def _save_m2m(self):
        super()._save_m2m()
        Mark.objects.create(name=self.cleaned_data["note"])


class TaggedAdmin(admin.ModelAdmin):
    form = SavingForm
    fields = ("name", "sku", "note")


class RefusingAdmin(admin.ModelAdmin):
    fields = ("name", "sku", "note")

    def save_model(self, request, obj, form, change):
        raise PermissionDenied


@pytest.fixture
def stock(db):
    return make_stock()


class ActingAdmin(admin.ModelAdmin):
    fields = ("name", "sku", "note")
    actions = ("mark", "export", "refuse", "draw", "tell", "tidy", "send")

    @admin.action
    def mark(self, request, queryset):
        Mark.objects.create(name=f"{queryset.update(margin=42)} marked")

    @admin.action
    def export(self, request, queryset):
        return HttpResponse("name,sku", content_type="text/csv")

    @admin.action
    def refuse(self, request, queryset):
        queryset.update(margin=42)
        self.message_user(request, "Not today.", level="error")

    @admin.action
    def draw(self, request, queryset):
        queryset.update(note=uuid4().hex)

    @admin.action
    def tell(self, request, queryset):
        self.message_user(request, "Told.")

    @admin.action
    def tidy(self, request, queryset):
        Mark.objects.update(remark="")

    @admin.action
    def send(self, request, queryset):
        sent.append(len(queryset))

    send.assistant_tries_out = False


class SoftAdmin(admin.ModelAdmin):
    fields = ("name", "sku", "note")
    actions = None

    def delete_model(self, request, obj):
        obj.note = "deleted"
        obj.save()


class KeepingAdmin(SoftAdmin):
    def delete_model(self, request, obj):
        pass


sent: list[int] = []


@pytest.fixture
def ask(stock):
    """Return a run that wants to change the note of the lamp."""
    user = get_user_model().objects.create_superuser("ada")

    def start(tool="change_object", arguments=None, **values):
        arguments = arguments or {
            "id": stock.lamp.pk,
            "values": values or {"note": "new"},
        }
        arguments["model"] = "warehouse.product"
        replies = [reply("", call(tool, arguments)), "Done."]
        return run_assistant(user, "/admin/", "Change it.", replies=replies)

    return start


def card(played):
    return stored.from_json(played.interrupts[-1].proposal)


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

    @pytest.mark.parametrize("kind", [TidyingAdmin, UntriedAdmin])
    def test_null_that_becomes_empty_is_no_change(self, settings, ask, kind):
        with served(settings, Product, kind):
            played = ask()
            shown = card(played)
            played = answer_interrupt(played, "approve")

        assert labels(shown) == {"warehouse.product": {"Note"}}
        assert shown.total == 1
        assert played.state == "succeeded", played.interrupts
        assert set(Mark.objects.values_list("remark", flat=True)) == {""}

    @pytest.mark.parametrize("name", ["product", "product.note"])
    def test_target_is_shown_though_the_site_leaves_it_out(self, settings, ask, name):
        data = {"WRITTEN_ALONG": [f"warehouse.{name}"]}
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "DATA": data}
        with served(settings, Product, MarginAdmin):
            played = ask()
            shown = card(played)
            played = answer_interrupt(played, "approve")

        assert labels(shown) == {
            "warehouse.product": {"Note", "Margin"},
            "warehouse.mark": {"Name"},
        }
        assert played.state == "succeeded", played.interrupts

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

    def test_trial_leaves_nothing_in_the_caches(self, settings, stock, ask):
        cache.set_many({"note": "old", "saved": 1})
        with served(settings, Product, CachingAdmin):
            played = ask()
            assert cache.get_many(["note", "saved"]) == {"note": "old", "saved": 1}
            played = answer_interrupt(played, "approve")

        assert played.state == "succeeded", played.interrupts
        assert cache.get_many(["note", "saved"]) == {"note": "new", "saved": 2}
        assert columns(stock.lamp)["margin"] == 2

    def test_form_that_saves_more(self, settings, ask):
        with served(settings, Product, TaggedAdmin):
            played = ask()
            assert "warehouse.mark" in labels(card(played))
            assert answer_interrupt(played, "approve").state == "succeeded"

    @pytest.mark.parametrize("kind", [ParentAdmin, OwnViewAdmin])
    def test_page_of_its_own(self, settings, stock, ask, kind):
        with served(settings, Product, kind):
            played = answer_interrupt(ask(name="A lantern"), "approve")

        assert played.state == "succeeded", played.interrupts
        assert columns(stock.lamp)["name"] == "A lantern"


def told(changes):
    return {
        (one.kind, one.text, field.label): (field.before, field.after)
        for one in changes.objects
        for field in one.fields
    }


class TestBulk:
    def test_first_card_has_all_and_is_enough(self, settings, stock, ask):
        pks = [stock.lamp.pk, stock.chair.pk]
        with served(settings, Product, MarginAdmin):
            played = ask("change_objects", {"ids": pks, "values": {"note": "new"}})
            shown = card(played)
            played = answer_interrupt(played, "approve")

        assert shown.title == "Change note of 2 products"
        assert told(shown)["change", "Chair", "Margin"] == ("0", "42")
        assert told(shown)["create", "of Lamp", "Name"] == ("", "of Lamp")
        assert shown.total == 4
        assert played.state == "succeeded", played.interrupts

    def test_some_of_the_rows(self, settings, stock, ask):
        pks = [stock.lamp.pk, stock.chair.pk]
        with served(settings, Product, MarginAdmin):
            played = ask("change_objects", {"ids": pks, "values": {"name": "Thing"}})
            played = answer_and_resume(
                played, "", None, decision="approve", rows=(str(stock.lamp.pk),)
            )

        # It is not known what comes along with which row.
        assert played.state == "waiting_approval"
        assert card(played).title == "Change name and slug of 1 product"
        assert [one.text for one in card(played).objects] == ["Lamp", "of Thing"]

    def test_rows_beyond_those_that_are_shown(self, settings, stock, ask):
        many = [
            Product.objects.create(name=f"P{n}", sku=f"M-{n}", supplier=stock.acme)
            for n in range(30)
        ]
        pks = [one.pk for one in many]
        with served(settings, Product, MarginAdmin):
            played = ask("change_objects", {"ids": pks, "values": {"note": "new"}})
            shown = card(played)
            played = answer_interrupt(played, "approve")

        assert (len(shown.objects), shown.total) == (20, 60)
        assert played.state == "succeeded", played.interrupts
        assert Product.objects.filter(margin=42).count() == 30


class TestDelete:
    def test_signal_of_the_site(self, stock, ask):
        def along(sender, instance, **_kwargs):
            Mark.objects.create(name=f"gone: {instance}")

        post_delete.connect(along, sender=Product)
        try:
            played = ask("delete_objects", {"ids": [stock.lamp.pk]})
            shown = card(played)
            played = answer_interrupt(played, "approve")
        finally:
            post_delete.disconnect(along, sender=Product)

        assert [(one.kind, one.text) for one in shown.objects] == [
            ("delete", "Lamp"),
            ("create", "gone: Lamp"),
        ]
        assert {group.label for group in shown.related} >= {"part"}
        assert played.state == "succeeded", played.interrupts

    def test_row_that_is_only_marked_as_deleted(self, settings, stock, ask):
        with served(settings, Product, SoftAdmin):
            played = ask("delete_objects", {"ids": [stock.chair.pk]})
            shown = card(played)
            played = answer_interrupt(played, "approve")

        assert told(shown) == {("change", "Chair", "Note"): ("", "deleted")}
        assert played.state == "succeeded", played.interrupts

    def test_page_that_deletes_nothing(self, settings, stock, ask):
        with served(settings, Product, KeepingAdmin):
            played = ask("delete_objects", {"ids": [stock.chair.pk]})

        assert played.interrupts == ()
        assert played.calls[0].status == "failed"


class TestAction:
    @pytest.fixture
    def act(self, settings, stock, ask):
        with served(settings, Product, ActingAdmin):
            yield lambda name: ask(
                "run_admin_action",
                {"action": name, "ids": [stock.lamp.pk, stock.chair.pk]},
            )

    def test_first_card_has_all_and_is_enough(self, stock, act):
        shown = card(played := act("mark"))
        assert columns(stock.lamp)["margin"] == 7
        played = answer_interrupt(played, "approve")

        assert shown.title == "Mark: 2 products"
        assert told(shown) == {
            ("change", "Lamp", "Margin"): ("7", "42"),
            ("change", "Chair", "Margin"): ("0", "42"),
            ("create", "2 marked", "Name"): ("", "2 marked"),
        }
        assert played.state == "succeeded", played.interrupts
        assert columns(stock.chair)["margin"] == 42

    @pytest.mark.parametrize(
        ("name", "why"), [("export", "page of its own"), ("refuse", "Not today")]
    )
    def test_what_cannot_be_carried_out_is_not_asked(self, stock, act, name, why):
        played = act(name)

        assert played.interrupts == ()
        assert why in played.calls[0].error
        assert columns(stock.lamp)["margin"] == 7

    @pytest.mark.parametrize("name", ["tell", "tidy"])
    def test_action_that_writes_nothing_to_be_shown(self, act, name):
        shown = card(played := act(name))
        played = answer_interrupt(played, "approve")

        assert [one.kind for one in shown.objects] == ["action", "action"]
        assert played.state == "succeeded", played.interrupts

    def test_action_that_draws_a_value_is_asked_twice_at_most(self, act):
        played = answer_interrupt(act("draw"), "approve")
        assert played.state == "waiting_approval"
        assert ("change", "Lamp", "Note") in told(card(played))
        played = answer_interrupt(played, "approve")

        assert played.state == "succeeded", played.interrupts

    def test_action_that_opts_out(self, act):
        sent.clear()
        shown = card(played := act("send"))
        assert sent == []
        played = answer_interrupt(played, "approve")

        assert [one.kind for one in shown.objects] == ["action", "action"]
        assert sent == [2]
