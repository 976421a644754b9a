"""From an address to what the page is, and never further than this site."""

import pytest
from django.urls import set_script_prefix

from ai_assistant.context.page import find_page, page_info

CHANGELIST = "/admin/questionnaires/questionnaire/"


@pytest.mark.row("C01")
class TestAdminPages:
    @pytest.mark.parametrize(
        ("path", "action"),
        [
            ("/admin/", "index"),
            ("/admin/auth/", "app_list"),
            (CHANGELIST, "changelist"),
            (f"{CHANGELIST}add/", "add"),
            (f"{CHANGELIST}3/change/", "change"),
            (f"{CHANGELIST}3/delete/", "delete"),
            (f"{CHANGELIST}3/history/", "history"),
            ("/admin/auth/user/1/password/", ""),
            ("/admin/jsi18n/", ""),
        ],
    )
    def test_action(self, path, action):
        assert page_info(path).action == action

    def test_change_form(self):
        info = page_info(f"{CHANGELIST}3/change/", "Title")

        assert info.view_name == "admin:questionnaires_questionnaire_change"
        assert (info.app_label, info.model_name) == ("questionnaires", "questionnaire")
        assert (info.object_id, info.title) == ("3", "Title")

    def test_object_id_is_unquoted(self):
        assert page_info(f"{CHANGELIST}a_2Fb/change/").object_id == "a/b"

    def test_list_with_filters_and_search(self):
        info = page_info(
            f"{CHANGELIST}?status__exact=draft&q=weekly&p=3&o=1&_popup=1&status__exact=x"
        )

        assert info.filters == {"status__exact": "draft,x"}
        assert (info.search, info.page_number) == ("weekly", 3)

    @pytest.mark.parametrize("number", ["", "x", "-1", "9" * 30, "²"])
    def test_page_number_that_is_none(self, number):
        assert page_info(f"{CHANGELIST}?p={number}").page_number == 1

    def test_filters_are_bounded(self):
        query = "&".join(f"f{n}=1" for n in range(100))

        assert len(page_info(f"{CHANGELIST}?{query}").filters) == 20


class TestOtherPages:
    def test_page_of_the_site(self):
        info = page_info("/assistant/")

        assert info.view_name.startswith("ai_assistant:")
        assert (info.action, info.model_name, info.object_id) == ("", "", "")

    @pytest.mark.parametrize(
        "path",
        [
            "",
            "admin/",
            "/nowhere/",
            "https://other.example/admin/",
            "//other.example/admin/",
            "//[/admin/",
            "javascript:alert(1)",
        ],
    )
    def test_none_of_this_site(self, path):
        assert find_page(path) is None
        assert page_info(path, "T").view_name == ""
        assert page_info(path, "T").path == path

    def test_below_a_prefix(self):
        set_script_prefix("/sub/")
        try:
            assert page_info("/sub/admin/").action == "index"
            assert find_page("/admin/") is None
        finally:
            set_script_prefix("/")

    def test_other_pages_asks_no_database(self, django_assert_num_queries, db):
        with django_assert_num_queries(0):
            find_page(f"{CHANGELIST}3/change/?q=x")
