"""A live site with AG-UI clients in front of it, and the model behind."""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from tests.agui import Front
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer
from tests.servers.client import Person, plain_client
from tests.servers.oracle import Oracle, Row

MODEL_RETRY_S = 0.05
SETTINGS = {
    "TIMEOUTS": {"FIRST_BYTE_S": 20},
    "LIMITS": {
        "MODEL_RETRIES": 1,
        "STEPS": 4,
        "RUNS_PER_USER": 1000,
    },
    "BUDGETS": [{"scope": "user", "user": "viewer", "window": "day", "tokens": 1}],
}
CONSTANTS = {
    "AGUI_BODY_BYTES": 300_000,
    "AGUI_KEEPALIVE_S": 0.4,
    "MODEL_RETRY_S": MODEL_RETRY_S,
}
ENV = {
    "TESTS_SETTINGS": json.dumps(SETTINGS),
    "TESTS_CONSTANTS": json.dumps(CONSTANTS),
    "TESTS_PAGES": "1",
}
COUNT = """
SELECT (SELECT count(*) FROM ai_assistant_conversation) AS conversations,
       (SELECT count(*) FROM ai_assistant_message) AS messages,
       (SELECT count(*) FROM ai_assistant_run) AS runs,
       (SELECT count(*) FROM ai_assistant_runevent) AS events,
       (SELECT count(*) FROM ai_assistant_clientrun) AS client_runs,
       (SELECT count(*) FROM ai_assistant_toolcall) AS calls
"""
SECRET = re.compile(r"aia_[\w-]{43}")


@dataclass
class Site:
    """A running server, and who comes to it. Signing in takes place once a user."""

    server: DemoServer
    model: ModelServerProcess
    oracle: Oracle
    people: dict[str, Person] = field(default_factory=dict)
    tokens: dict[tuple[str, ...], str] = field(default_factory=dict)
    clients: list[httpx.Client] = field(default_factory=list)

    # --- who comes ---

    def person(self, name: str = "admin", conversation: str = "") -> Person:
        """Return a person at the panel, in a conversation of their own."""
        if name not in self.people:
            self.people[name] = Person(url=self.server.url, name=name).sign_in()
        known = self.people[name]
        person = Person(url=self.server.url, name=name)
        person.http.cookies = known.http.cookies
        person.conversation = conversation or str(uuid4())
        self.clients.append(person.http)
        return person

    def front(self, name: str = "admin", **options: Any) -> Front:
        """Return an AG-UI client with the session of a user; "" for nobody."""
        http = self.person(name).http if name else self.stranger()
        token = http.cookies.get("csrftoken", "")
        return Front(http=http, headers={"X-CSRFToken": token}, **options)

    def program(self, *scopes: str, name: str = "admin", **options: Any) -> Front:
        """Return an AG-UI client with an access token."""
        secret = self.token(*scopes, name=name)
        headers = {"Authorization": f"Bearer {secret}"}
        return Front(http=self.stranger(), headers=headers, **options)

    def stranger(self) -> httpx.Client:
        client = plain_client(base_url=self.server.url, timeout=30)
        self.clients.append(client)
        return client

    def token(self, *scopes: str, name: str = "admin") -> str:
        """Return the secret of a token of `name`, made in the admin."""
        key = (name, *scopes)
        if key not in self.tokens:
            self.tokens[key] = self.new_token(name, scopes)
        return self.tokens[key]

    def new_token(self, name: str, scopes: tuple[str, ...]) -> str:
        person = self.person()  # who may make tokens for others
        form = {"name": "test", "scopes": [*scopes], "days": "30", "key": str(uuid4())}
        form["user"] = self.user_id(name)
        answer = person.http.post(
            "/admin/ai_assistant/accesstoken/add/", data={**person.token(), **form}
        )
        found = set(SECRET.findall(html.unescape(answer.text)))
        if len(found) != 1:
            raise AssertionError(f"no token: {answer.status_code} {answer.text[:2000]}")
        return found.pop()

    def user_id(self, name: str) -> str:
        (row,) = self.oracle.rows("SELECT id FROM auth_user WHERE username = %s", name)
        return str(row["id"])

    # --- what the model is asked ---

    def script(self, *replies: list[dict[str, Any]]) -> str:
        """Teach the model an answer; return the text of a message that asks for it."""
        name = f"agui-{uuid4().hex[:12]}"
        self.model.script(name, [*replies])
        return f"[[script:{name}#{name}]]"

    def asked(self, marker: str) -> list[dict[str, Any]]:
        """Return the bodies of what the model was asked after this message."""
        rows: list[dict[str, Any]] = self.model._ask("GET", "/log?requests=1")
        return [row["request"] for row in rows if row["tag"] == tag_of(marker)]

    def asked_last(self, marker: str) -> str:
        """Return the messages of the last such request, as one text."""
        return json.dumps(self.asked(marker)[-1]["messages"], ensure_ascii=False)

    def outcome(self, marker: str) -> str:
        """Return how the last such request ended; see `tests.model_server.record`."""
        rows = [row for row in self.model.log() if row["tag"] == tag_of(marker)]
        return str(rows[-1]["outcome"]) if rows else ""

    def wait_closed(self, marker: str) -> None:
        """Wait until the model's stream was closed from our side."""
        self.oracle.wait(lambda: self.outcome(marker) == "closed", 10, "the close")

    # --- what is stored ---

    def count(self) -> Row:
        """Return the numbers of rows."""
        return self.oracle.rows(COUNT)[0]

    def conversation(self, front: Front) -> Row:
        """Return the row of a thread with a name of the client's own."""
        (found,) = self.oracle.rows(
            "SELECT * FROM ai_assistant_conversation WHERE thread_id = %s", front.thread
        )
        return {**found, "id": str(_dashed(found["id"]))}

    def runs(self, front: Front) -> list[Row]:
        """Return the runs of a thread, the oldest first."""
        own = self.conversation(front)["id"]
        return [
            row for row in self.oracle.runs() if _dashed(row["conversation_id"]) == own
        ]

    def run(self, front: Front) -> Row:
        return self.runs(front)[-1]

    def wait_state(self, front: Front, *states: str) -> Row:
        """Wait until the last run of a thread is in one of these states."""
        self.oracle.wait(
            lambda: self.run(front)["state"] in states, 20, f"{states} of the run"
        )
        return self.run(front)

    def close(self) -> None:
        for one in (*self.clients, *(p.http for p in self.people.values())):
            one.close()


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"op": "text", "text": words, **more}


def think(words: str, **more: Any) -> dict[str, Any]:
    return {"op": "reasoning", "text": words, **more}


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"op": "tool_call", "name": name, "arguments": arguments}


def calls(*several: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"op": "tool_calls", "calls": [*several], **more}


def hold(name: str) -> dict[str, Any]:
    """Return a place where the model waits until `site.model.release(name)`."""
    return {"op": "hold", "name": name}


def tag_of(marker: str) -> str:
    found = re.search(r"#([\w.-]+)", marker)
    if found is None:
        raise AssertionError(f"{marker!r} has no tag")
    return found[1]


def _dashed(value: Any) -> str:
    found = str(value)
    parts = (found[:8], found[8:12], found[12:16], found[16:20], found[20:])
    return found if "-" in found else "-".join(parts)
