"""The choices of a relation are those of the admin's own form."""

import pytest

from ai_assistant import ModelRetry
from tests.library.models import Author
from tests.tools.data.reading import call, staff


def choices(user, field, **arguments):
    data = call("find_related", user, model="library.book", field=field, **arguments)
    return [row["text"] for row in data["rows"]]


class TestFindRelated:
    def test_autocomplete(self, boss, shop):
        assert choices(boss, "author") == ["Verne", "Woolf"]
        assert choices(boss, "author", search="wo") == ["Woolf"]

    def test_find_related_hides_what_the_other_admin_hides(self, boss, shop):
        assert choices(boss, "publisher") == ["Penguin"]
        assert choices(boss, "publisher", search="_Secret") == []

    def test_list_of_the_form(self, boss, shop):
        assert choices(boss, "shelf") == ["Shelf in Cellar"]
        assert choices(boss, "shelf", search="cell") == ["Shelf in Cellar"]
        assert choices(boss, "tags", search="SEA") == ["sea"]

    def test_form_shows_a_list_without_permission_on_it(self, shop):
        clerk = staff("carl", "change_book", "view_book")

        assert choices(clerk, "shelf") == ["Shelf in Cellar"]
        with pytest.raises(ModelRetry, match="may not look for"):
            choices(clerk, "author")

    def test_find_related_needs_a_form(self, reader, shop):
        with pytest.raises(ModelRetry, match="'tags' cannot be used"):
            choices(reader, "tags")

    def test_field_of_an_inline(self, boss, shop):
        assert choices(boss, "library.copy.shelf") == ["Shelf in Cellar"]

    @pytest.mark.parametrize(
        "field",
        ["title", "nothing", "", ".", "copies", "library.vault.book", "a" * 9999],
    )
    def test_no_relation(self, boss, shop, field):
        with pytest.raises(ModelRetry, match="cannot be used"):
            choices(boss, field)

    @pytest.mark.parametrize("field", ["groups", "user_permissions"])
    def test_rights(self, boss, field):
        with pytest.raises(ModelRetry, match="cannot be used"):
            call("find_related", boss, model="auth.user", field=field)

    def test_pages(self, boss, shop):
        Author.objects.bulk_create(Author(name=f"A{n:02}") for n in range(30))
        first = call("find_related", boss, model="library.book", field="author")
        second = call(
            "find_related", boss, model="library.book", field="author", page=2
        )

        assert (len(first["rows"]), first["more"]) == (20, True)
        assert (len(second["rows"]), second["more"]) == (12, False)
