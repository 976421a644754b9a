"""The page of one object as a tool."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ai_assistant import ModelRetry
from tests.library.models import Book, Copy, Review
from tests.tools.data.reading import call, staff


def read(user, book, **arguments):
    return call("get_object", user, model="library.book", id=book.pk, **arguments)


class TestGetObject:
    def test_all_that_the_page_shows(self, boss, shop):
        data = read(boss, shop.sea)

        fields = data["fields"]
        assert (data["text"], data["may"]) == (shop.sea.title, ["change", "delete"])
        assert fields["price"] == "12.50"
        assert fields["published"] == "1995-03-01"
        assert fields["data"] == {"a": [1]}
        assert fields["shelf"]["text"] == "Shelf in Cellar"
        assert {one["text"] for one in fields["tags"]} == {"sea", "classic"}
        assert not set(fields) & {"margin", "session_token", "shout"}

    def test_inlines(self, boss, shop):
        (inline,) = read(boss, shop.sea)["inlines"]

        assert (inline["model"], inline["name"]) == ("library.copy", "copies")
        assert inline["total"] == 1
        assert inline["rows"][0]["fields"]["code"] == "C-1"
        assert "pin" not in inline["rows"][0]["fields"]

    def test_inlines_need_the_permission(self, reader, shop):
        assert "inlines" not in read(reader, shop.sea)

    def test_inlines_ask_not_once_a_row(self, boss, shop):
        def queries():
            with CaptureQueriesContext(connection) as asked:
                read(boss, shop.sea)
            return len(asked)

        queries()  # with the rows of modules, which a process reads once
        before = queries()
        shelf = shop.sea.shelf
        for number in range(20):
            Copy.objects.create(book=shop.sea, code=f"D-{number}", shelf=shelf)
        assert queries() == before

    def test_chosen_fields_are_whole(self, boss, shop):
        text = "word " * 2000
        review = Review.objects.create(book=shop.sea, writer=boss, remarks=text)
        given = {"model": "library.review", "id": review.pk}

        cut = call("get_object", boss, **given)["fields"]["remarks"]
        whole = call("get_object", boss, **given, fields=["remarks"])["fields"]
        assert (len(cut), cut[-1]) == (4001, "…")
        assert whole == {"remarks": text}

    def test_hidden_field(self, boss, shop):
        with pytest.raises(ModelRetry, match="'margin' cannot be used"):
            read(boss, shop.sea, fields=["margin"])

    def test_field_of_some_objects(self, boss, shop):
        other = staff("omar", "view_review", "view_book")
        review = Review.objects.create(book=shop.sea, writer=boss, remarks="mine")
        given = {"model": "library.review", "id": review.pk}

        assert call("get_object", boss, **given)["fields"]["remarks"] == "mine"
        assert "remarks" not in call("get_object", other, **given)["fields"]
        with pytest.raises(ModelRetry):
            call("get_object", other, **given, fields=["remarks"])

    def test_row_without_a_related_row(self, boss, shop):
        Book.objects.filter(pk=shop.sea.pk).update(publisher=None)

        assert read(boss, shop.sea)["fields"]["publisher"] is None

    def test_user(self, boss):
        fields = call("get_object", boss, model="auth.user", id=boss.pk)["fields"]

        assert fields["username"] == "ada"
        assert not set(fields) & {"password", "is_superuser", "groups"}
