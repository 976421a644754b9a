"""What a page reports, without what is kept from the assistant."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User

from ai_assistant.engine.interrupts.browser import claim_call, finish_call
from ai_assistant.engine.lifecycle.scope import with_page
from ai_assistant.safety.policy.sensitive import HIDDEN
from ai_assistant.testing import call, reply
from tests.engine.calls.browser.conftest import said
from tests.library.models import Author, Book, Vault

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("W02")]


@pytest.fixture
def looking(play, script):
    """Have a page of this path report these inputs; return what is stored of it."""

    def look(path, *names, **more):
        script.add(reply("", call("get_page_state", {})), "I see.")
        run = play(page_path=path)
        fields = [{"name": name, "value": "typed", "saved": "old"} for name in names]
        state = {"title": "A page", "fields": fields, "buttons": ["Save"], **more}
        claim_call(said(run))
        finish_call(with_page(said(run, path=path, value=state)))
        return run.calls.get().result["data"]

    return look


@pytest.fixture
def book():
    author = Author.objects.create(name="Ada")
    book = Book.objects.create(title="One", author=author)
    Vault.objects.create(contents="gold", book=book)
    return book


def change_path(obj):
    return f"/admin/library/{obj._meta.model_name}/{obj.pk}/change/"


def kept(state):
    return {one["name"] for one in state["fields"] if one["value"] == HIDDEN}


class TestForm:
    def test_sensitive_fields_are_masked(self, looking, user):
        path = f"/admin/auth/user/{user.pk}/change/"

        state = looking(path, "first_name", "is_superuser", "last_login_0", "groups")

        assert kept(state) == {"is_superuser", "groups"}
        assert HIDDEN in str(state)
        assert state["fields"][1] == {
            "name": "is_superuser",
            "value": HIDDEN,
            "saved": HIDDEN,
        }

    def test_inline_that_is_kept_from_the_assistant_is_masked(self, looking, book):
        names = ("title", "session_token", "vault_set-0-contents", "vault_set-7-book")

        state = looking(change_path(book), *names)

        assert kept(state) == {*names[1:]}

    def test_relation_to_what_is_closed_is_masked(self, looking, book):
        state = looking(change_path(book.author), "name", "session", "api_key")

        assert kept(state) == {"session", "api_key"}

    def test_part_of_a_field_and_an_error_that_quotes_it(self, looking, user):
        error = {"name": "groups", "value": "a", "errors": ["a is no choice"]}
        fields = [error, {"name": "is_superuser_year", "value": "1999"}]

        state = looking(f"/admin/auth/user/{user.pk}/change/", fields=fields)

        assert kept(state) == {"groups", "is_superuser_year"}
        assert "no choice" not in str(state)

    def test_add_page_is_masked_as_well(self, looking):
        state = looking("/admin/library/book/add/", "title", "vault_set-0-contents")

        assert kept(state) == {"vault_set-0-contents"}


class TestList:
    def test_inputs_of_a_list_are_masked(self, looking, book):
        state = looking("/admin/library/book/", "form-0-title", "form-0-session_token")

        assert kept(state) == {"form-0-session_token"}

    def test_rows_are_told_by_their_names(self, looking, book):
        shown = {"rows": ["One"], "columns": ["Title"]}

        assert looking("/admin/library/book/", list=shown)["list"] == shown

    def test_rows_named_by_a_secret_are_left_out(self, looking, monkeypatch, book):
        own = admin.site.get_model_admin(Book)
        monkeypatch.setattr(own, "list_display", ("session_token", "title"))

        state = looking("/admin/library/book/", list={"rows": ["x"], "count": "1"})

        assert state["list"] == {"count": "1"}

    def test_rows_named_by_another_column_that_is_secret(
        self, looking, monkeypatch, book
    ):
        own = admin.site.get_model_admin(Book)
        monkeypatch.setattr(own, "list_display_links", ("session_token",))

        state = looking("/admin/library/book/", list={"rows": ["x"], "count": "1"})

        assert state["list"] == {"count": "1"}

    @pytest.mark.parametrize(("name", "is_told"), [("author", True), ("vault", False)])
    def test_filters_by_a_secret_are_left_out(
        self, looking, monkeypatch, book, name, is_told
    ):
        own = admin.site.get_model_admin(Book)
        monkeypatch.setattr(own, "list_filter", ("status", name))

        state = looking("/admin/library/book/", list={"filters": ["x"], "count": "1"})

        assert ("filters" in state["list"]) == is_told


class TestNothing:
    def test_nothing_of_a_page_that_is_kept_from_the_assistant(self, looking, book):
        vault = Vault.objects.get()

        assert looking(change_path(vault), "contents") == {"title": "A page"}

    def test_nothing_of_an_object_that_is_not_there(self, looking):
        path = "/admin/library/book/99/change/"

        assert looking(path, "title") == {"title": "A page"}

    def test_another_page_has_no_names_of_secrets(self, looking):
        User.objects.create(username="eve")

        assert kept(looking("/assistant/", "note", "card_pin")) == {"card_pin"}

    def test_of_a_page_of_the_site_only_names_are_known(self, looking, options):
        options(DATA={"SENSITIVE": ["shop.card.secret"]})
        names = ("note", "is_staff", "billing-groups", "delivery-secret")

        assert kept(looking("/", *names)) == {*names[1:]}


def test_dialog_is_masked_as_an_outline_is(looking, user):
    lines = [
        [0, "e1", "dialog", "Sure?", None, "", "", ""],
        [1, "e2", "textbox", "Superuser", "yes", "", "is_superuser", ""],
        [1, "", "text", "root is one", None, "", "is_superuser", ""],
        [1, "", "text", "of no field", None, "", "", ""],
        [1, "e3", "button", "Close", None, "asks", "", ""],
        "nothing",
    ]

    state = looking(f"/admin/auth/user/{user.pk}/change/", dialogs=[lines, None])

    masked = f'dialog "Sure?"\n  textbox "Superuser" = "{HIDDEN}"\n'
    assert state["dialogs"] == [f'{masked}  button "Close" asks']
