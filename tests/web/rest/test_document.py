"""The document of the API: made by drf-spectacular, a file, and nobody else's."""

import json
import re

import pytest
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import spectacular_settings
from drf_spectacular.validation import validate_schema

from ai_assistant.web.problems import STATUS
from ai_assistant.web.rest.document import FILE
from ai_assistant.web.rest.routes import VIEWS, load
from tests.docs.blocks import page
from tools.openapi import generate

DOCUMENT = json.loads(FILE.read_text(encoding="utf-8"))
OPERATIONS = [
    (path, method, told)
    for path, methods in DOCUMENT["paths"].items()
    for method, told in methods.items()
]


class TestFile:
    def test_is_what_the_views_say(self):
        """If not: `python tools/openapi.py`."""
        before = dict(vars(spectacular_settings))

        assert generate() == DOCUMENT
        assert before.get("TITLE", "") == spectacular_settings.TITLE

    def test_is_valid(self):
        validate_schema(DOCUMENT)

    def test_has_every_method_of_every_view(self):
        methods = {(path, method) for path, method, _ in OPERATIONS}
        wanted = {
            ("/" + re.sub(r"<uuid:(\w+)>", r"{\1}", route), method)
            for route, view, _ in VIEWS
            for method in ("get", "post", "patch", "delete")
            if hasattr(load(view), method)
        }

        assert methods == wanted

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
                *("unknown_parameter", "too_long", "binary", "wrong_answer"),
                *("bad_decision", "no_rows", "not_for_run"),
            }
        )

    def test_page_tells_every_address(self):
        text = page("docs/rest.md")

        for path, method, _ in OPERATIONS:
            assert f"| `{method.upper()} {path}` |" in text


class TestServed:
    def test_with_the_address_of_the_site(self, program):
        told = program().get("schema/").json()

        assert told.pop("servers") == [{"url": "/assistant/api"}]
        assert told == DOCUMENT

    def test_is_not_in_a_document_of_the_site(self):
        found = SchemaGenerator().get_schema(request=None, public=True)

        assert not [path for path in found["paths"] if "/assistant/api" in path]


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
        return [(one.status_code, one.headers["Content-Type"]) for one in answers]

    before = told()
    settings.REST_FRAMEWORK = theirs

    assert told() == before
    assert ada.start("Three").status_code == 201
    assert ada.start("").json()["code"] == "invalid"
