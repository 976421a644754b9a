"""Which arguments are the person's, the site's, or from data."""

import pytest

from ai_assistant.safety.policy.provenance import ChosenObject, Origins, look_at
from ai_assistant.safety.policy.typed_text import TypedWords

SCHEMA = {
    "properties": {
        "order_id": {"type": "integer"},
        "title": {"type": "string"},
        "state": {"enum": ["open", "paid"], "default": "open"},
        "notify": {"type": "boolean", "default": False},
        "note": {"type": "string", "default": ""},
        "tags": {"type": "array", "default": []},
        "values": {"type": "object"},
        "unknown": {"type": "string"},
        **{key: {} for key in ("id", "ids", "pk", "order", "object_id")},
        **{key: {} for key in ("model", "customer_id", "amount")},
        "address": {"$ref": "#/$defs/Address"},
    },
    "$defs": {"Address": {"properties": {"street": {"type": "string"}}}},
}
OPENED = ChosenObject(model="shop.order", object_id="17")


def foreign(arguments, text="", chosen=(), named=""):
    origins = Origins(
        words=TypedWords((text,)), schema=SCHEMA, chosen=chosen, named_model=named
    )
    return list(look_at(arguments, origins).foreign)


class TestTyped:
    def test_number_and_text(self):
        said = "rename order 5 to Winter"

        assert foreign({"order_id": 5, "title": "Winter"}, said) == []
        assert foreign({"order_id": 6, "title": "Winter"}, said) == ["order_id"]
        assert foreign({"order_id": 5, "title": "Spring"}, said) == ["title"]

    def test_parts_of_a_list(self):
        assert foreign({"tags": ["red", "blue"]}, "tag it red and blue") == []
        assert foreign({"tags": ["red", "pink"]}, "tag it red and blue") == ["tags"]

    def test_keys(self):
        said = "set colour to red"

        assert foreign({"values": {"colour": "red"}}, said) == []
        assert foreign({"values": {"is_admin": "red"}}, said) == ["values"]

    def test_keys_of_the_schema(self):
        assert foreign({"address": {"street": "Hill"}}, "move it to Hill") == []

    @pytest.mark.parametrize("value", [True, False, None, "", [], {}])
    def test_no_word_is_typed_for(self, value):
        said = "true false True None null [] {}"

        assert foreign({"title": value}, said) == ["title"]

    def test_many_leaves_are_not_looked_through(self):
        many = {"tags": ["red"] * 5000}

        assert foreign(many, "red") == ["…"]


class TestDefaults:
    @pytest.mark.parametrize(
        "arguments",
        [{"state": "open"}, {"notify": False}, {"note": ""}, {"tags": []}, {}],
    )
    def test_defaults_are_the_sites(self, arguments):
        assert foreign(arguments) == []

    @pytest.mark.parametrize(
        ("arguments", "name"),
        [
            ({"state": "paid"}, "state"),  # one of the enum, but who chose it
            ({"notify": True}, "notify"),
            ({"notify": 0}, "notify"),  # no False
            ({"tags": ["x"]}, "tags"),
            ({"title": "open"}, "title"),  # the default of another
        ],
    )
    def test_others_are_not(self, arguments, name):
        assert foreign(arguments) == [name]


class TestIdentity:
    @pytest.mark.parametrize(
        "arguments",
        [
            {"id": 17},
            {"id": "17"},
            {"pk": 17},
            {"ids": [17]},
            {"order_id": 17},
            {"order": 17},
            {"object_id": "17", "model": "shop.order"},
            {"id": 17, "model": "shop.Order"},
        ],
    )
    def test_identity_of_the_opened_object(self, arguments):
        assert foreign(arguments, chosen=(OPENED,)) == []

    @pytest.mark.parametrize(
        ("arguments", "name"),
        [
            ({"id": 18}, "id"),
            ({"ids": [17, 18]}, "ids"),
            ({"customer_id": 17}, "customer_id"),  # of another table
            ({"model": "auth.user", "id": 17}, "id"),
            ({"title": "17"}, "title"),  # a value
            ({"amount": 17}, "amount"),
            ({"values": {"id": 17}}, "values"),
            ({"id": {"id": 17}}, "id"),
            ({"id": True}, "id"),
        ],
    )
    def test_identity_of_nothing_else(self, arguments, name):
        assert name in foreign(arguments, chosen=(OPENED,))

    def test_identity_of_no_page(self):
        assert foreign({"id": 17}) == ["id"]

    def test_table_that_was_named(self):
        said = {"model": "shop.order", "id": 5}

        assert foreign(said, "delete 5", named="shop.order") == []
        assert foreign(said, "delete 5") == ["model"]


class TestMeant:
    def test_something_is_the_persons(self):
        words = TypedWords(("order 5",))

        assert look_at({"order_id": 5}, Origins(words=words, schema=SCHEMA)).is_meant

    @pytest.mark.parametrize("arguments", [{}, {"state": "open"}])
    def test_nothing_is(self, arguments):
        origins = Origins(words=TypedWords(("order 5",)), schema=SCHEMA)

        assert not look_at(arguments, origins).is_meant
