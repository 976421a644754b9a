"""The list of the admin as a tool."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ai_assistant import ModelRetry
from tests.library.models import Author, Book, Review
from tests.tools.data.reading import call, staff


def titles(data):
    return [row["text"] for row in data["rows"]]


def find(user, **arguments):
    return call("search_objects", user, model="library.book", **arguments)


class TestSearchObjects:
    def test_columns_of_the_list(self, boss, shop):
        data = find(boss)

        assert (data["total"], data["page"], data["pages"]) == (2, 1, 1)
        row = data["rows"][0]
        assert (row["id"], row["text"]) == (shop.waves.pk, "The Waves")
        assert row["fields"] == {
            "title": "The Waves",
            "author": {"id": shop.woolf.pk, "text": "Woolf"},
            "publisher": {"id": shop.hidden.pk, "text": "_Secret"},
            "status": "lent",
        }
        assert row["version"]

    def test_text_of_related_without_permission(self, reader, shop):
        row = find(reader, fields=["author"])["rows"][0]

        assert row["fields"] == {"author": {"id": shop.woolf.pk, "text": "Woolf"}}

    def test_search_is_that_of_the_admin(self, boss, shop):
        assert titles(find(boss, search="woolf")) == ["The Waves"]
        assert titles(find(boss, search="nothing")) == []

    def test_search_leaves_out_what_is_sensitive(self, boss, shop):
        assert titles(find(boss, search="canary")) == []

    def test_model_without_search(self, boss, shop):
        with pytest.raises(ModelRetry, match="has no search"):
            call("search_objects", boss, model="library.tag", search="sea")

    def test_filters(self, boss, shop):
        assert titles(find(boss, filters={"status": "lent"})) == ["The Waves"]
        assert titles(find(boss, filters={"price__gt": 10})) == [shop.sea.title]

    def test_filter_of_the_list(self, boss, shop):
        assert titles(find(boss, filters={"decade": "1990"})) == [shop.sea.title]
        with pytest.raises(ModelRetry, match="takes one of: '1990', '2000'"):
            find(boss, filters={"decade": "1991"})

    def test_many_to_many_counts_once(self, boss, shop):
        data = find(boss, filters={"tags__name__in": ["sea", "classic"]})

        assert data["total"] == 2

    def test_ordering(self, boss, shop):
        assert titles(find(boss, ordering=["-price"]))[0] == shop.sea.title
        assert titles(find(boss, ordering=["price"]))[0] == "The Waves"
        assert titles(find(boss, ordering=["author__name"]))[0] == shop.sea.title

    def test_pages(self, boss, shop):
        data = find(boss, page=2, page_size=1)

        assert (titles(data), data["pages"]) == ([shop.sea.title], 2)
        with pytest.raises(ModelRetry, match="There is no page 3: the last is 2"):
            find(boss, page=3, page_size=1)

    def test_search_objects_at_most_fifty_rows(self, boss):
        with pytest.raises(ModelRetry, match="less than or equal to 50"):
            find(boss, page_size=51)

    def test_search_objects_asks_not_once_a_row(self, boss, shop):
        def queries(size):
            with CaptureQueriesContext(
                connection,
            ) as asked:
                data = find(
                    boss, page_size=size, fields=["author", "publisher", "tags"]
                )
            assert len(data["rows"]) == size
            return len(asked)

        authors = [Author.objects.create(name=f"A{n}") for n in range(40)]
        for number, author in enumerate(authors):
            book = Book.objects.create(title=f"B{number}", author=author)
            book.tags.set(shop.tags)

        queries(2)  # with the rows of modules, which a process reads once
        assert queries(2) == queries(40)
        assert queries(40) <= 6

    def test_search_objects_leaves_out_rows_of_the_queryset(self, boss, shop):
        data = call("search_objects", boss, model="library.publisher")

        assert titles(data) == ["Penguin"]

    def test_row_without_a_page(self, boss, shop):
        other = staff("omar", "view_review")
        secret = Review.objects.create(
            book=shop.sea, writer=boss, is_private=True, remarks="canary-remarks"
        )
        named = ["stars", "is_private", "writer"]
        data = call("search_objects", other, model="library.review", fields=named)

        assert data["rows"] == [{"id": secret.pk, "fields": {"stars": 3}}]

    def test_fields_of_the_object(self, boss, shop):
        other = staff("omar", "view_review")
        for writer in (boss, other):
            Review.objects.create(book=shop.sea, writer=writer, remarks="fine")
        with pytest.raises(ModelRetry, match="'remarks' cannot be used"):
            call("search_objects", other, model="library.review", fields=["remarks"])
        own, others = call("search_objects", other, model="library.review")["rows"]
        assert own["version"] != others["version"]

    @pytest.mark.parametrize("name", ["margin", "session_token", "shout", "nothing"])
    def test_fields_that_are_hidden(self, boss, shop, name):
        with pytest.raises(ModelRetry, match=f"'{name}' cannot be used"):
            find(boss, fields=[name])
        with pytest.raises(ModelRetry, match=f"'{name}' cannot be used"):
            find(boss, ordering=[name])

    def test_orders_not_by_what_is_hidden_beyond(self, boss, shop):
        with pytest.raises(ModelRetry, match="may not all see"):
            find(boss, ordering=["publisher__name"])

    def test_too_long_a_search(self, boss, shop):
        with pytest.raises(ModelRetry, match="The search is too long"):
            find(boss, search="x" * 100_000)
