"""A real server fails in twenty ways: before its first token another model answers."""

import socket
from uuid import uuid4

import pytest

from ai_assistant.testing import ScriptedProvider
from tests.engine.conftest import said
from tests.model_server.scripts import status, text

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.row("V08"),
    pytest.mark.servers,
]

PROVIDER = "ai_assistant.testing.ScriptedProvider"
STATUSES = (400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529)
BROKEN = {
    "late rate": status(429, "Slow down.", retry_after=3600),
    "no words": {"op": "cut"},
    "dropped": {"op": "drop"},
    "a page": {"op": "page", "type": "text/html", "body": "<h1>Bad gateway</h1>"},
    "no JSON": {"op": "raw", "data": "data: {{{\n\n", "end": True},
    "hangs": {"op": "hang"},
    "error in the stream": {
        "op": "raw",
        "data": 'data: {"error": {"message": "Overloaded.", "code": 503}}\n\n',
        "end": True,
    },
}
BEFORE = {**{str(code): status(code, "No.") for code in STATUSES}, **BROKEN}
# After a token a server can still break off, hang, or say that it has failed.
AFTER = {
    "cut": {"op": "cut"},
    "aborted": {"op": "cut", "how": "abort"},
    "dropped": {"op": "drop"},
    "hangs": {"op": "hang"},
    "no JSON": BROKEN["no JSON"],
    **{
        f"error {code}": {
            "op": "raw",
            "data": f'data: {{"error": {{"message": "No.", "code": {code}}}}}\n\n',
            "end": True,
        }
        for code in STATUSES
    },
}


@pytest.fixture
def other():
    """The model of the fallback."""
    return ScriptedProvider(["Here I am."])


@pytest.fixture
def at(options, other):
    """Let the default profile ask a server at an address."""

    def use(base, *, first_byte_s=1.0):
        options(
            PROFILES={
                "default": {
                    "MODEL": "openai/scripted",
                    "API_BASE": base,
                    "API_KEY": "key-1",
                    "FALLBACK": "small",
                },
                "small": {"PROVIDER": PROVIDER, "MODEL": "small", "SCRIPT": other},
            },
            TIMEOUTS={"FIRST_BYTE_S": first_byte_s, "IDLE_S": 1.0},
        )

    return use


def asking(model_server, *ops):
    """Return a text for which the server says this."""
    name = f"fails-{uuid4().hex}"
    model_server.script(name, [[*ops]])
    return f"Hello [[script:{name}]]"


class TestBefore:
    def test_ways_are_twenty_or_more(self):
        assert len(BEFORE) + 2 >= 20
        assert len(AFTER) >= 20

    @pytest.mark.parametrize("way", BEFORE)
    def test_failure_lets_the_other_model_answer(
        self, play, at, other, model_server, way
    ):
        at(model_server.base)

        run = play(asking(model_server, BEFORE[way]))

        assert (run.state, said(run)) == ("succeeded", "Here I am."), run.error_text
        assert run.fallback == "small"
        assert run.fallback_code

    def test_refused_connection_lets_the_other_model_answer(self, play, at):
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]
        at(f"http://127.0.0.1:{port}/v1")

        assert said(play()) == "Here I am."

    def test_unknown_host_lets_the_other_model_answer(self, play, at):
        at("http://model.invalid/v1")

        assert said(play()) == "Here I am."


class TestAfter:
    @pytest.mark.parametrize("way", AFTER)
    def test_failure_after_a_token_is_told(self, play, at, other, model_server, way):
        # The token is to come, however busy the machine is.
        at(model_server.base, first_byte_s=60.0)

        run = play(asking(model_server, text("Half an "), AFTER[way]))

        assert (run.state, run.fallback) == ("failed", "")
        assert run.error_text
        assert other.requests == []
