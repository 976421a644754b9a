"""The objects that a person points at: found as the admin searches, read anew."""

from uuid import uuid4

import pytest

from ai_assistant.tools.data.reading import pointing
from ai_assistant.tools.data.reading.pointing import (
    PREFIX,
    find_pointed,
    pointed_items,
)
from ai_assistant.types import PageInfo, RunContext
from tests.library.models import Book


def context(user, **page):
    page = PageInfo(path="/admin/", **page)
    return RunContext(user=user, run_id=uuid4(), conversation_id=uuid4(), page=page)


def found(user, text):
    return [(one.id, one.title) for one in find_pointed(context(user), text)]


@pytest.mark.row("F09")
class TestFindPointed:
    def test_named_model_by_id(self, boss, shop):
        key = f"{PREFIX}library.book:{shop.waves.pk}"

        assert found(boss, f"book {shop.waves.pk}")[0] == (key, "The Waves")

    def test_named_model_by_words(self, boss, shop):
        key = f"{PREFIX}library.book:{shop.waves.pk}"

        assert found(boss, "Books waves")[0] == (key, "The Waves")
        assert found(boss, "boo waves")[0] == (key, "The Waves")

    def test_words_alone_search_every_model(self, boss, shop):
        key = f"{PREFIX}library.book:{shop.waves.pk}"

        assert (key, "The Waves") in found(boss, "waves")

    def test_model_of_the_open_page_is_searched_first(self, boss, shop, monkeypatch):
        monkeypatch.setattr(pointing, "SEARCH_S", 0)  # for one model
        key = f"{PREFIX}library.book:{shop.waves.pk}"
        there = context(boss, app_label="library", model_name="book")

        assert [one.id for one in find_pointed(there, "waves")] == [key]
        assert key not in [one.id for one in find_pointed(context(boss), "waves")]

    def test_what_a_named_model_has_is_enough(
        self, boss, shop, django_assert_num_queries
    ):
        find_pointed(context(boss), "book waves")

        with django_assert_num_queries(1):
            find_pointed(context(boss), "book waves")

    def test_search_leaves_out_what_is_sensitive(self, boss, shop):
        assert found(boss, "book canary") == []

    def test_user_without_permission_finds_nothing(self, shop, django_user_model):
        nobody = django_user_model.objects.create_user("nobody", is_staff=True)

        assert found(nobody, f"book {shop.waves.pk}") == []

    def test_tools_for_data_are_off(self, boss, shop, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "DATA": {"TOOLS": False}}

        assert found(boss, "book waves") == []

    @pytest.mark.parametrize("text", ["", "  ", "book \x00", "x" * 80, "book %_'\""])
    def test_odd_words_find_nothing(self, boss, shop, text):
        assert found(boss, text) == []


@pytest.mark.row("F09")
class TestPointedItems:
    def item(self, user, pk):
        (item,) = pointed_items(context(user), [f"{PREFIX}library.book:{pk}"])
        return item

    def test_item_has_what_the_page_shows_now(self, boss, shop):
        Book.objects.filter(pk=shop.waves.pk).update(title="The Tides")

        item = self.item(boss, shop.waves.pk)

        assert (item.title, item.label) == ("The Tides", "data")
        assert item.value["fields"]["title"] == "The Tides"
        assert item.description == "The book that the user points at."

    @pytest.mark.parametrize("pk", [0, "x", "9" * 300, "1:2"])
    def test_object_that_is_not_there(self, boss, shop, pk):
        assert self.item(boss, pk).value == "not there, or not for this user to see"

    def test_user_without_permission_reads_nothing(self, shop, django_user_model):
        nobody = django_user_model.objects.create_user("nobody", is_staff=True)

        item = self.item(nobody, shop.waves.pk)

        assert item.value == "not there, or not for this user to see"
        assert "Waves" not in item.title + item.description

    def test_other_ids_are_items_of_the_page(self, boss, shop):
        assert pointed_items(context(boss), ["page", "object"]) == []
