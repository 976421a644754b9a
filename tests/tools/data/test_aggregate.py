"""Counts and sums of what the user may see."""

from decimal import Decimal

import pytest

from ai_assistant import ModelRetry
from tests.library.models import Author, Book
from tests.tools.data.reading import call


def count(user, **arguments):
    return call("aggregate_objects", user, model="library.book", **arguments)["rows"]


class TestAggregateObjects:
    def test_aggregate_objects_counts(self, boss, shop):
        assert count(boss) == [{"count": 2}]
        assert count(boss, filters={"status": "lost"}) == [{"count": 0}]

    def test_aggregate_objects_measures(self, boss, shop):
        asked = ["sum:price", "avg:pages", "min:published", "max:pages"]

        (row,) = count(boss, measures=asked)
        assert Decimal(row.pop("sum:price")) == Decimal("20.5")
        assert row == {
            "count": 2,
            "avg:pages": 300.0,
            "min:published": "1995-03-01",
            "max:pages": 400,
        }

    def test_groups(self, boss, shop):
        Book.objects.create(title="Orlando", author=shop.woolf, pages=1)

        assert count(boss, group_by=["author"], measures=["sum:pages"]) == [
            {
                "group": {"author": {"id": shop.woolf.pk, "text": "Woolf"}},
                "count": 2,
                "sum:pages": 201,
            },
            {
                "group": {"author": {"id": shop.verne.pk, "text": "Verne"}},
                "count": 1,
                "sum:pages": 400,
            },
        ]

    def test_groups_of_dates_and_beyond(self, boss, shop):
        rows = count(boss, group_by=["published__year", "author__name"])

        assert [row["group"] for row in rows] == [
            {"published__year": 1995, "author__name": "Verne"},
            {"published__year": 2003, "author__name": "Woolf"},
        ]

    def test_groups_of_many(self, boss, shop):
        rows = count(boss, group_by=["tags__name"], filters={"tags__name": "sea"})

        assert {row["group"]["tags__name"] for row in rows} == {"sea", "classic"}

    def test_search_and_sums_count_each_row_once(self, boss, shop):
        rows = count(
            boss, measures=["sum:pages"], filters={"tags__name__contains": "s"}
        )

        assert rows == [{"count": 2, "sum:pages": 600}]

    def test_aggregate_objects_at_most_hundred_groups(self, boss, shop):
        Book.objects.bulk_create(
            Book(title=f"{n:03}", author=shop.verne) for n in range(120)
        )
        data = call("aggregate_objects", boss, model="library.book", group_by=["title"])

        assert (len(data["rows"]), data["more"]) == (100, True)

    def test_rows_of_the_queryset_only(self, boss, shop):
        data = call("aggregate_objects", boss, model="library.publisher")

        assert data["rows"] == [{"count": 1}]

    @pytest.mark.parametrize(
        "name", ["margin", "session_token", "author__api_key", "copies__code", "x"]
    )
    def test_hidden_fields(self, boss, shop, name):
        for given in ({"group_by": [name]}, {"measures": [f"max:{name}"]}):
            with pytest.raises(ModelRetry):
                count(boss, **given)

    def test_groups_not_by_what_is_hidden_beyond(self, boss, shop):
        with pytest.raises(ModelRetry, match="may not all see"):
            count(boss, group_by=["publisher__city"])

    @pytest.mark.parametrize(
        "measure",
        ["sum:title", "avg:is_sold", "min:tags", "std:pages", "sum", "sum:", ":"],
    )
    def test_wrong_measures(self, boss, shop, measure):
        with pytest.raises(ModelRetry):
            count(boss, measures=[measure])

    def test_sum_that_no_database_can_hold(self, boss, shop):
        most = 2**63 - 1
        author = Author.objects.create(name="Big")
        for _ in range(2):
            Book.objects.create(title="big", author=author, pages=most)
        with pytest.raises(ModelRetry, match="too large"):
            count(boss, measures=["sum:pages"])
