"""An operation of django-ninja is called as the user, and no other view is reached."""

import importlib
import os
from types import ModuleType

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.urls import clear_url_caches, path

if os.environ.get("HOSTS_PACKAGE") != "ninja":
    pytest.skip("of the site of django-ninja", allow_module_level=True)

from ai_assistant import conf
from ai_assistant.safety.policy.sensitive import HIDDEN
from ai_assistant.tools.api.catalogue import catalogue
from tests.docs.blocks import blocks, page
from tests.hosts.packages.api import make_user
from tests.hosts.packages.sites.ninja.models import Tag
from tests.hosts.packages.sites.ninja.traps import seen
from tests.tools.api import calls
from tests.tools.api.calls import call

cases = importlib.import_module("tests.hosts.packages.sites.ninja.cases")
pytestmark = pytest.mark.django_db
API = "tests_hosts_packages_sites_ninja_api_"
TRAPS = "tests_hosts_packages_sites_ninja_traps_"


@pytest.fixture(autouse=True)
def boss():
    cases.make()
    cache.clear()  # of throttles
    seen.clear()
    return get_user_model().objects.create_superuser("ada", password="x")


@pytest.fixture
def opt_in(settings):
    def choose(*patterns, **data):
        own = {"API_OPERATIONS": list(patterns), "DATA": data}
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, own)
        return catalogue()

    return choose


class TestOptIn:
    def test_names(self, opt_in):
        known = opt_in("books.*", "!books.loss")

        assert {one.name for one in known.operations.values()} == {
            *("books.list_items", "books.create_book", "books.one_book"),
            *("books.change_book", "books.delete_book", "books.lend"),
        }
        assert f"{API}lend" in known.operations
        assert not opt_in(f"{API}*", f"!{API}loss", "!*items").services().keys() - {
            *("books", "authors", "tags")
        }
        assert f"{API}loss.post" not in catalogue().operations

    @pytest.mark.parametrize("name", ["elsewhere", "public"])
    def test_some_by_name_only(self, opt_in, name):
        assert name not in opt_in("*", f"{name[:-1]}?").operations
        assert name in opt_in(name).operations

    def test_some_never(self, opt_in):
        names = [one.id for one in opt_in("*").left_out]
        known = opt_in("*", *names)

        never = {one.name for one in known.left_out if one.is_never}
        assert {"traps.log_in", "traps.reset"} <= never
        every = {one.name for one in [*known.operations.values(), *known.left_out]}
        # Neither forms, files nor what the site does not document.
        assert not {f"traps.{name}" for name in ("form", "upload", "secret")} & every
        assert not [one for one in every if "openapi" in one or "docs" in one]

    def test_model_that_is_excluded(self, opt_in):
        known = opt_in("*", MODELS_EXCLUDED=["host.book"])
        # Also those that answer nothing, such as the one that deletes.
        assert "books" not in known.services()


def test_example_of_the_page(settings):
    code = {one.file: one.code for one in blocks(page("docs/api-operations.md"))}
    own = ModuleType("payments")
    exec(compile(code["payments/api.py"], "api.py", "exec"), own.__dict__)  # noqa: S102 - of our page
    urls = ModuleType("urls_of_the_page")
    urls.urlpatterns = [path("pay/", own.api.urls)]
    settings.ROOT_URLCONF = urls
    clear_url_caches()

    (remind,) = catalogue().operations.values()

    clear_url_caches()
    assert (remind.name, remind.method) == ("orders.remind", "POST")
    assert (remind.effect, remind.is_external) == ("write", True)
    assert remind.about == "Remind the customer of an order that is not paid."


class TestDescription:
    def test_what_it_takes_and_answers(self, boss):
        context = calls.told(boss)

        told_of = calls.use("search_api", context, operation=f"{API}create_book").data
        assert told_of["request"] == "POST /api/books/"
        assert told_of["about"] == "Add a book."
        assert "title" in told_of["body"]["properties"]
        assert "added_by" not in told_of["body"]["properties"]  # read-only
        ref = told_of["responses"]["201"]["$ref"]
        schema = calls.use("search_api", context, schema=ref).data["definition"]
        assert {"title", "by", "author_name"} <= {*schema["properties"]}
        listed = calls.use(
            "search_api", context, operation=catalogue_id("books.list_items")
        ).data
        assert {"status", "search", "order_by", "limit"} <= {*listed["query"]}
        one = calls.use("search_api", context, operation=f"{API}one_book").data
        assert one["path"]["book_id"]["type"] == "integer"

    def test_only_what_the_user_may(self, boss):
        nora = make_user("nora", is_staff=True)

        found = [
            calls.use("search_api", calls.told(user), service="authors").data
            for user in (boss, nora)
        ]

        names = [{one["operation"] for one in each["operations"]} for each in found]
        assert names[0] - names[1] == {f"{API}create_author"}


def catalogue_id(name):
    return next(one.id for one in catalogue().operations.values() if one.name == name)


class TestCall:
    def test_list(self, boss):
        query = {"status": "lent", "limit": 1}

        found = call(boss, catalogue_id("books.list_items"), query=query).data

        assert [one["title"] for one in found["items"]] == ["Moon"]

    def test_two_functions_of_one_name(self, boss):
        # Their URL names are the same too.
        assert (
            call(boss, catalogue_id("authors.list_items")).data["rows"][0]["name"]
            == "Verne"
        )
        assert "items" in call(boss, catalogue_id("books.list_items")).data

    def test_words_of_the_api(self, boss):
        wrong = call(boss, f"{API}create_tag", body={"names": "x"})

        assert (wrong.ok, wrong.error_type) == (False, "validation")
        assert "Field required" in wrong.error
        assert call(boss, f"{API}one_book", path={"book_id": "x"}).error_type == "retry"

    def test_throttles_count(self, boss, opt_in):
        opt_in("traps.throttled")

        outcomes = [call(boss, f"{TRAPS}throttled").error_type for _ in range(3)]

        assert outcomes == ["", "", "rate_limited"]

    def test_one_that_takes_tokens_only(self, boss, client):
        assert call(boss, "elsewhere").data == {"user": "ada"}
        # Who asks over HTTP needs a token as before.
        client.force_login(boss)
        assert client.get("/api/traps/elsewhere").status_code == 401

    def test_request_has_nothing_of_ours(self, boss):
        told_of = call(
            boss, f"{TRAPS}echo", path={"rest": "a"}, query={"_method": "DELETE"}
        ).data

        assert (told_of["user"], told_of["method"]) == ("ada", "GET")
        assert (told_of["cookies"], told_of["files"]) == ({}, 0)
        of_page = ["Accept-Language"]  # of the page where the person is
        own = ["Accept", "Content-Length", "Content-Type"]
        assert told_of["headers"] == sorted([*own, *of_page])

    @pytest.mark.parametrize("name", ["sneaky", "sneaky_async"])
    def test_what_only_reads_writes_nothing(self, boss, name):
        assert call(boss, f"{TRAPS}{name}").data == {"made": "sneaked"}
        assert not Tag.objects.filter(name="sneaked").exists()

    def test_view_of_adrf(self, boss):
        assert call(boss, "tag-count.get").data == {"count": 2}
        nora = make_user("nora")
        assert call(nora, "tag-count.get").error_type == "permission"


class TestKept:
    def test_secrets_are_masked_and_not_written(self, boss):
        author = call(boss, catalogue_id("authors.list_items")).data["rows"][0]
        assert (author["name"], author["api_key"]) == ("Verne", HIDDEN)
        assert call(boss, f"{API}one_book", path={"book_id": 1}).data["by"] == author
        assert call(boss, f"{TRAPS}untyped").data["rows"][0]["api_key"] == HIDDEN
        written = call(
            boss, f"{API}create_author", body={"name": "x", "api_key": "mine"}
        )
        assert written.error_type == "retry"

    def test_field_that_the_site_keeps(self, boss, opt_in):
        opt_in("*", SENSITIVE=["host.author.email", "host.author.name"])

        author = call(boss, catalogue_id("authors.list_items")).data["rows"][0]
        assert (author["name"], author["email"]) == (HIDDEN, HIDDEN)
        # No schema tells what these are of: the name alone counts.
        assert call(boss, f"{TRAPS}untyped").data["rows"][0]["email"] == HIDDEN
        made = call(boss, f"{API}create_author", body={"name": "x", "email": "a@b.org"})
        assert made.error_type == "retry"

    def test_field_that_is_read_only(self, boss):
        body = {"title": "x", "author": 1, "added_by": "eve"}
        assert call(boss, f"{API}create_book", body=body).error_type == "retry"

    @pytest.mark.parametrize(
        "query", [{"by": "canary"}, {"order_by": "-author__api_key"}]
    )
    def test_secrets_are_not_asked_about(self, boss, query):
        result = call(boss, catalogue_id("books.list_items"), query=query)

        assert result.error_type == "retry"
        assert "kept from the assistant" in result.error

    def test_row_is_not_found_by_a_secret(self, boss):
        result = call(boss, f"{TRAPS}by_key", path={"api_key": "canary-key"})

        assert ("kept from" in result.error, seen) == (True, [])


VALUES = [
    *(
        "..",
        ".",
        "../reached",
        "a/../../reached",
        "a/./b",
        "a//b",
        "//host",
        "/reached",
    ),
    *("\\", "..\\reached", "a\\b", "a\x00b", "a\nb", "a?x=1", "a#b", "http://host/"),
    "",
]


class TestEscapes:
    @pytest.mark.parametrize("value", VALUES)
    @pytest.mark.parametrize(
        ("name", "argument"), [("echo", "rest"), ("named", "name")]
    )
    def test_odd_values_of_a_path(self, boss, name, argument, value):
        result = call(boss, f"{TRAPS}{name}", path={argument: value})

        assert (result.error_type, seen) == ("retry", [])

    @pytest.mark.parametrize(
        "value",
        ["%2e%2e%2freached", "%2F%2Fhost", "..%2f", "%5c", "%00", "ä b", "@:;="],
    )
    def test_what_is_encoded_stays_a_value(self, boss, value):
        assert call(boss, f"{TRAPS}echo", path={"rest": value}).data["rest"] == value
        call(boss, f"{TRAPS}named", path={"name": value})
        assert seen == [("GET", value)]

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("redirecting", "redirects to “/api/traps/reached”"),
            ("streaming", "file or a stream (text/csv)"),
            ("file", "file or a stream (application/json)"),
            ("text", "answers with text/html"),
        ],
    )
    def test_what_is_no_json_is_told(self, boss, name, words):
        result = call(boss, f"{TRAPS}{name}")

        assert (words in result.message, result.data, seen) == (True, None, [])

    def test_another_operation_at_the_address(self, boss):
        result = call(boss, f"{TRAPS}second")

        assert "Another view" in result.error
        assert (call(boss, f"{TRAPS}first").ok, seen) == (True, [])

    def test_method_is_that_of_the_operation(self, boss):
        for body in ({"_method": "DELETE"}, None):
            query = {"X-HTTP-Method-Override": "DELETE"}
            assert call(boss, f"{TRAPS}reached", body=body, query=query).ok
        assert seen == [("GET", ""), ("GET", "")]

    def test_what_nobody_opts_in(self, boss, opt_in):
        names = [one.id for one in opt_in("*").left_out]
        opt_in("*", *names)
        left = [one.id for one in catalogue().left_out]

        for name in (
            *left,
            "secret",
            f"{TRAPS}secret",
            "/api/docs",
            "library:api-root",
        ):
            assert call(boss, name).error_type == "retry"
        assert seen == []
