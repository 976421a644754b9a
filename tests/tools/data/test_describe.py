"""What the model is told of models and fields is what the user may see."""

import pytest
from django import forms
from django.contrib import admin

from ai_assistant import ModelRetry
from tests.tools.data.pages import served
from tests.tools.data.reading import call, staff
from tests.warehouse.models import Product


class TestListModels:
    def test_list_models_says_what_is_allowed(self, reader):
        assert call("list_models", reader) == [
            {"model": "library.book", "name": "books", "may": ["view"]}
        ]

    def test_nobody_gets_nothing(self, db):
        assert call("list_models", staff("olga")) == []


class TestDescribeModel:
    def test_fields(self, boss):
        told = call("describe_model", boss, model="library.book")

        fields = {one["name"]: one for one in told["fields"]}
        assert fields["title"] == {
            "name": "title",
            "type": "CharField",
            "label": "title",
            "required": True,
            "max_length": 200,
        }
        assert fields["author"]["model"] == "library.author"
        assert fields["status"]["choices"][1] == {"value": "lent", "label": "Lent out"}
        assert fields["number"]["readonly"] is True
        assert told["may"] == ["view", "add", "change", "delete"]

    def test_describe_model_leaves_out_what_is_hidden(self, boss):
        told = call("describe_model", boss, model="library.book")

        names = {one["name"] for one in told["fields"]}
        assert not names & {"margin", "session_token", "shout", "copies"}
        assert [one["model"] for one in told["inlines"]] == ["library.copy"]
        assert told["inlines"][0]["name"] == "copies"  # as create_object takes it
        inline = {one["name"] for one in told["inlines"][0]["fields"]}
        assert inline == {"code", "shelf"}

    def test_filters_and_actions(self, boss):
        told = call("describe_model", boss, model="library.book")

        assert told["search"] is True
        assert told["list_filters"] == {"decade": ["1990", "2000"]}
        assert told["actions"] == {"lose": "Mark as lost"}

    def test_reader_has_no_actions_that_need_more(self, reader):
        assert call("describe_model", reader, model="library.book")["may"] == ["view"]

    def test_users_without_rights(self, boss):
        told = call("describe_model", boss, model="auth.user")

        names = {one["name"] for one in told["fields"]}
        assert {"username", "email", "is_active"} <= names
        assert not names & {
            "password",
            "is_staff",
            "is_superuser",
            "groups",
            "user_permissions",
        }

    def test_closed_model(self, reader):
        with pytest.raises(ModelRetry):
            call("describe_model", reader, model="library.author")

    def test_what_the_form_requires_is_required(self, boss, settings):
        class StrictForm(forms.ModelForm):
            sku = forms.CharField(required=False)
            note = forms.CharField()

        class StrictAdmin(admin.ModelAdmin):
            form = StrictForm
            fields = ("name", "sku", "note", "is_fragile", "price")
            list_display = ("name", "supplier")  # which no form has

        with served(settings, Product, StrictAdmin):
            told = call("describe_model", boss, model="warehouse.product")["fields"]

        assert "supplier" in {one["name"] for one in told}
        required = {one["name"] for one in told if one.get("required")}
        assert required == {"name", "note"}

    def test_fields_of_the_form_alone(self, boss, settings):
        class NotifyForm(forms.ModelForm):
            notify = forms.ChoiceField(choices=[("a", "All")], help_text="By mail.")
            api_key = forms.CharField()
            unseen = forms.CharField(required=False)

        class NotifyAdmin(admin.ModelAdmin):
            form = NotifyForm
            fields = ("name", "notify", "api_key")

        with served(settings, Product, NotifyAdmin):
            told = call("describe_model", boss, model="warehouse.product")["fields"]

        assert [one["name"] for one in told] == ["name", "notify"]
        assert told[1] == {
            "name": "notify",
            "type": "ChoiceField",
            "label": "notify",
            "required": True,
            "choices": [{"value": "a", "label": "All"}],
            "help": "By mail.",
        }
