"""Filters take what the admin shows and what a field can hold, and nothing else."""

import datetime
import string
from types import ModuleType

import pytest
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.urls import path
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai_assistant import ModelRetry
from ai_assistant.tools.data.access.lookups import apply_lookups, find_path
from ai_assistant.tools.data.access.model_admin import find_access
from ai_assistant.tools.data.access.visibility import changelist_rows
from tests.library.admin import AuthorAdmin
from tests.library.models import Author, Book
from tests.tools.data.reading import context_of, staff, try_call

SHARED = settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def access(boss, shop):
    return find_access(context_of(boss), "library.book")


def titles(access, filters):
    return [
        book.title[:3]
        for book in apply_lookups(access, changelist_rows(access), filters)
    ]


class TestFiltered:
    @pytest.mark.parametrize(
        ("filters", "found"),
        [
            ({"status": "lent"}, ["The"]),
            ({"title__icontains": "THOUSAND"}, ["Twe"]),
            ({"title__startswith": "T"}, ["The", "Twe"]),
            ({"title__iexact": "the waves"}, ["The"]),
            ({"price__gte": "12.5"}, ["Twe"]),
            ({"price__range": [5, 9]}, ["The"]),
            ({"pages__in": [200, "400"]}, ["The", "Twe"]),
            ({"published__year": 1995}, ["Twe"]),
            ({"published__month__lt": 2}, ["The"]),
            ({"published__lt": "2000-01-01"}, ["Twe"]),
            ({"added_at__date": "2024-05-06"}, ["Twe"]),
            ({"added_at__gt": "2024-01-01"}, ["Twe"]),
            ({"added_at": None}, ["The"]),
            ({"rating__isnull": True}, ["The", "Twe"]),
            ({"is_sold": False}, ["The", "Twe"]),
            ({"author__name": "Verne"}, ["Twe"]),
            ({"author__email__endswith": "x.org"}, ["Twe"]),
            ({"author__account__username": "ada"}, []),
            ({"tags__name": "sea"}, ["Twe"]),
            ({"tags__name__in": ["sea", "classic"]}, ["The", "Twe"]),
            ({"publisher__name__contains": "e"}, ["Twe"]),  # not the hidden one
            ({"publisher__city": "Atlantis"}, []),
            ({"publisher__city__isnull": False}, ["Twe"]),
            ({"status": "new", "title__contains": "T"}, ["Twe"]),
            ({"shelf__isnull": True}, ["The"]),
            ({"opens": None, "loan": None}, ["The", "Twe"]),
            ({}, ["The", "Twe"]),
        ],
    )
    def test_filtered_finds(self, access, filters, found):
        assert titles(access, filters) == found

    def test_filtered_by_ids(self, access, shop):
        for key in ("id", "pk", "id__in"):
            value = [shop.sea.pk] if key == "id__in" else shop.sea.pk
            assert titles(access, {key: value}) == ["Twe"]
        for key in ("author", "author_id", "author__id", "author__pk"):
            assert titles(access, {key: shop.woolf.pk}) == ["The"]
        assert titles(access, {"publisher": shop.hidden.pk}) == ["The"]

    @pytest.mark.parametrize(
        "key",
        [
            "margin",  # not in the form
            "session_token",
            "author__api_key",
            "author__session",
            "author__session_id",
            "author__account__password",
            "author__account__is_superuser",
            "author__account__groups__name",
            "author__account__user_permissions",
            "shelf__room",  # a model that is not in the admin
            "copies__code",  # the other direction
            "copies",
            "vault__contents",
            "book",
            "title__regex",
            "title__iregex",
            "title__search",
            "title__foo",
            "title__exact__exact",
            "title__length",
            "pages__contains",
            "status__year",
            "published__year__year",
            "published__week_day",
            "published__date",
            "data__a",
            "data__a__0",
            "data__has_key",
            "data",
            "tags__contains",
            "author__gt",
            "__",
            "",
            "title__",
            "__title",
            "title____exact",
            "title ",
            "Title",
            "title__EXACT",
            "author__author__author__author__author",
            "?",
            "1=1",
            'title"; DROP TABLE x',
            "x" * 100_000,
            "title\0",
            "\ud800",
        ],
    )
    def test_filtered_refuses(self, access, key):
        with pytest.raises(ModelRetry, match="cannot be used with 'library.book'"):
            titles(access, {key: "x"})

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("pages", "many"),
            ("pages", ""),
            ("pages", [1]),
            ("pages", {"a": 1}),
            ("pages__in", 1),
            ("pages__in", list(range(101))),
            ("pages__in", [None]),
            ("pages__range", [1]),
            ("pages__gt", None),
            ("pages", "9" * 5000),
            ("price", "NaN"),
            ("price__gt", "Infinity"),
            ("published", "yesterday"),
            ("published", "2024-13-01"),
            ("added_at", "x"),
            ("opens", "25:00"),
            ("loan", "x"),
            ("number", "x"),
            ("is_sold", "maybe"),
            ("status", "gone"),
            ("title", "x" * 100_000),
            ("title__contains", "a\0b"),
            ("title", "\ud800"),
            ("author", "x"),
            ("tags", "x"),
            ("rating__isnull", "yes"),
            ("published__year", "x"),
            ("decade", "1"),
        ],
    )
    def test_wrong_values(self, boss, access, key, value):
        result = try_call(
            "search_objects", boss, model="library.book", filters={key: value}
        )

        assert (result.ok, result.error_type) == (False, "retry"), result.data

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("pages", 10**30),
            ("pages__in", [10**30, -(10**30)]),
            ("rating", 1e308),
            ("rating", "inf"),
            ("published__year", 10**9),
            ("published__year__gt", -5),
            ("published__month", 10**12),
            ("added_at__lt", "0001-01-01"),
            ("added_at__gt", "9999-12-31 23:59:59"),
            ("loan__gt", "999999999 00:00:00"),
            ("loan__gt", "9" * 40),
            ("author", 10**30),
            ("id", 2**64),
            ("price", "1e9999"),
            ("pages", "9" * 999),
        ],
    )
    def test_extreme_values(self, boss, access, key, value):
        filters = {key: value}
        result = try_call("search_objects", boss, model="library.book", filters=filters)

        assert result.ok or result.error_type == "retry"

    def test_filtered_at_most_ten(self, access):
        with pytest.raises(ModelRetry, match="11 filters are too many"):
            titles(access, {f"title__{n}": "x" for n in range(11)})

    def test_related_model_needs_the_permission(self, reader, shop):
        access = find_access(context_of(reader), "library.book")

        assert titles(access, {"author": shop.verne.pk}) == ["Twe"]
        assert titles(access, {"author__id": shop.verne.pk}) == ["Twe"]
        with pytest.raises(ModelRetry, match="'author__name' cannot be used"):
            titles(access, {"author__name": "Verne"})

    def test_filtered_asks_the_admin_of_each_hop(self, access, monkeypatch):
        def refuses(self, lookup, value, request):
            return not lookup.startswith("email")

        monkeypatch.setattr(AuthorAdmin, "lookup_allowed", refuses)

        assert titles(access, {"author__name": "Verne"}) == ["Twe"]
        with pytest.raises(ModelRetry):
            titles(access, {"author__email__endswith": "x.org"})

    def test_nothing_beyond_an_admin_whose_pages_do_not_open(
        self, access, monkeypatch, settings
    ):
        def refuse(_self, _request, *_args, **_kwargs):
            raise PermissionDenied

        for view in ("changelist_view", "change_view"):
            monkeypatch.setattr(AuthorAdmin, view, refuse, raising=False)
        urls = ModuleType("urls")  # the addresses hold the views of before
        urls.urlpatterns = [path("admin/", admin.site.urls)]
        settings.ROOT_URLCONF = urls

        with pytest.raises(ModelRetry, match="cannot be used"):
            apply_lookups(
                access, changelist_rows(access), {"author__name__startswith": "V"}
            )

    def test_setting_adds_a_sensitive_field(self, access, settings):
        settings.AI_ASSISTANT = {"DATA": {"SENSITIVE": ["library.author.email"]}}

        with pytest.raises(ModelRetry):
            titles(access, {"author__email": "v@x.org"})

    def test_naive_moments_are_in_the_zone_of_the_site(self, access, recwarn):
        moment = datetime.datetime(2024, 5, 6, 7, 8)  # noqa: DTZ001 - what is tested
        titles(access, {"added_at": moment.isoformat()})

        assert not [one for one in recwarn if "naive" in str(one.message)]


class TestFindPath:
    def test_find_path_names_the_fields(self, reader, shop):
        access = find_access(context_of(reader), "library.book")
        with pytest.raises(ModelRetry) as caught:
            find_path(access, "margin")

        assert "Its fields are: id, title, author, publisher, shelf" in str(
            caught.value
        )
        assert "session_token" not in str(caught.value)

    def test_find_path_says_the_same_of_hidden_and_of_none(self, access):
        said = set()
        for name in ("margin", "nothing", "session_token", "shelf__room"):
            with pytest.raises(ModelRetry) as caught:
                titles(access, {name: 1})
            said.add(str(caught.value).replace(repr(name), "X"))

        assert len(said) == 1

    NAMES = st.lists(
        st.one_of(
            st.sampled_from(
                [
                    *(one.name for one in Book._meta.get_fields()),
                    *(one.name for one in Author._meta.get_fields()),
                    *("password", "is_superuser", "groups", "permissions", "regex"),
                    *("in", "exact", "contains", "year", "pk", "id", "isnull"),
                    *("session_key", "session_data", "content_type", "logentry"),
                ]
            ),
            st.text(string.ascii_letters + "_\0\ud800é'\"%", max_size=5),
        ),
        max_size=7,
    )
    VALUES = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=20),
        st.lists(st.one_of(st.integers(), st.text(max_size=5)), max_size=3),
        st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    )
    HIDDEN = frozenset(
        {"margin", "session_token", "api_key", "session", "password", "pin", "room"}
        | {"is_superuser", "is_staff", "groups", "user_permissions", "session_data"}
    )

    @SHARED
    @given(names=NAMES, value=VALUES)
    def test_any_path(self, access, names, value):
        key = "__".join(names)
        try:
            found = apply_lookups(access, changelist_rows(access), {key: value})
        except ModelRetry:
            return
        assert isinstance(found, QuerySet)
        assert not self.HIDDEN & set(find_path(access, key, value).name.split("__"))
        result = try_call(
            "search_objects",
            access.request.user,
            model="library.book",
            filters={key: value},
        )
        assert result.ok or result.error_type == "retry"


def test_clerk_without_authors_gets_no_more_by_ordering(shop):
    clerk = staff("carl", "view_book")
    access = find_access(context_of(clerk), "library.book")

    for text in ("author__name", "-author__email", "author__account__username"):
        result = try_call("search_objects", clerk, model=access.label, ordering=[text])
        assert not result.ok
    assert admin.site.is_registered(Author)
