"""The words of a proposal for chosen rows say how many were chosen."""

import pytest

from ai_assistant.changes.values import Changes
from ai_assistant.changes.verify.description import with_total

PRODUCT = "warehouse.product"


def words(title, verb="", *, total=3, to=2, model=PRODUCT):
    found = with_total(Changes(title=title, verb=verb, total=total, model=model), to)
    assert found.total == to
    return found.title, found.verb


@pytest.mark.parametrize(
    ("title", "to", "shown"),
    [
        ("Change note of 3 products", 2, "Change note of 2 products"),
        ("Change note of 3 products", 1, "Change note of 1 product"),
        ("Change level 3 of 3 products", 2, "Change level 3 of 2 products"),
        ("Send 3 letters", 1, "Send 1 letters"),
        ("Send letters", 2, "Send letters (2)"),
        ("Send 3 letters in 3 days", 2, "Send 3 letters in 3 days (2)"),
        ("Send “Part 3”", 2, "Send “Part 3” (2)"),
    ],
)
def test_title(title, to, shown):
    assert words(title, to=to) == (shown, shown)


def test_large_numbers_are_found_as_they_are_written():
    assert words("Delete 1,000 products", total=1000)[0] == "Delete 2 products"


def test_title_without_the_number_becomes_that_of_the_button():
    found = words("Delete product “No. 3” and 2 more", "Delete 3 products", to=1)

    assert found == ("Delete 1 product", "Delete 1 product")


def test_model_that_is_not_known():
    assert words("Change 3 fields", model="gone.away")[0] == "Change 2 fields"
