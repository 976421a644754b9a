"""The document of the API: made by drf-spectacular, from what the views say."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from django import urls
from django.conf import settings as site
from django.db import connection
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.settings import patched_settings
from drf_spectacular.validation import validate_schema
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from ai_assistant.web.problems import STATUS
from ai_assistant.web.rest import schema
from ai_assistant.web.rest.routes import resolver
from ai_assistant.web.rest.schema import ApiSchemaGenerator
from tests.docs.blocks import page

DOCUMENT = ApiSchemaGenerator().get_schema()
OPERATIONS = [
    (path, method, told)
    for path, methods in DOCUMENT["paths"].items()
    for method, told in methods.items()
]


class TestMade:
    def test_made_is_valid(self):
        validate_schema(DOCUMENT)

    def test_made_has_every_method_of_every_view(self):
        methods = {(path, method) for path, method, _ in OPERATIONS}
        wanted = {
            ("/" + re.sub(r"<uuid:(\w+)>", r"{\1}", str(pattern.pattern)), method)
            for pattern in resolver().url_patterns
            for method in ("get", "post", "patch", "delete")
            if method in getattr(pattern.callback, "actions", ())
            or any(method in vars(view) for view in pattern.callback.cls.__mro__)
        }

        assert methods == wanted

    def test_made_gives_no_warning(self, capsys):
        schema._document.__wrapped__(site.ROOT_URLCONF)

        assert capsys.readouterr().err == ""

    def test_each_operation_is_told(self):
        ids = [told["operationId"] for _, _, told in OPERATIONS]

        assert len(set(ids)) == len(ids)
        for path, method, told in OPERATIONS:
            assert told["summary"], (path, method)
            assert "Scope of a token" in told["description"]
            assert {"401", "403", "406", "429"} <= set(told["responses"])
            assert told["security"] == [{"token": []}, {"session": []}]
            if "requestBody" in told:
                (content,) = told["requestBody"]["content"].values()
                assert content["examples"]

    def test_page_tells_every_code(self):
        told = {
            word
            for _, _, one in OPERATIONS
            for response in one["responses"].values()
            for word in response["description"].partition("Codes: ")[2].split("`")[1::2]
        }

        text = page("docs/rest.md")
        assert {"limited", "key_reused"} <= told
        assert not [one for one in sorted(told) if f"| `{one}` |" not in text]
        assert (
            not told
            - set(STATUS)
            - {
                *(
                    "limited",
                    "invalid",
                    "bad_request",
                    "bad_cursor",
                    "bad_key",
                    "empty",
                ),
                *(
                    "unknown_parameter",
                    "too_long",
                    "binary",
                    "wrong_answer",
                    "no_agent",
                ),
                *("bad_decision", "no_rows", "not_for_run", "too_many"),
                *("arguments", "answered", "timeout"),
                *("command_failed", "command_name", "command_text"),
            }
        )

    def test_page_tells_every_address(self):
        text = page("docs/rest.md")

        for path, method, _ in OPERATIONS:
            assert f"| `{method.upper()} {path}` |" in text


class Theirs(APIView):
    """Of the site's own API."""

    schema = AutoSchema()
    authentication_classes = ()
    serializer_class = Serializer

    def get(self, request):
        raise NotImplementedError


class TestServed:
    def test_served_with_the_address_of_the_site(self, program):
        told = program().get("schema/").json()

        assert told["servers"] == [{"url": "/assistant/api"}]
        assert told == DOCUMENT

    def test_served_is_made_once(self, program, monkeypatch):
        ada = program()
        ada.get("schema/")
        monkeypatch.setattr(ApiSchemaGenerator, "parse", None)

        assert ada.get("schema/").status_code == 200

    def test_served_is_not_in_a_document_of_the_site(self):
        generator = SchemaGenerator(urlconf="tests.stock_urls")
        found = generator.get_schema(request=None, public=True)

        assert not [path for path in found["paths"] if "/assistant/api" in path]

    def test_served_is_in_a_document_of_the_site_with_the_hook(self):
        hook = "ai_assistant.web.rest.schema.preprocess_add_assistant"
        patterns = [urls.path("theirs/", Theirs.as_view())]
        generator = SchemaGenerator(patterns=patterns)

        with patched_settings({"PREPROCESSING_HOOKS": [hook]}):
            listed = generator.get_schema(request=None, public=True)
            own = schema._document.__wrapped__("tests.urls")

        validate_schema(listed)
        ids = {
            f"/assistant/api{path}": {
                method: told["operationId"] for method, told in methods.items()
            }
            for path, methods in DOCUMENT["paths"].items()
        }
        found = {
            path: {method: told["operationId"] for method, told in methods.items()}
            for path, methods in listed["paths"].items()
        }
        assert found.pop("/theirs/")
        assert found == ids
        assert own["paths"] == DOCUMENT["paths"]

    @pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
    def test_two_at_once_leave_the_document_of_the_site_alone(self, program, version):
        ada = program()
        options = {"TITLE": "Shop", "OAS_VERSION": version, "CAMELIZE_NAMES": True}
        patterns = [urls.path("theirs/", Theirs.as_view())]

        def own():
            return SchemaGenerator(patterns=patterns).get_schema(public=True)

        def ask():
            try:
                return ada.get("schema/").json()
            finally:
                connection.close()

        with patched_settings(options), ThreadPoolExecutor(3) as pool:
            before = own()
            schema._document.cache_clear()
            asked = [pool.submit(ask) for _ in range(2)]
            during = [pool.submit(own).result() for _ in range(5)]
            ours = [one.result() for one in asked]
            after = own()

        assert ours == [DOCUMENT, DOCUMENT]
        assert [*during, after] == [before] * 6
        assert list(before["paths"]) == ["/theirs/"]
        assert (before["info"]["title"], before["openapi"]) == ("Shop", version)


@pytest.mark.parametrize(
    "theirs",
    [
        {
            "DEFAULT_AUTHENTICATION_CLASSES": [],
            "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
            "DEFAULT_RENDERER_CLASSES": [
                "rest_framework.renderers.BrowsableAPIRenderer"
            ],
            "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.FormParser"],
            "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.AnonRateThrottle"],
            "DEFAULT_THROTTLE_RATES": {"anon": "1/day"},
            "DEFAULT_VERSIONING_CLASS": "rest_framework.versioning.AcceptHeaderVersioning",
            "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
            "PAGE_SIZE": 1,
            "EXCEPTION_HANDLER": "tests.web.rest.theirs.fail",
            "URL_FORMAT_OVERRIDE": "page_size",
            "DATETIME_FORMAT": "%d",
            "UNAUTHENTICATED_USER": None,
            "COERCE_DECIMAL_TO_STRING": False,
            "NON_FIELD_ERRORS_KEY": "all",
            "DEFAULT_FILTER_BACKENDS": ["rest_framework.filters.SearchFilter"],
        }
    ],
)
def test_settings_of_the_site_change_nothing(program, settings, theirs):
    ada = program()
    for text in ("One", "Two"):
        ada.start(text)
    paths = ("runs/", "runs/?page_size=1", "runs/?x=1", "conversations/", "nope/")

    def told():
        answers = [ada.get(path) for path in paths]
        return [
            (
                one.status_code,
                one.headers["Content-Type"],
                {**one.json(), "next": None},  # it tells the time
            )
            for one in answers
        ]

    before = told()
    settings.REST_FRAMEWORK = theirs
    settings.TIME_ZONE = "Asia/Tokyo"

    assert told() == before
    assert ada.start("Three").status_code == 201
    assert ada.start("").json()["code"] == "invalid"
