"""Bad input is refused with a code and a sentence; no run starts, nothing is stored."""

import json
from uuid import uuid4

import pytest

from tests.agui.client import ADDRESS
from tests.thorough import part as part_of
from tests.web.agui.site import text

DONE = [text("Done.")]
USER = {"id": "u", "role": "user", "content": "Hello"}


@pytest.fixture
def front(site):
    return site.front()


@pytest.fixture
def untouched(site):
    """Nothing is stored and no model is asked while the test runs."""
    before, asked = site.count(), len(site.model.log())
    yield
    assert site.count() == before
    assert len(site.model.log()) == asked


def assert_problem(response, status, code=""):
    body = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert (response.status_code, body["status"]) == (status, status)
    assert body["code"] == (code or body["code"])
    assert {"type", "title", "status", "code", "detail"} == {*body}
    assert len(body["detail"].split()) > 2
    assert body["detail"][-1] in ".:)”"
    for leak in ("Traceback", "<html", "pydantic", "/site-packages/"):
        assert leak not in response.text


def part(kind, **members):
    return {**USER, "content": [{"type": kind, **members}]}


WRONG = {
    "no threadId": {"threadId": ...},
    "no runId": {"runId": ...},
    "no messages": {"messages": ...},
    "threadId is a number": {"threadId": 7},
    "threadId is null": {"threadId": None},
    "threadId is empty": {"threadId": ""},
    "threadId is long": {"threadId": "x" * 201},
    "threadId has a line break": {"threadId": "a\nb"},
    "threadId has a null character": {"threadId": "a\0b"},
    "runId is a list": {"runId": ["x"]},
    "runId is empty": {"runId": ""},
    "runId is long": {"runId": "x" * 201},
    "runId has a control character": {"runId": "a\x07"},
    "messages is an object": {"messages": {"a": 1}},
    "messages is text": {"messages": "hi"},
    "messages is null": {"messages": None},
    "message is text": {"messages": ["hi"]},
    "message is null": {"messages": [None]},
    "message without a role": {"messages": [{"id": "u", "content": "x"}]},
    "role is a number": {"messages": [{**USER, "role": 7}]},
    "message without an id": {"messages": [{"role": "user", "content": "x"}]},
    "message id is a number": {"messages": [{**USER, "id": 7}]},
    "message id is empty": {"messages": [{**USER, "id": ""}]},
    "message id is long": {"messages": [{**USER, "id": "x" * 201}]},
    "user without content": {"messages": [{"id": "u", "role": "user"}]},
    "content is a number": {"messages": [{**USER, "content": 7}]},
    "content is null": {"messages": [{**USER, "content": None}]},
    "content is an object": {"messages": [{**USER, "content": {}}]},
    "part without a type": {"messages": [{**USER, "content": [{"text": "x"}]}]},
    "part is text": {"messages": [{**USER, "content": ["x"]}]},
    "text part without text": {"messages": [part("text")]},
    "image without a source": {"messages": [part("image")]},
    "tool without toolCallId": {"messages": [USER, {**USER, "role": "tool"}]},
    "toolCalls is text": {
        "messages": [{"id": "a", "role": "assistant", "toolCalls": "x"}]
    },
    "tools is an object": {"tools": {"name": "x"}},
    "tool is text": {"tools": ["x"]},
    "tool without a name": {"tools": [{"description": "x"}]},
    "tool without a description": {"tools": [{"name": "x"}]},
    "context is text": {"context": "x"},
    "context entry without a value": {"context": [{"description": "x"}]},
    "context value is a number": {"context": [{"description": "x", "value": 7}]},
    "resume is an object": {"resume": {}},
    "resume status is unknown": {"resume": [{"interruptId": "x", "status": "maybe"}]},
    "resume without an id": {"resume": [{"status": "resolved"}]},
    "resume id is a number": {"resume": [{"interruptId": 7, "status": "cancelled"}]},
    "protocolVersion is a number": {"protocolVersion": 1.0},
}


class TestInput:
    @pytest.mark.parametrize("name", part_of(WRONG, every=4))
    def test_input_of_another_form_is_refused(self, front, untouched, name):
        said = {**front.input(), "messages": [USER], **WRONG[name]}
        said = {key: value for key, value in said.items() if value is not ...}

        assert_problem(front.post(said), 400, "bad_input")

    @pytest.mark.parametrize("version", ["2.0", "0.9", "one", "", "11.0"])
    def test_other_major_version_is_refused(self, front, untouched, version):
        said = front.input(messages=[USER], protocolVersion=version)

        assert_problem(front.post(said), 400, "unsupported_version")

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            (b"", "bad_json"),
            (b"{", "bad_json"),
            (b"not json", "bad_json"),
            (b'{"threadId": NaN}', "bad_json"),
            (b"\xff\xfe", "bad_json"),
            (b"[" * 5_000, "bad_json"),
            (b"[]", "bad_input"),
            (b"null", "bad_input"),
            (b"7", "bad_input"),
            (b'"text"', "bad_input"),
            (b'{"state": ' + b"[" * 900 + b"]" * 900 + b"}", "bad_input"),
        ],
    )
    def test_input_that_is_no_object_in_json_is_refused(
        self, front, untouched, body, code
    ):
        headers = {**front.headers, "Content-Type": "application/json"}

        assert_problem(
            front.http.post(ADDRESS, content=body, headers=headers), 400, code
        )

    @pytest.mark.parametrize(
        "kind",
        ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""],
    )
    def test_input_of_another_media_type_is_refused(self, front, untouched, kind):
        body = json.dumps(front.input(messages=[USER]))
        headers = {**front.headers, "Content-Type": kind}

        response = front.http.post(ADDRESS, content=body, headers=headers)

        assert_problem(response, 415, "media_type")

    def test_input_in_a_form_with_a_file_is_refused(self, front, untouched):
        files = {"input": ("input.json", json.dumps(front.input(messages=[USER])))}

        response = front.http.post(ADDRESS, files=files, headers=front.headers)

        assert_problem(response, 415, "media_type")

    def test_input_with_a_charset_is_taken(self, site, front):
        body = json.dumps(front.input(site.script(DONE)))
        headers = {**front.headers, "Content-Type": "application/json; charset=utf-8"}

        assert (
            front.http.post(ADDRESS, content=body, headers=headers).status_code == 200
        )

    def test_input_that_is_too_large_is_refused(self, front, untouched):
        said = front.input(messages=[USER], state="x" * 300_001)

        assert_problem(front.post(said), 413, "too_large")

    @pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
    def test_input_by_another_method_is_refused(self, front, untouched, method):
        response = front.http.request(method, ADDRESS, headers=front.headers)

        assert_problem(response, 405, "method")
        assert response.headers["allow"] == "POST"

    @pytest.mark.parametrize(
        ("content", "code"),
        [
            ("", "empty"),
            ("  \n\t ", "empty"),
            ([], "empty"),
            ("a\x07b", "binary"),
            ("x" * 100_001, "too_long"),
        ],
    )
    def test_message_that_says_nothing_or_too_much(
        self, front, untouched, content, code
    ):
        said = front.input(messages=[{**USER, "content": content}])

        assert_problem(front.post(said), 400, code)

    def test_half_of_a_character_is_refused_or_mended(self, front):
        body = json.dumps(front.input(messages=[USER])).replace("Hello", "H\\ud83d")
        headers = {**front.headers, "Content-Type": "application/json"}

        response = front.http.post(ADDRESS, content=body, headers=headers)

        assert response.status_code in (200, 400)

    def test_messages_without_one_of_the_user(self, front, untouched):
        answer = {"id": "a", "role": "assistant", "content": "I said it."}

        assert_problem(front.post(front.input(messages=[answer])), 409, "nothing_new")

    def test_nothing_of_a_thread_that_is_not_there(self, front, untouched):
        assert_problem(front.post(front.input()), 404, "not_found")

    @pytest.mark.parametrize(
        "context",
        [
            [{"description": "x", "value": "x" * 20_001}],
            [{"description": "x", "value": "x"}] * 100,
        ],
    )
    def test_context_that_is_too_large(self, front, untouched, context):
        said = front.input(messages=[USER], context=context)

        assert_problem(front.post(said), 413, "too_large")


class TestOtherAddresses:
    @pytest.mark.parametrize("name", ["history", "stream", "capabilities"])
    def test_take_no_post(self, front, untouched, name):
        response = front.http.post(f"{ADDRESS}{name}/", json={}, headers=front.headers)

        assert_problem(response, 405, "method")

    @pytest.mark.parametrize(
        "query", [{}, {"threadId": ""}, {"threadId": "x\0"}, {"threadId": "y" * 5000}]
    )
    @pytest.mark.parametrize("name", ["history", "stream"])
    def test_unknown_thread(self, front, untouched, name, query):
        assert_problem(
            front.http.get(f"{ADDRESS}{name}/", params=query), 404, "not_found"
        )

    def test_no_thread_is_none_of_those_without_a_name(self, site, front):
        front.thread = str(uuid4())  # named by our id: it gets no other name
        front.ask(site.script(DONE))

        assert_problem(front.http.get(f"{ADDRESS}history/"), 404, "not_found")

    @pytest.mark.parametrize("run", ["", "nobody", "x\0y", "z" * 5000])
    def test_unknown_run(self, site, front, run):
        front.ask(site.script(DONE))
        query = {"threadId": front.thread, "runId": run}

        response = front.http.get(f"{ADDRESS}stream/", params=query)

        assert_problem(response, 404, "not_found")

    @pytest.mark.parametrize(
        "place",
        [
            "x",
            "-1",
            "1.x",
            "1.2.3",
            "1.a.b.c",
            "9" * 5000,
            "1.m.-1.0",
            "1.m.1.1.1",
            "\u00b2",
        ],
    )
    def test_place_that_no_stream_gave(self, site, front, place):
        front.ask(site.script(DONE))
        query = {"threadId": front.thread, "runId": front.run}

        response = front.http.get(
            f"{ADDRESS}stream/",
            params=query,
            headers={"Last-Event-ID": place.encode("latin-1")},
        )

        assert_problem(response, 400, "bad_input")
