"""An operation is called as the user, and no other view is reached."""

import socket

import pytest
from django.db import OperationalError, connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext

from ai_assistant import ModelRetry
from ai_assistant.changes.capture.databases import opened
from ai_assistant.engine.interrupts.results import with_effect_of_call
from ai_assistant.registry import registry
from ai_assistant.safety.policy.sensitive import HIDDEN
from ai_assistant.tools.api import kept, requests
from ai_assistant.tools.api.catalogue import catalogue
from tests.library.models import Author, Tag
from tests.tools.api import site
from tests.tools.api.calls import call, told, use
from tests.tools.data.reading import staff

pytestmark = [pytest.mark.django_db, pytest.mark.row("Y04")]


def nested(levels):
    value = []
    for _level in range(levels):
        value = [value]
    return value


class TestCall:
    def test_list_with_filters(self, opt_in, boss, library):
        opt_in("books.*")

        result = call(boss, "books.list", query={"status": ["new"], "ordering": "-id"})

        assert [one["title"] for one in result.data["results"]] == ["Leagues"]

    def test_list_that_the_api_does_not_page(self, opt_in, boss):
        opt_in("tags.list")
        Tag.objects.bulk_create(Tag(name=f"tag {i}") for i in range(150))

        second = call(boss, "tags.list", page=2).data

        assert (second["total"], len(second["rows"])) == (150, 50)

    @pytest.mark.parametrize(
        ("operation", "arguments", "kind", "words"),
        [
            ("books.create", {"body": {"title": ""}}, "validation", "title: "),
            ("books.retrieve", {"path": {"pk": 4711}}, "not_found", "No Book matches"),
            ("form-only.post", {}, "failed", "Unsupported media type"),
            ("books.lst", {}, "retry", "Nearest: books.list"),
            ("books.retrieve", {}, "retry", "takes pk"),
            ("books.retrieve", {"path": {"id": 1}}, "retry", "takes pk"),
        ],
    )
    def test_refusals_in_the_words_of_the_api(
        self, opt_in, boss, library, operation, arguments, kind, words
    ):
        opt_in("books.*", "form-only.post")

        result = call(boss, operation, **arguments)

        assert (result.ok, result.error_type) == (False, kind)
        assert words in result.error

    def test_throttles_count(self, opt_in, boss):
        opt_in("throttled.get")

        outcomes = [call(boss, "throttled.get").error_type for _ in range(3)]

        assert outcomes == ["", "", "rate_limited"]

    def test_one_that_takes_tokens_only(self, opt_in, boss):
        opt_in("elsewhere.get", "public.get")

        assert call(boss, "elsewhere.get").data == {"user": "ada"}
        assert call(boss, "public.get").data == {"is_person": False}

    def test_answers_are_not_those_cached_for_others(self, opt_in, boss):
        opt_in("cached.get")

        users = [call(user, "cached.get").data for user in (boss, staff("nora"))]

        assert users == [{"user": "ada"}, {"user": "nora"}]

    def test_request_has_nothing_of_ours(self, opt_in, boss):
        opt_in("echo.get")

        told_of = call(
            boss,
            "echo.get",
            path={"rest": "a"},
            query={"_method": "DELETE", "X-HTTP-Method-Override": "DELETE"},
        ).data

        assert told_of["user"] == "ada"
        assert told_of["method"] == "GET"
        assert (told_of["cookies"], told_of["files"]) == ({}, 0)
        of_page = ["Accept-Language"]  # of the page where the person is
        own = ["Accept", "Content-Length", "Content-Type"]
        assert told_of["headers"] == sorted([*own, *of_page])

    @pytest.mark.row("Y05")
    def test_schema_comes_before_the_first_call(self, opt_in, boss, library):
        opt_in("books.*")

        context = told(boss, "books.list")
        result = use("call_api", context, operation="books.create", body={"x": 1})

        assert result.error_type == "undescribed"
        assert "title" in result.schema_hint["body"]["properties"]
        assert use("call_api", context, operation="books.list").ok
        assert not use("call_api", told(boss), operation="books.list").ok


class TestEffect:
    @pytest.mark.parametrize(
        ("operation", "effect"),
        [
            ("books.list", "read"),
            ("books.create", "destructive"),  # asks, always
            ("books.destroy", "destructive"),
            ("count-words.post", "read"),  # by its decorator
            ("mailing.post", "destructive"),
            ("nothing.like-it", "read"),  # it ends with that
        ],
    )
    def test_effect_of_an_operation(self, opt_in, operation, effect):
        opt_in("books.*", "count-words.post", "mailing.post")

        tool = with_effect_of_call(registry.tool("call_api"), {"operation": operation})

        assert tool.effect == effect

    def test_async_view_reads_in_the_same_transaction(self, opt_in, boss):
        opt_in("async.get")

        assert call(boss, "async.get").data == {"count": 1}
        assert not Tag.objects.exists()

    def test_what_only_reads_writes_nothing(self, opt_in, boss):
        opt_in("sneaky.get", "count-words.post")

        assert call(boss, "sneaky.get").data == {"made": "sneaked"}
        assert not Tag.objects.exists()
        result = call(boss, "count-words.post", body={"text": "one two"})
        assert result.data == {"count": 2}


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("other_database")
def test_what_only_reads_writes_nothing_in_another_database(opt_in, boss):
    opt_in("away.get")

    assert call(boss, "away.get").data == {"made": "sneaked"}
    assert not Tag.objects.using("other").exists()


class TestDatabaseThatIsAway:
    def test_only_who_uses_it_fails(self, opt_in, boss, closed_database):
        opt_in("sneaky.get", "away.get")

        assert call(boss, "sneaky.get").data == {"made": "sneaked"}
        assert not Tag.objects.exists()
        assert "OperationalError" in call(boss, "away.get").error

    def test_it_stays_away_for_the_call(self, closed_database):
        """What came back would have no transaction that is rolled back."""
        with opened(["default", "other"]) as there:
            port = closed_database.settings_dict["PORT"]
            with socket.create_server(("127.0.0.1", int(port))) as back:
                back.settimeout(0)
                with pytest.raises(OperationalError):
                    Tag.objects.using("other").create(name="sneaked")
                with pytest.raises(BlockingIOError):
                    back.accept()
        assert there == ["default"]


class TestJson:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"body": {"a": float("nan")}}, "The body has NaN or Infinity"),
            ({"query": {"a": float("inf")}}, "The query has NaN or Infinity"),
            ({"body": nested(5000)}, "The body is nested more than 32 levels deep"),
            ({"query": {"a": nested(5000)}}, "The query is nested more than 32"),
        ],
        ids=["nan", "infinity", "deep body", "deep query"],
    )
    def test_what_no_view_can_read(self, opt_in, boss, arguments, words):
        opt_in("trap.*")

        given = {"operation": "trap.post", **arguments}
        with pytest.raises(ModelRetry, match=words):
            registry.tool("call_api").handler(told(boss, "trap.post"), **given)
        assert site.seen == []

    def test_answer_that_is_too_deep_is_not_read(self):
        response = HttpResponse("[" * 100_000, content_type="application/json")

        assert requests.read(response, kept.Kept()).unread


@pytest.mark.django_db(transaction=True)
def test_what_only_reads_takes_no_write_lock(opt_in, boss, library):
    opt_in("books.*")
    context = told(boss, "books.list", "books.lend")

    with CaptureQueriesContext(connection) as reading:
        assert use("call_api", context, operation="books.list").ok
    with CaptureQueriesContext(connection) as writing:
        use("call_api", context, operation="books.lend", path={"pk": library.book.pk})

    if connection.vendor == "sqlite":
        begun = [
            [one["sql"] for one in queries if one["sql"].startswith("BEGIN")]
            for queries in (reading, writing)
        ]
        assert begun == [["BEGIN"], ["BEGIN IMMEDIATE"]]


class TestKept:
    def test_secrets_are_masked(self, opt_in, boss, library):
        opt_in("books.retrieve", "authors.*")

        book = call(boss, "books.retrieve", path={"pk": library.book.pk}).data
        author = call(boss, "authors.retrieve", path={"pk": library.verne.pk}).data

        assert book["by"] == {**author, "api_key": HIDDEN}
        assert author["name"] == "Verne"

    def test_field_that_the_site_keeps_or_opens(self, opt_in, boss, library):
        own = {
            "SENSITIVE": ["library.author.email"],
            "NOT_SENSITIVE": ["library.author.api_key"],
        }
        opt_in("authors.retrieve", DATA=own)

        author = call(boss, "authors.retrieve", path={"pk": library.verne.pk}).data

        assert (author["email"], author["api_key"]) == (HIDDEN, "canary-key")

    def test_secrets_are_not_written(self, opt_in, boss, library):
        opt_in("authors.*")

        result = call(
            boss,
            "authors.partial_update",
            path={"pk": library.verne.pk},
            body={"name": "V", "api_key": "mine"},
        )

        assert result.error_type == "retry"
        assert Author.objects.get().name == "Verne"

    def test_what_the_site_lets_be_read_only(self, opt_in, boss, library):
        opt_in("books.*", DATA={"READ_ONLY": ["library.book.price"]})
        path = {"pk": library.book.pk}

        told_of = use("search_api", told(boss), operation="books.create").data
        refused = call(boss, "books.partial_update", path=path, body={"price": "1"})

        assert "price" not in told_of["body"]["properties"]
        assert refused.error_type == "retry"
        assert call(boss, "books.retrieve", path=path).data["price"] == "0.00"

    def test_rights_where_no_serializer_says_so(self, opt_in, boss):
        opt_in("trap.post")

        # A parser of the site may take camel case.
        for name in ("is_superuser", "isSuperuser"):
            result = call(boss, "trap.post", body={"rows": [{name: True}]})
            assert (result.error_type, site.seen) == ("retry", [])

    def test_excluded_model_in_another(self, opt_in, boss, library):
        opt_in("books.*", DATA={"MODELS_EXCLUDED": ["library.author"]})

        book = call(boss, "books.retrieve", path={"pk": library.book.pk}).data

        assert (book["title"], book["by"]) == ("Leagues", HIDDEN)

    @pytest.mark.parametrize(
        ("operation", "query"),
        [
            ("books.list", {"author__api_key": "canary"}),
            ("books.list", {"ordering": "author__api_key"}),
            ("books.list", {"author__session__expire_date__gt": "2020-01-01"}),
            ("authors.list", {"search": "canary"}),  # it searches the keys too
        ],
    )
    def test_secrets_are_not_asked_about(self, opt_in, boss, library, operation, query):
        opt_in("books.*", "authors.*")

        result = call(boss, operation, query=query)

        assert result.error_type == "retry"
        assert "kept from the assistant" in result.error

    @pytest.mark.parametrize(
        "operation", ["mails.list", "all-mails.get", "addresses.list"]
    )
    def test_secret_whose_serializer_is_known_late(
        self, opt_in, boss, library, operation
    ):
        opt_in("*", DATA={"SENSITIVE": ["library.author.email"]})

        result = call(boss, operation)

        assert result.ok
        assert "v@x.org" not in str(result)

    def test_secret_is_not_written_whoever_asks(self, opt_in, boss, library):
        opt_in("*", DATA={"SENSITIVE": ["library.author.email"]})
        path, body = {"pk": library.verne.pk}, {"email": "a@b.org"}

        result = call(boss, "mails.partial_update", path=path, body=body)

        assert result.error_type == "retry"
        assert Author.objects.get().email == "v@x.org"

    @pytest.mark.parametrize(
        "query",
        [
            {"ordering": ["-price"]},  # as a list
            {"price_min": 1},
            {"by": "title,-cost"},
        ],
    )
    def test_ways_to_order_and_filter(self, opt_in, boss, library, query):
        opt_in("*", DATA={"SENSITIVE": ["library.book.price"]})

        assert call(boss, "addresses.list", query=query).error_type == "retry"
        assert call(boss, "addresses.list", query={"by": "-title"}).ok

    def test_row_is_not_found_by_a_secret(self, opt_in, boss):
        Tag.objects.create(name="sea")
        opt_in("*", DATA={"SENSITIVE": ["library.tag.name"]})

        result = call(boss, "tags.retrieve", path={"name": "sea"})

        assert "kept from the assistant" in result.error

    def test_permissions_of_a_group(self, opt_in, boss):
        opt_in("groups.*")

        assert call(
            boss, "groups.create", body={"name": "x", "permissions": [1]}
        ).error_type == ("retry")
        made = call(boss, "groups.create", body={"name": "x"})
        assert made.data["permissions"] == HIDDEN

    def test_body_in_a_body(self):
        own = kept.Kept(hidden=frozenset({"margin"}))

        with pytest.raises(Exception, match="does not write 'margin'"):
            kept.check_body({"rows": [{"margin": 1}]}, own)


# Values that a server, a proxy or a view may take for another address.
VALUES = [
    *("..", ".", "../trap", "a/../../trap", "a/./b", "a//b", "//host", "/trap"),
    *("\\", "..\\trap", "a\\b", "a\x00b", "a\nb", "a?x=1", "a#b", "http://host/"),
    "",
]


class TestEscapes:
    @pytest.mark.parametrize("value", VALUES)
    @pytest.mark.parametrize(
        ("operation", "name"),
        [("echo.get", "rest"), ("trap-named.get", "name"), ("tags.retrieve", "name")],
    )
    def test_odd_values_of_a_path(self, opt_in, boss, operation, name, value):
        opt_in("*")

        result = call(boss, operation, path={name: value})

        assert result.error_type == "retry"
        assert site.seen == []

    @pytest.mark.parametrize(
        "value", ["%2e%2e%2ftrap", "%2F%2Fhost", "..%2f", "%5c", "%00", "ä b", "@:;="]
    )
    def test_what_is_encoded_stays_a_value(self, opt_in, boss, value):
        opt_in("echo.get", "trap-named.get")

        assert call(boss, "echo.get", path={"rest": value}).data["rest"] == value
        call(boss, "trap-named.get", path={"name": value})
        assert site.seen == [("GET", {"name": value})]

    @pytest.mark.parametrize(
        ("operation", "words"),
        [
            ("redirecting.get", "redirects to “/api-site/trap/”"),
            ("streaming.get", "file or a stream (text/csv)"),
            ("file.get", "file or a stream (application/json)"),
            ("text.get", "answers with text/html"),
        ],
    )
    def test_what_is_no_json_is_told(self, opt_in, boss, operation, words):
        opt_in("*")

        result = call(boss, operation)

        assert words in result.message
        assert result.data is None
        assert site.seen == []

    def test_another_view_at_the_address(self, opt_in, boss):
        opt_in("second.get", "first.get")

        result = call(boss, "second.get")

        assert (result.ok, result.error_type) == (False, "failed")
        assert "Another view" in result.error
        assert call(boss, "first.get").data == {"reached": True}

    def test_same_view_at_another_address(self, opt_in, boss):
        opt_in("sort-out.post")

        result = call(boss, "sort-out.post", path={"what": "all"})

        assert "Another view" in result.error
        assert call(boss, "sort-out.post", path={"what": "new"}).data == {"all": False}
        assert site.seen == [("new", False)]

    def test_method_is_that_of_the_operation(self, opt_in, boss):
        opt_in("trap.get")

        for body in ({"_method": "DELETE"}, None):
            assert call(boss, "trap.get", body=body, query={"_method": "POST"}).ok
        assert {method for method, _arguments in site.seen} == {"GET"}

    def test_body_of_a_delete_is_sent(self, opt_in, boss):
        opt_in("books.some")

        call(boss, "books.some", body={"ids": [1]})

        assert site.seen == [{"ids": [1]}]

    def test_views_that_nobody_opts_in(self, opt_in, boss):
        known = catalogue_of(opt_in)
        never = {one.id for one in known.left_out if one.is_never}

        assert {"ours.list", "key.post", "door.get", "log-out.get"} <= never
        for operation in sorted(never):
            assert call(boss, operation).error_type == "retry"
        assert site.seen == []

    def test_a_page_is_no_operation(self, opt_in, boss):
        opt_in("*", "admin:index", "start", "admin.index.get")

        for operation in ("admin:index", "start", "/admin/", "//host", "unnamed.get"):
            assert call(boss, operation).error_type == "retry"

    def test_of_a_user_without_the_permission(self, opt_in, library):
        opt_in("books.*")
        nora = staff("nora")

        result = call(nora, "books.destroy", path={"pk": library.book.pk})

        assert (result.ok, result.error_type) == (False, "permission")
        assert len(library.books) == library.book.author.book_set.count()


def catalogue_of(opt_in):
    names = [one.name for one in opt_in("*").left_out]
    opt_in("*", *names)
    return catalogue()
