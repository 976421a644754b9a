"""Every refusal is a problem, with a code that stays and a sentence."""

import logging

import pytest
from django.core.signals import got_request_exception

from ai_assistant.models import Run
from ai_assistant.web.rest.runs import RunViewSet
from tests.web.rest.program import API, code

BODIES = [
    (b"{", 400, "bad_request"),
    (b"\xff\xfe", 400, "bad_request"),
    (b'{"text": "\\ud800"}', 400, "bad_request"),
    (b"[" * 100_000, 400, "bad_request"),
    (b"[]", 400, "invalid"),
    (b"{}", 400, "invalid"),
    (b"null", 400, "invalid"),
    (b'{"text": 1}', 400, "invalid"),
    (b'{"text": ""}', 400, "invalid"),
    (b'{"text": "a", "more": 1}', 400, "invalid"),
    (b'{"text": "a", "system": "Obey."}', 400, "invalid"),
    (b'{"text": "a", "look_only": "yes"}', 400, "invalid"),
    (b'{"text": "a", "conversation": 7}', 400, "invalid"),
    (b'{"text": "a", "page_path": "https://else.example/"}', 400, "invalid"),
    (b'{"text": "a", "page_path": "//else.example/"}', 400, "invalid"),
    (b'{"text": "   "}', 400, "empty"),
    (b'{"text": "a\\u0000b"}', 400, "binary"),
    (b'{"text": "%s"}' % (b"a" * 100_001), 400, "too_long"),
    (b'{"text": "%s"}' % (b"a" * 1_300_000), 413, "too_large"),
]
QUERIES = [
    ("runs/?x=1", "unknown_parameter"),
    ("runs/?format=json", "unknown_parameter"),
    ("runs/?page_size=0", "invalid"),
    ("runs/?page_size=201", "invalid"),
    ("runs/?page_size=5&page_size=6", "invalid"),
    ("runs/?conversation=", "invalid"),
    ("runs/?conversation=%00", "invalid"),
    ("runs/?state=odd", "invalid"),
    ("runs/?created_after=2026-01-01T00:00:00", "invalid"),
    ("runs/?created_after=0001-01-01T00:00:00%2B23:00", "invalid"),
    ("runs/?created_after=9999-12-31T23:59:59-23:00", "invalid"),
    ("runs/?cursor=odd", "bad_cursor"),
    ("runs/?cursor=cD1ub25zZW5zZQ%3D%3D", "bad_cursor"),
    ("calls/?tool=a%00b", "invalid"),
]


class TestBody:
    @pytest.mark.parametrize(("body", "status", "wanted"), BODIES)
    def test_what_cannot_be_taken_starts_nothing(self, program, body, status, wanted):
        ada = program()

        response = ada.post("runs/", body)

        assert (response.status_code, code(response)) == (status, wanted)
        assert not Run.objects.exists()

    def test_errors_name_the_fields(self, program):
        errors = program().post("runs/", {"text": 1, "b": 2}).json()["errors"]

        assert {one["field"] for one in errors} == {"text", "b"}

    def test_form_is_no_json(self, program):
        response = program().http.post(f"{API}runs/", {"text": "Hello"})

        assert (response.status_code, code(response)) == (415, "media_type")


class TestQuery:
    @pytest.mark.parametrize(("path", "wanted"), QUERIES)
    def test_what_cannot_be_taken(self, program, path, wanted):
        response = program().get(path)

        assert (response.status_code, code(response)) == (400, wanted)

    def test_query_of_a_post_is_refused(self, program):
        response = program().post("runs/?key=1", {"text": "Hello"})

        assert code(response) == "unknown_parameter"

    def test_cursor_of_another_list(self, program):
        ada = program()
        ada.start()
        ada.start()
        cursor = (
            ada.get("conversations/?page_size=1").json()["next"].split("cursor=")[1]
        )

        response = ada.http.get(f"{API}runs/?cursor={cursor.split('&')[0]}")

        assert code(response) == "bad_cursor"


class TestAddress:
    @pytest.mark.parametrize(
        "path",
        [
            "nope/",
            "runs",
            "runs/0b6f0a6e-3f0e-4b53-8f4e-3f7f1d1f2a10/nope/",
            "runs/1/",
            "a%0Ab",
            "%00/",
        ],
    )
    def test_unknown_path_is_a_404_problem(self, program, path):
        for method in ("get", "post", "delete"):
            response = getattr(program().http, method)(API + path)

            assert (response.status_code, code(response)) == (404, "not_found")

    @pytest.mark.parametrize("method", ["put", "patch", "delete", "options", "trace"])
    def test_method_that_is_none(self, program, method):
        response = getattr(program().http, method)(f"{API}runs/")

        assert (response.status_code, code(response)) == (405, "method")
        assert set(response.headers["Allow"].split(", ")) == {"GET", "POST", "HEAD"}

    def test_other_formats(self, program):
        response = program().http.get(f"{API}runs/", headers={"accept": "text/html"})

        assert (response.status_code, code(response)) == (406, "not_acceptable")

    def test_address_is_off_with_the_assistant(self, program, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "ENABLED": False}

        response = program().get("runs/")

        assert response.status_code == 404
        assert "json" not in response.headers["Content-Type"]


class TestFailure:
    def test_failure_is_a_problem_and_told_to_operators(
        self, program, monkeypatch, caplog
    ):
        def fail(*_):
            raise RuntimeError("secret words")

        told = []
        monkeypatch.setattr(RunViewSet, "list", fail)
        tell = lambda **said: told.append(said)  # noqa: E731
        got_request_exception.connect(tell)
        with caplog.at_level(logging.ERROR, "ai_assistant"):
            ada = program()
            ada.http.raise_request_exception = False
            response = ada.get("runs/")
        got_request_exception.disconnect(tell)

        assert (response.status_code, code(response)) == (500, "failed")
        assert "secret words" not in response.text
        assert "secret words" in caplog.text
        assert len(told) == 1
