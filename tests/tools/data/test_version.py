"""A version tells which fields have changed since an object was read."""

import pytest

from ai_assistant import ModelRetry
from ai_assistant.tools.data.access.model_admin import find_access, find_object
from ai_assistant.tools.data.reading.version import changed_since, object_version
from tests.library.models import Book
from tests.tools.data.reading import call, context_of


@pytest.fixture
def access(boss, shop):
    return find_access(context_of(boss), "library.book")


def test_nothing_has_changed(access, shop):
    token = object_version(access, find_object(access, shop.sea.pk))

    assert changed_since(access, find_object(access, shop.sea.pk), token) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("title", "Other"),
        ("price", "12.51"),
        ("published", "1995-03-02"),
        ("data", {"a": [2]}),
        ("is_sold", True),
        ("rating", 0.1),
        ("shelf", None),
    ],
)
def test_names_what_has_changed(access, shop, name, value):
    token = object_version(access, find_object(access, shop.sea.pk))
    Book.objects.filter(pk=shop.sea.pk).update(**{name: value})

    assert changed_since(access, find_object(access, shop.sea.pk), token) == [name]


def test_hidden_fields_are_no_part_of_it(access, shop):
    token = object_version(access, find_object(access, shop.sea.pk))
    Book.objects.filter(pk=shop.sea.pk).update(margin=1, session_token="other")

    assert changed_since(access, find_object(access, shop.sea.pk), token) == []


def test_tools_tell_the_same(boss, access, shop):
    obj = find_object(access, shop.sea.pk)
    read = call("get_object", boss, model="library.book", id=obj.pk)
    rows = call("search_objects", boss, model="library.book", search="leagues")["rows"]

    assert read["version"] == rows[0]["version"] == object_version(access, obj)
    assert len(read["version"]) < 100


def test_of_other_fields(access, boss, shop):
    tags = find_access(context_of(boss), "library.tag")
    token = object_version(tags, shop.tags[0])

    assert "title" in changed_since(access, shop.sea, token)


@pytest.mark.parametrize("token", ["", "x", "====", "a b", "é" * 9, "x" * 100_001])
def test_no_token(access, shop, token):
    with pytest.raises(ModelRetry, match=r"^version .* Read the object again\."):
        changed_since(access, shop.sea, token)
