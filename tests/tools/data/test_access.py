"""A model is open to those whom the admin lets in, and to nobody else."""

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group

from ai_assistant import ModelRetry
from ai_assistant.tools.data.access.model_admin import (
    find_access,
    find_object,
    visible_models,
)
from ai_assistant.tools.data.access.visibility import changelist_rows
from tests.library.models import Book, Review
from tests.tools.data.reading import context_of, staff

pytestmark = pytest.mark.row("X02")

CLOSED = [
    "library.nothing",
    "nothing.at_all",
    "library.shelf",  # not in the admin
    "library.vault",  # opted out by its admin
    "library.diary",  # opted out by the model
    "library.card",  # its ids are a secret
    "auth.permission",
    "admin.logentry",
    "sessions.session",
    "ai_assistant.run",
    "auth.user_user_permissions",  # the links of a sensitive field
    "",
    ".",
    "book",
    "library.book.title",
    "x" * 100_000,
    "a\0b.c",
    "\ud800.x",
]
OWN = [
    model._meta.label_lower
    for model in admin.site._registry
    if model._meta.app_label == "ai_assistant"
]


@pytest.mark.row("X09")
class TestFindDoor:
    @pytest.mark.parametrize("label", ["library.book", "Library.Book", "LIBRARY.BOOK"])
    def test_find_door_takes_any_case(self, boss, label):
        access = find_access(context_of(boss), label)

        assert (access.label, access.model) == ("library.book", Book)
        assert access.request.user == boss
        assert access.request.path == "/admin/library/book/"
        assert (
            access.request.resolver_match.view_name == "admin:library_book_changelist"
        )

    @pytest.mark.parametrize("label", CLOSED)
    def test_find_door_stays_closed(self, boss, label):
        with pytest.raises(ModelRetry, match=r"^There is no model .* that the user"):
            find_access(context_of(boss), label)

    @pytest.mark.parametrize("label", OWN)
    def test_find_door_stays_closed_to_our_own_tables(self, boss, label):
        """Whoever may see their pages: no tool reads or writes them."""
        with pytest.raises(ModelRetry, match=r"^There is no model .* that the user"):
            find_access(context_of(boss), label)

    def test_find_door_says_the_same_of_all_that_is_closed(self, reader):
        said = set()
        for label in (*CLOSED[:11], "library.author"):
            with pytest.raises(ModelRetry) as caught:
                find_access(context_of(reader), label)
            said.add(str(caught.value).replace(repr(label), "X").split(" Similar")[0])

        assert len({text.split(" list_models")[0] for text in said}) == 1

    def test_find_door_names_near_ones_that_may_be_seen(self, boss, reader):
        with pytest.raises(ModelRetry, match=r"Similar: library\.book\b"):
            find_access(context_of(reader), "library.bok")
        with pytest.raises(ModelRetry) as caught:
            find_access(context_of(reader), "library.authr")
        assert "author" not in str(caught.value).replace("library.authr", "")

    def test_find_door_needs_the_permission(self, reader):
        assert find_access(context_of(reader), "library.book")
        with pytest.raises(ModelRetry):
            find_access(context_of(reader), "library.author")

    def test_find_door_needs_a_site_that_lets_in(self, boss):
        boss.is_staff = False
        with pytest.raises(ModelRetry):
            find_access(context_of(boss), "library.book")

    def test_find_door_needs_a_site_with_pages(self, boss, monkeypatch):
        unmounted = admin.AdminSite(name="elsewhere")
        unmounted.register(Group)
        # Not unregistered: the pages of the site keep the ModelAdmin that they have.
        monkeypatch.delitem(admin.site._registry, Group)

        with pytest.raises(ModelRetry):
            find_access(context_of(boss), "auth.group")

    def test_setting_excludes_a_model(self, boss, settings):
        settings.AI_ASSISTANT = {"DATA": {"MODELS_EXCLUDED": ["Library.Book"]}}

        with pytest.raises(ModelRetry):
            find_access(context_of(boss), "library.book")

    def test_models_that_may_be_seen(self, reader, boss):
        assert [access.label for access in visible_models(context_of(reader))] == [
            "library.book"
        ]
        seen = {access.label for access in visible_models(context_of(boss))}
        assert not seen & set(CLOSED)
        assert {"auth.user", "auth.group", "library.tag"} <= seen


class TestFindObject:
    def test_find_object_finds_as_the_page_does(self, boss, shop):
        access = find_access(context_of(boss), "library.book")

        assert find_object(access, shop.sea.pk) == shop.sea
        assert find_object(access, str(shop.sea.pk)) == shop.sea

    @pytest.mark.parametrize(
        "wrong",
        ["", "0", "x", "1 or 1=1", "9" * 30, "9" * 5000, "a\0b", "\ud800", "1.5"],
    )
    def test_wrong_id(self, boss, shop, wrong):
        access = find_access(context_of(boss), "library.book")

        with pytest.raises(ModelRetry, match=r"^There is no book with the id "):
            find_object(access, wrong)

    def test_hidden_by_the_queryset(self, boss, shop):
        access = find_access(context_of(boss), "library.publisher")

        assert shop.hidden not in changelist_rows(access)
        with pytest.raises(ModelRetry):
            find_object(access, shop.hidden.pk)

    def test_permission_of_the_object(self, boss, shop):
        other = staff("omar", "view_review", "view_book")
        review = Review.objects.create(book=shop.sea, writer=boss, is_private=True)

        assert find_object(find_access(context_of(boss), "library.review"), review.pk)
        with pytest.raises(ModelRetry):
            find_object(find_access(context_of(other), "library.review"), review.pk)


def test_superuser_who_is_inactive(boss):
    get_user_model().objects.filter(pk=boss.pk).update(is_active=False)
    boss.refresh_from_db()

    assert visible_models(context_of(boss)) == []
