"""An object is added as the page that adds one would."""

import pytest
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth import get_user_model

from ai_assistant import ModelRetry, ToolFailed
from tests.tools.data.reading import context_of, staff
from tests.tools.data.writing import use
from tests.warehouse.models import Part, Product

MODEL = "warehouse.product"


def create(user, values, **arguments):
    return use("create_object", user, model=MODEL, values=values, **arguments)


@pytest.fixture
def desk(stock):
    return {"name": "Desk", "sku": "D-1", "supplier": stock.acme.pk}


class TestCreate:
    def test_create_has_given_values_and_defaults(self, boss, stock, desk):
        ids = [stock.marks[1].pk]

        result = create(boss, desk | {"marks": ids, "price": "4.5"})

        made = Product.objects.get(sku="D-1")
        assert result.ok, result.error
        assert result.data["id"] == str(made.pk)
        assert result.changed == ({"model": MODEL, "id": str(made.pk), "text": "Desk"},)
        assert (made.slug, str(made.price), made.status) == ("desk", "4.50", "new")
        assert [one.pk for one in made.marks.all()] == ids
        assert made.data == {}

    def test_create_with_inlines(self, boss, desk):
        rows = {"warehouse.part": [{"code": "A"}, {"code": "B", "count": 4}]}

        create(boss, desk, inlines=rows)

        parts = Part.objects.filter(product__sku="D-1")
        assert {(part.code, part.count) for part in parts} == {("A", 1), ("B", 4)}

    def test_history_names_the_run(self, boss, desk):
        context = context_of(boss)

        create(boss, desk, context=context)

        entry = LogEntry.objects.get()
        assert entry.action_flag == ADDITION
        assert entry.change_message == (
            f"Added. (Assistant, run {str(context.run_id)[:8]})"
        )

    def test_errors_tell_the_fields(self, boss, stock, desk):
        result = create(boss, {"sku": "L-1", "price": "x"})

        assert set(result.data["fields"]) == {"name", "sku", "supplier", "price"}
        assert "already exists" in result.data["fields"]["sku"][0]
        assert "Name: This field is required." in result.error

    def test_only_adding_is_permitted(self, stock, desk):
        assert create(staff("nora", "add_product"), desk).ok

    @pytest.mark.parametrize("codes", [(), ("view_product", "change_product")])
    def test_create_needs_the_permission(self, stock, desk, codes):
        with pytest.raises((ModelRetry, ToolFailed)):
            create(staff("nora", *codes), desk)
        assert not Product.objects.filter(sku="D-1").exists()


class TestSensitive:
    @pytest.mark.parametrize(
        "values",
        [
            {"is_superuser": True},
            {"is_staff": True},
            {"groups": [1]},
            {"user_permissions": [1]},
            {"password": "x"},
            {"password1": "x", "password2": "x"},
            {"usable_password": "false"},
            {"Is_Superuser": True},
            {"pk": 1, "is_superuser": True},
        ],
    )
    def test_rights_of_users(self, boss, values):
        other = get_user_model().objects.create_user("eve")
        before = get_user_model().objects.filter(pk=other.pk).values().get()

        with pytest.raises(ModelRetry, match="cannot be given"):
            use("change_object", boss, model="auth.user", id=other.pk, values=values)
        with pytest.raises(ModelRetry, match="cannot be given"):
            use(
                "create_object",
                boss,
                model="auth.user",
                values={"username": "mallory", **values},
            )
        with pytest.raises(ModelRetry, match="cannot be given"):
            use(
                "change_objects", boss, model="auth.user", ids=[other.pk], values=values
            )

        assert get_user_model().objects.filter(pk=other.pk).values().get() == before

    def test_name_of_a_user(self, boss):
        other = get_user_model().objects.create_user("eve")

        result = use(
            "change_object",
            boss,
            model="auth.user",
            id=other.pk,
            values={"first_name": "Eve"},
        )

        assert result.ok, result.error
        assert get_user_model().objects.get(pk=other.pk).first_name == "Eve"

    @pytest.mark.parametrize(
        "label",
        ["ai_assistant.run", "sessions.session", "admin.logentry", "auth.permission"],
    )
    def test_tables(self, boss, label):
        with pytest.raises(ModelRetry, match="There is no model"):
            use("create_object", boss, model=label, values={})
