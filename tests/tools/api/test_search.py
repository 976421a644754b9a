"""The operations are found, and told in the form in which they are called."""

import json
from dataclasses import replace

import pytest

from ai_assistant.registry import registry
from ai_assistant.testing import run_assistant
from ai_assistant.tools.api import search
from ai_assistant.tools.api.catalogue import has_operations
from ai_assistant.tools.api.directory import CHARS, directory
from ai_assistant.tools.model_schema import schema_chars
from tests.tools.api.calls import told, use
from tests.tools.data.reading import staff

pytestmark = [pytest.mark.django_db, pytest.mark.row("Y03")]


@pytest.fixture
def nora(db):
    return staff("nora", "view_questionnaire", "view_assistant", "use_assistant")


class TestOptIn:
    def test_nothing_without_the_setting(self, nora):
        assert not has_operations()
        played = run_assistant(nora, "/admin/", "Hello", replies=["Hi"])
        assert not {"search_api", "call_api"} & {*played.offered}

    def test_patterns(self, opt_in):
        known = opt_in("books.*", "!books.l*", "tags.list")

        assert sorted(known.operations) == [
            *("books.create", "books.destroy", "books.partial_update"),
            *("books.retrieve", "books.some", "books.update", "tags.list"),
        ]

    def test_what_is_left_out_goes_before_a_name(self, opt_in):
        assert not opt_in("books.list", "!books.*").operations
        # It has two methods, so that both have longer names.
        known = opt_in("schedules.*", "!schedules.pause")
        assert not [name for name in known.operations if "pause" in name]

    @pytest.mark.parametrize("name", ["web.list", "elsewhere.get", "public.get"])
    def test_some_by_name_only(self, opt_in, name):
        assert name not in opt_in("*", f"{name[:-1]}?").operations
        assert name in opt_in(name).operations

    @pytest.mark.parametrize(
        "name",
        ["ours.list", "key.post", "door.get", "log-out.post", "purging.purge"],
    )
    def test_some_never(self, opt_in, name):
        known = opt_in(name, "*")

        assert name in {one.name for one in known.left_out}

    def test_none_of_our_own(self, opt_in):
        opened = opt_in("*").operations.values()

        assert not [one.id for one in opened if "assistant" in one.path]

    def test_model_that_is_excluded(self, opt_in):
        known = opt_in("*", DATA={"MODELS_EXCLUDED": ["library.book"]})
        assert "books.list" not in known.operations

    def test_model_that_is_read_only(self, opt_in):
        known = opt_in("*", DATA={"READ_ONLY": ["library.book"]})
        assert "books.list" in known.operations
        assert "books.create" not in known.operations


class TestSearch:
    def test_way_to_an_operation(self, opt_in, boss):
        opt_in("books.*", "schedules.*")
        context = told(boss)

        (_books, schedules) = use("search_api", context).data["services"]
        assert schedules["service"] == "schedules"
        listed = use("search_api", context, service="schedules").data["operations"]
        first = next(one for one in listed if one["operation"] == "schedules.create")
        assert first["request"] == "POST /api/schedules/"
        described = use("search_api", context, operation="schedules.create").data
        assert described["body"]["properties"]["name"]["type"] == "string"
        assert described["body"]["required"] == ["questionnaire", "name"]
        ref = described["responses"]["201"]["$ref"]
        schema = use("search_api", context, schema=ref).data["definition"]
        assert "active" in schema["properties"]

    def test_schemas_of_other_operations_are_not_told(self, opt_in, boss):
        ref = opt_in("books.*").operations["books.retrieve"].described.responses["200"]
        assert use("search_api", told(boss), schema=ref["$ref"]).ok

        opt_in("schedules.*")
        assert not use("search_api", told(boss), schema=ref["$ref"]).ok

    def test_parameters(self, opt_in, boss):
        opt_in("books.list", "echo.get", "trap-named.get")

        told_of = use("search_api", told(boss), operation="books.list").data
        assert {"status", "ordering", "search", "cursor"} <= {*told_of["query"]}
        told_of = use("search_api", told(boss), operation="trap-named.get").data
        assert told_of["path"] == {"name": {"type": "string"}}

    @pytest.mark.parametrize(
        ("text", "first"),
        [
            ("lend a book", "books.lend"),
            ("pause", "schedules.pause.post"),
            ("schedule delete", "schedules.pause.delete"),
        ],
    )
    def test_by_words(self, opt_in, boss, text, first):
        opt_in("books.*", "schedules.*", "!schedules.destroy")

        found = use("search_api", told(boss), text=text).data["operations"]

        assert first in [one["operation"] for one in found[:2]]

    def test_only_what_the_user_may(self, opt_in, nora):
        opt_in("questionnaires.*", "sections.*")

        context = told(nora)
        own = use("search_api", context, service="questionnaires").data["operations"]
        none = use("search_api", context, service="sections").data["operations"]

        assert {one["operation"].partition(".")[2] for one in own} == {
            *("list", "retrieve", "outline")
        }
        assert none == []

    @pytest.mark.parametrize("kind", ["operation", "service", "schema"])
    def test_what_is_not_there(self, opt_in, boss, kind):
        opt_in("books.*")

        result = use("search_api", told(boss), **{kind: "books.lst"})

        assert (result.ok, result.error_type) == (False, "retry")
        assert "books" in result.error or kind == "schema"

    def test_secrets_are_not_asked_for(self, opt_in, boss):
        opt_in("authors.*")

        body = use("search_api", told(boss), operation="authors.create").data["body"]

        assert [*body["properties"]] == ["name", "email"]


class TestDocument:
    @pytest.fixture
    def _spectacular(self, monkeypatch):
        from drf_spectacular.openapi import AutoSchema

        from tests.tools.api import site

        monkeypatch.setattr(site.BookViewSet, "schema", AutoSchema(), raising=False)

    @pytest.mark.usefixtures("_spectacular")
    def test_ids_and_schemas_of_drf_spectacular(self, opt_in, boss, library):
        known = opt_in("books.*", DATA={"SENSITIVE": ["library.tag"]})

        assert "api_site_books_list" in known.operations
        told_of = use("search_api", told(boss), operation="api_site_books_create").data
        assert {"title", "author"} <= {*told_of["body"]["properties"]}
        assert known.operations["api_site_books_lend_create"].name == "books.lend"
        assert opt_in("api_site_books_l*").operations.keys() == {
            *("api_site_books_list", "api_site_books_lend_create")
        }


@pytest.mark.row("B06")
class TestDirectory:
    def test_stands_in_the_prompt_with_the_tools(self, opt_in, boss):
        opt_in("books.*", "schedules.list")

        played = run_assistant(boss, "/admin/", "Hello", replies=["Hi"])

        assert "- schedules: schedules.list" in played.prompt
        assert "- books: books.create" in played.prompt
        # Also where there are too many tools to tell of all.
        assert {"search_api", "call_api", "find_tools"} <= {*played.offered}

    def test_is_short_and_tells_of_the_rest(self, opt_in):
        few = opt_in("*").services()
        many = {f"{name}-{i}": own for i in range(40) for name, own in few.items()}

        text = directory(many)

        assert len(text) <= CHARS
        shown = text.count("\n- ") - 1
        assert text.endswith(f"- {len(many) - shown} more: search_api()")

    def test_schemas_are_small(self):
        tools = [registry.tool(name) for name in ("search_api", "call_api")]

        assert sum(map(schema_chars, tools)) <= 1200
        assert json.dumps(tools[0].schema)


class TestShort:
    def test_what_a_model_can_do_without(self, opt_in, boss, monkeypatch):
        zones = [f"Zone/{i}" for i in range(100)]
        own = {
            "type": "object",
            "properties": {
                "example": {"enum": zones},
                "count": {"type": "integer", "maximum": 2**63 - 1, "minimum": 0},
            },
        }
        known = opt_in("books.create")
        components = {**known.components, "Big": own}
        monkeypatch.setattr(
            search, "catalogue_of", lambda _: replace(known, components=components)
        )

        told_of = use("search_api", told(boss), schema="Big").data["definition"]

        assert told_of["properties"]["count"] == {"type": "integer", "minimum": 0}
        zones_told = told_of["properties"]["example"]
        assert (len(zones_told["enum"]), zones_told["description"]) == (
            60,
            "and 40 more",
        )
