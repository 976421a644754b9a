"""The rows of inlines are changed as on the page of their parent."""

import pytest
from django import forms
from django.contrib import admin

from ai_assistant import ModelRetry
from tests.library.models import Vault
from tests.tools.data.pages import served
from tests.tools.data.reading import call, staff
from tests.tools.data.writing import columns, use
from tests.warehouse.models import Part, Product, Remark

MODEL = "warehouse.product"


def change(user, obj, inlines, values=None):
    return use(
        "change_object",
        user,
        model=MODEL,
        id=obj.pk,
        values=values or {},
        inlines=inlines,
    )


class TestInlines:
    @pytest.mark.parametrize("name", ["parts", "warehouse.part", "part", "Parts"])
    def test_changes_adds_and_removes(self, boss, stock, name):
        gone = Part.objects.create(product=stock.lamp, code="P-2")

        result = change(
            boss,
            stock.lamp,
            {
                name: [
                    {"id": stock.part.pk, "count": 9},
                    {"id": gone.pk, "DELETE": "true"},
                    {"code": "P-3", "count": 2},
                ]
            },
        )

        assert result.ok, result.error
        found = set(stock.lamp.parts.values_list("code", "count", "pin"))
        assert found == {("P-1", 9, "canary-pin"), ("P-3", 2, "")}

    def test_other_rows_stay(self, boss, stock):
        other = Part.objects.create(product=stock.chair, code=" odd ")
        kept = Part.objects.create(product=stock.lamp, code=" odd ")
        before = columns(other), columns(kept)

        change(boss, stock.lamp, {"parts": [{"code": "P-3"}]}, {"note": "x"})

        assert (columns(other), columns(kept)) == before

    def test_errors_tell_the_row(self, boss, stock):
        result = change(
            boss, stock.lamp, {"parts": [{"code": "N"}, {"code": "M", "count": -1}]}
        )

        assert result.error_type == "validation"
        rows = result.data["inlines"]["parts"]
        assert [(row["row"], list(row["fields"])) for row in rows] == [(2, ["count"])]
        assert stock.lamp.parts.count() == 1

    def test_same_code_twice(self, boss, stock):
        result = change(boss, stock.lamp, {"parts": [{"code": "N"}, {"code": "N"}]})

        assert result.error_type == "validation"
        assert stock.lamp.parts.count() == 1


class TestRefused:
    @pytest.mark.parametrize(
        "row", [{"pin": "1"}, {"product": 1}, {"nothing": 1}, {"code": "a", "pin": "x"}]
    )
    def test_fields(self, boss, stock, row):
        for one in (row, {"id": stock.part.pk, **row}):
            with pytest.raises(ModelRetry, match="cannot be given"):
                change(boss, stock.lamp, {"parts": [one]})

        assert columns(stock.part)["pin"] == "canary-pin"

    def test_row_of_another_object(self, boss, stock):
        other = Part.objects.create(product=stock.chair, code="C")

        with pytest.raises(ModelRetry, match="There is no part with the id"):
            change(boss, stock.lamp, {"parts": [{"id": other.pk, "count": 5}]})

    def test_unknown_inline(self, boss, stock):
        with pytest.raises(ModelRetry, match="Inlines: parts, remark_set"):
            change(boss, stock.lamp, {"nothing": [{"code": "x"}]})

    def test_too_many(self, boss, stock):
        rows = [{"text": str(n)} for n in range(3)]

        with pytest.raises(ModelRetry, match="2 can be there at most"):
            change(boss, stock.lamp, {"remark_set": rows})
        assert not Remark.objects.exists()

    @pytest.mark.parametrize(
        ("codes", "row", "what"),
        [
            (("view_part",), {"code": "N"}, "add"),
            (("view_part", "add_part"), {"id": 0, "count": 5}, "change"),
            (("change_part",), {"id": 0, "DELETE": True}, "delete"),
            (("change_part",), {"code": "N"}, "add"),
        ],
    )
    def test_permissions_of_their_own(self, stock, codes, row, what):
        user = staff("nora", "change_product", *codes)
        row = {**row, "id": stock.part.pk} if "id" in row else row

        with pytest.raises(ModelRetry, match=f"may not {what} 'part'"):
            change(user, stock.lamp, {"parts": [row]})

        assert stock.lamp.parts.count() == 1

    def test_hidden_inline(self, stock):
        with pytest.raises(ModelRetry, match="There is no inline 'parts'"):
            change(
                staff("nora", "change_product"), stock.lamp, {"parts": [{"code": "N"}]}
            )


class TestKept:
    @pytest.mark.parametrize("name", ["vault_set", "library.vault"])
    def test_inline_of_a_model_whose_own_admin_is_opted_out(self, boss, shop, name):
        before = list(Vault.objects.values())

        with pytest.raises(ModelRetry, match="kept from the assistant"):
            use(
                "change_object",
                boss,
                model="library.book",
                id=shop.sea.pk,
                values={},
                inlines={name: [{"contents": "more"}]},
            )

        assert list(Vault.objects.values()) == before


class LabelledPart(forms.ModelForm):
    """Shows what the model does not have, as the texts of a language are."""

    caption = forms.CharField(max_length=50, help_text="Printed on it.")
    access_token = forms.CharField(required=False)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.initial["caption"] = f"Caption of {self.instance.code}"
        self.initial["access_token"] = "canary-token"


class LabelledInline(admin.TabularInline):
    model, form, extra = Part, LabelledPart, 0


class LabelledAdmin(admin.ModelAdmin):
    fields = ("name", "sku", "supplier")
    inlines = (LabelledInline,)


class TestFieldsOfTheFormAlone:
    @pytest.fixture(autouse=True)
    def _served(self, settings, stock):
        with served(settings, Product, LabelledAdmin):
            yield

    def test_described(self, boss):
        (told,) = call("describe_model", boss, model=MODEL)["inlines"]
        fields = {one["name"]: one for one in told["fields"]}

        assert fields["caption"]["help"] == "Printed on it."
        assert fields["caption"]["required"] is True
        assert "access_token" not in fields

    def test_read(self, boss, stock):
        (rows,) = call("get_object", boss, model=MODEL, id=stock.lamp.pk)["inlines"]

        assert rows["rows"][0]["fields"]["caption"] == "Caption of P-1"
        assert "canary" not in str(rows)

    def test_not_read_by_who_may_only_look(self, stock):
        nora = staff("nora", "view_product", "view_part")
        (rows,) = call("get_object", nora, model=MODEL, id=stock.lamp.pk)["inlines"]

        assert "caption" not in rows["rows"][0]["fields"]

    def test_left_out_where_the_form_needs_more(self, boss, stock, monkeypatch):
        class Formset(LabelledInline.formset):
            def get_form_kwargs(self, index):
                return {**super().get_form_kwargs(index), "currency": "EUR"}

        def init(self, *args, currency, **kwargs):
            forms.ModelForm.__init__(self, *args, **kwargs)

        monkeypatch.setattr(LabelledInline, "formset", Formset)
        monkeypatch.setattr(LabelledPart, "__init__", init)

        (parts,) = call("get_object", boss, model=MODEL, id=stock.lamp.pk)["inlines"]

        assert {*parts["rows"][0]["fields"]} == {"code", "count"}
