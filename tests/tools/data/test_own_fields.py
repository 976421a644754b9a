"""Fields with forms of their own, and what is in an admin and is no model."""

from decimal import Decimal

import pytest
from django.contrib import admin
from django.http import QueryDict

from ai_assistant import ModelRetry
from ai_assistant.registry import registry
from tests.tools.data.reading import call, context_of
from tests.tools.data.writing import preview, shown, use
from tests.warehouse.models import Mark, Offer

MODEL = "warehouse.offer"


@pytest.fixture
def offer(boss):
    made = Offer.objects.create(name="Sale", price=Decimal("5.00"), price_note="net")
    made.tags.set([Mark.objects.create(name=name) for name in ("red", "dark blue")])
    return made


@pytest.fixture
def changed(boss, offer):
    """Return what the card says of values that are given, and the row after it."""

    def change(**values):
        given = {"model": MODEL, "id": offer.pk, "values": values}
        card = shown(preview("change_object", boss, **given))
        result = use("change_object", boss, **given)
        assert result.ok, result.error
        return card, Offer.objects.get(pk=offer.pk)

    return change


def tags(offer):
    return sorted(offer.tags.values_list("name", flat=True))


class TestTags:
    def test_stay_when_something_else_changes(self, changed):
        card, after = changed(name="Sold")

        assert card == {"name": ("Sale", "Sold")}
        assert (after.name, tags(after)) == ("Sold", ["dark blue", "red"])

    @pytest.mark.parametrize(
        "given",
        [
            ["red", "light green"],
            "red, light green",
            [{"id": 1, "text": "red"}, {"id": 9, "text": "light green"}],
        ],
    )
    def test_tags_are_set_by_their_names(self, changed, given):
        card, after = changed(tags=given)

        assert card == {"tags": ("dark blue, red", "light green, red")}
        assert tags(after) == ["light green", "red"]

    def test_tags_are_taken_away(self, changed):
        card, after = changed(tags=[])

        assert card == {"tags": ("dark blue, red", "")}
        assert tags(after) == []

    def test_tags_of_a_new_object(self, boss):
        given = {"name": "New", "price": ["1.50", "USD"], "tags": ["red", "dark blue"]}
        card = preview("create_object", boss, model=MODEL, values=given)
        use("create_object", boss, model=MODEL, values=given)

        assert shown(card)["tags"] == ("", "dark blue, red")
        assert tags(Offer.objects.get(name="New")) == ["dark blue", "red"]

    def test_tags_of_many_objects_stay(self, boss, offer):
        given = {"model": MODEL, "ids": [offer.pk], "values": {"name": "Sold"}}

        assert use("change_objects", boss, **given).ok
        assert tags(offer) == ["dark blue", "red"]


class TestMoney:
    @pytest.mark.parametrize(
        ("given", "price"),
        [
            ("9.50", "9.50 EUR"),
            (9.5, "9.50 EUR"),
            (9, "9.00 EUR"),
            (["9.50", "EUR"], "9.50 EUR"),
            ([9.5, "USD"], "9.50 USD"),
            ("9.50 USD", "9.50 USD"),
        ],
    )
    @pytest.mark.parametrize("language", ["en", "de"])
    def test_money_is_set(self, settings, changed, given, price, language):
        settings.LANGUAGE_CODE = language
        settings.USE_THOUSAND_SEPARATOR = True
        _card, after = changed(price=given)

        assert str(after.price) == price
        assert after.price_note == "net"
        assert tags(after) == ["dark blue", "red"]

    def test_money_is_shown_with_its_currency(self, changed):
        card, _after = changed(price=["9.50", "USD"])

        assert card["price"] == ("5.00 EUR", "9.50 USD")
        assert card["currency"] == ("EUR", "USD")

    @pytest.mark.parametrize("given", ["much", ["much", "EUR"], {"amount": "9.50"}])
    def test_money_is_refused_as_the_form_refuses_it(self, boss, offer, given):
        result = use(
            "change_object", boss, model=MODEL, id=offer.pk, values={"price": given}
        )

        assert "Enter a number" in result.error
        assert str(Offer.objects.get(pk=offer.pk).price) == "5.00 EUR"


class Settings:
    """What django-constance puts into the admin in place of a model."""

    class Meta:
        app_label = "warehouse"
        object_name = "Settings"
        model_name = module_name = "settings"
        verbose_name_plural = "settings"
        concrete_model = None
        abstract = swapped = is_composite_pk = False
        label = "warehouse.Settings"
        label_lower = "warehouse.settings"

    _meta = Meta()


@pytest.fixture
def no_model():
    admin.site._registry[Settings] = admin.ModelAdmin(Settings, admin.site)
    yield
    del admin.site._registry[Settings]


@pytest.mark.usefixtures("no_model")
class TestNoModel:
    def test_no_model_does_not_disturb_the_list_of_models(self, boss):
        told = {one["model"] for one in call("list_models", boss)}

        assert "library.book" in told
        assert "warehouse.settings" not in told

    def test_no_model_does_not_disturb_a_mistyped_name(self, boss):
        with pytest.raises(ModelRetry, match=r"Similar: warehouse\.product"):
            call("describe_model", boss, model="warehouse.produkt")


def test_what_a_person_edits_becomes_an_argument(boss, offer):
    editor = registry.tool("change_object").approval.editor
    values = {"price": "9.50", "tags": ["red"]}
    arguments = {"model": MODEL, "id": offer.pk, "values": values}
    posted = QueryDict("edit-price_0=7.25&edit-price_1=USD&edit-tags=red,%20new")

    shown_form = editor.form(context_of(boss), arguments)
    form = editor.form(context_of(boss), arguments, posted)

    assert 'value="9.50"' in shown_form.as_p()
    assert form.is_valid()
    given = editor.arguments(form, arguments)["values"]
    assert given == {"price": ["7.25", "USD"], "tags": ["new", "red"]}
