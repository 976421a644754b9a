"""What the model is told of models and fields is what the user may see."""

import pytest

from ai_assistant import ModelRetry
from tests.tools.data.reading import call, staff


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
