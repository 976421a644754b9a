"""The three doors of the assistant, and the rows that what was done through one has left."""

import json
import re
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import UUID, uuid4

from tests.agui import Front
from tests.servers.client import FETCHED, Person
from tests.servers.oracle import Row
from tests.web.agui.site import Site

PATH = "/admin/"
ADMIN = "admin"
RUNS = "SELECT id FROM ai_assistant_run WHERE conversation_id = %s"
SETS = f"SELECT id FROM ai_assistant_changeset WHERE run_id IN ({RUNS})"  # noqa: S608
TABLES = {
    "conversation": "id = %s",
    "message": "conversation_id = %s ORDER BY position",
    "run": "conversation_id = %s ORDER BY created_at",
    "step": f"run_id IN ({RUNS}) ORDER BY id",
    "toolcall": f"run_id IN ({RUNS}) ORDER BY step_id, position",
    "interrupt": f"run_id IN ({RUNS}) ORDER BY created_at",
    "changeset": f"run_id IN ({RUNS}) ORDER BY created_at",
    "rowchange": f"change_set_id IN ({SETS}) ORDER BY id",
    "queuedmessage": "conversation_id = %s ORDER BY position",
}
# What is each row's own, says who is at work, or through which door it came.
OWN = {
    *("key", "idempotency_key", "nonce", "client_id", "provider_id"),
    *("channel", "session_sealed"),
    *("owner", "epoch", "lease_until", "running_s", "next_seq"),
}
# Of the panel.
OF_PAGE = ("fill_form", "get_page_state", "highlight", "navigate_to", "show_tour")
COUNTED = ("step", "rowchange")  # their ids are numbers
IDS = re.compile(r"\b[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\b")
MARKERS = re.compile(r"agui-[0-9a-f]{12}")


@dataclass(kw_only=True)
class Door:
    """Somebody at one door, with a conversation of their own."""

    site: Site
    name: ClassVar[str]
    person: Person = field(init=False)
    noted: list[dict[str, list[Row]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.person = self.site.person(ADMIN)

    # --- what is done ---

    def send(self, text: str, agent: str = "") -> None:
        raise NotImplementedError

    def steer(self, text: str) -> None:
        raise NotImplementedError

    def queue(self, text: str) -> None:
        raise NotImplementedError

    def edit(self, text: str) -> None:
        """Ask something else in the place of the first question."""
        raise NotImplementedError

    def stop(self) -> None:
        raise NotImplementedError

    def retry(self) -> None:
        """Try the last run again, or let it go on."""
        raise NotImplementedError

    def approve(self) -> None:
        raise NotImplementedError

    def deny(self, reason: str) -> None:
        raise NotImplementedError

    def answer(self, text: str) -> None:
        raise NotImplementedError

    def undo(self) -> None:
        """Undo all changes of the last run, as its plan says."""
        raise NotImplementedError

    def regenerate(self) -> None:
        """Ask for another answer to the last question."""
        raise NotImplementedError

    # --- what is there ---

    @property
    def conversation(self) -> str:
        return self.person.conversation

    def runs(self) -> list[Row]:
        return self.rows("run")

    def last_run(self) -> str:
        return _dashed(self.runs()[-1]["id"])

    def question(self) -> str:
        return _dashed(self.rows("message")[0]["id"])

    def wait(self, *states: str, runs: int = 1) -> None:
        """Wait until there are so many runs, and the last is in one of these states."""

        def seen() -> bool:
            found = self.runs()
            return len(found) == runs and found[-1]["state"] in states

        self.site.oracle.wait(seen, 20, f"{states} of run {runs}, {self.name}")

    def wait_text(self) -> None:
        """Wait until the last run has begun to answer."""
        events = self.site.oracle.events
        self.site.oracle.wait(
            lambda: any(
                one["type"] == "TEXT_MESSAGE_CONTENT" for one in events(self.last_run())
            ),
            20,
            "the first text",
        )

    def rows(self, table: str) -> list[Row]:
        own = UUID(self.conversation).hex
        statement = f"SELECT * FROM ai_assistant_{table} WHERE {TABLES[table]}"  # noqa: S608
        return self.site.oracle.rows(statement, own)

    def note(self) -> None:
        """Note all rows of the conversation, but for what is each door's own."""
        steps = {row["id"]: f"step {n}" for n, row in enumerate(self.rows("step"))}
        found: dict[str, list[Row]] = {
            table: [_comparable(row, table, steps) for row in self.rows(table)]
            for table in TABLES
        }
        text = MARKERS.sub("MARKER", json.dumps(found, ensure_ascii=False))
        names: dict[str, str] = {}

        def name(match: re.Match[str]) -> str:
            return names.setdefault(_dashed(match[0]), f"id {len(names)}")

        self.noted.append(json.loads(IDS.sub(name, text)))


class Panel(Door):
    """The forms of the panel."""

    name = "panel"

    def send(self, text: str, agent: str = "") -> None:
        self._post("send", **self.person.message(text), agent=agent)

    def steer(self, text: str) -> None:
        self._post("send", **self.person.message(text), agent="", steers="1")

    def queue(self, text: str) -> None:
        self.send(text)

    def edit(self, text: str) -> None:
        self._post("edit-message", run=self.last_run(), key=str(uuid4()), text=text)

    def stop(self) -> None:
        self._post("stop", run=self.last_run())

    def retry(self) -> None:
        self._post("retry", run=self.last_run(), key=str(uuid4()))

    def approve(self) -> None:
        (card,) = self.person.cards()
        self._post("answer", **card.fields, decision="approve")

    def deny(self, reason: str) -> None:
        (card,) = self.person.cards()
        self._post("answer", **card.fields, decision="deny", reason=reason)

    def answer(self, text: str) -> None:
        (card,) = self.person.cards()
        self._post("answer", **card.fields, answer=text)

    def undo(self) -> None:
        query = {"run": self.last_run()}
        http = self.person.http
        html = http.get("/assistant/undo/", params=query, headers=FETCHED).text
        fields = dict(re.findall(r'name="(run|digest)" value="([^"]*)"', html))
        rows = re.findall(r'name="(?:rows|listed)"\s+value="([^"]*)"', html)
        data = {**self.person.token(), **fields, "do": "apply"}
        done = http.post(
            "/assistant/undo/",
            data={**data, "rows": rows, "listed": rows},
            headers=FETCHED,
        )
        assert done.status_code == 200, done.text[:500]

    def regenerate(self) -> None:
        fields = {"run": self.last_run(), "key": str(uuid4()), "how": "same"}
        self._post("regenerate", **fields)

    def _post(self, name: str, **fields: str) -> None:
        done = self.person.post(name, **fields)
        assert done.status_code == 204, (name, done.status_code, done.text[:500])


class Rest(Door):
    """The REST API, with the session of a page of the site."""

    name = "REST"

    def send(self, text: str, agent: str = "") -> None:
        # A conversation begins with its first run; the panel names it beforehand.
        said: dict[str, Any] = {"text": text, "page_path": PATH}
        told = self._post("runs/", {**said, "agent": agent})
        self.person.conversation = told["conversation"]

    def steer(self, text: str) -> None:
        self._post(f"runs/{self.last_run()}/steer/", {"text": text})

    def queue(self, text: str) -> None:
        said = {"text": text, "page_path": PATH, "agent": ""}
        self._post(f"conversations/{self.conversation}/queue/", said)

    def edit(self, text: str) -> None:
        self._post(f"messages/{self.question()}/edit/", {"text": text})

    def stop(self) -> None:
        self._post(f"runs/{self.last_run()}/stop/")

    def retry(self) -> None:
        self._post(f"runs/{self.last_run()}/retry/")

    def approve(self) -> None:
        self._answer(decision="approve")

    def deny(self, reason: str) -> None:
        self._answer(decision="deny", reason=reason)

    def answer(self, text: str) -> None:
        self._answer(decision="answer", answer=text)

    def undo(self) -> None:
        path = f"runs/{self.last_run()}/undo/"
        self._post(path, {"digest": self._get(path)["digest"]})

    def regenerate(self) -> None:
        self._post(f"runs/{self.last_run()}/regenerate/")

    def _answer(self, **given: str) -> None:
        query = f"interrupts/?conversation={self.conversation}&open=true"
        (asked,) = self._get(query)["results"]
        given["nonce"] = asked["nonce"]
        self._post(f"interrupts/{asked['id']}/answer/", given)

    def _get(self, path: str) -> Any:
        return self.person.http.get(f"/assistant/api/{path}").json()

    def _post(self, path: str, body: dict[str, Any] | None = None) -> Any:
        token = self.person.http.cookies.get("csrftoken", "")
        done = self.person.http.post(
            f"/assistant/api/{path}",
            json=body or {},
            headers={"X-CSRFToken": token},
        )
        assert done.is_success, (path, done.status_code, done.text[:500])
        return done.json()


class Agui(Door):
    """An AG-UI client, with the session of a page of the site."""

    name = "AG-UI"

    def send(self, text: str, agent: str = "") -> None:
        own = {"keep": True, "path": PATH, "agent": agent}
        with self._front().open(text, **_props(**own)) as stream:
            stream.until("RUN_STARTED")  # it is kept: the client may leave

    def steer(self, text: str) -> None:
        self._ask(text, steer=True, path=PATH, agent="")

    def queue(self, text: str) -> None:
        self._ask(text, queue=True, path=PATH, agent="")

    def edit(self, text: str) -> None:
        self._ask(text, edit=self.question())

    def stop(self) -> None:
        self._ask(stop=True)

    def retry(self) -> None:
        # The question once more: it has no complete answer.
        said = self.rows("message")
        asked = [one for one in said if one["role"] == "user"][-1]
        name = asked["client_id"] or _dashed(asked["id"])
        again = [{"id": name, "role": "user", "content": "as before"}]
        self._post({**self._front().input(), "messages": again})

    def approve(self) -> None:
        self._resume(approved=True)

    def deny(self, reason: str) -> None:
        self._resume(approved=False, reason=reason)

    def answer(self, text: str) -> None:
        self._resume(answer=text)

    def undo(self) -> None:
        run = self.last_run()
        plan = self._ask(undo={"run": run})
        digest = re.findall(r'"digest":\s*"(\w+)"', plan)[0]
        self._ask(undo={"run": run, "digest": digest})

    def regenerate(self) -> None:
        self._ask(regenerate=True)

    def _resume(self, **payload: Any) -> None:
        front = self._front()
        (asked,) = front.history()["interrupts"]
        entry = {"interruptId": asked["id"], "status": "resolved", "payload": payload}
        self._post(front.input(resume=[entry]))

    def _ask(self, text: str = "", **own: Any) -> str:
        return self._post(self._front().input(text, **_props(**own)))

    def _post(self, said: dict[str, Any]) -> str:
        done = self._front().post(said)
        assert done.status_code == 200, (done.status_code, done.text[:500])
        return done.text

    def _front(self) -> Front:
        token = self.person.http.cookies.get("csrftoken", "")
        headers = {"X-CSRFToken": token}
        return Front(http=self.person.http, thread=self.conversation, headers=headers)


def _props(**own: Any) -> dict[str, Any]:
    return {"forwardedProps": {"aia": own}}


def _comparable(row: Row, table: str, steps: dict[Any, str]) -> Row:
    found = {
        column: _read(value)
        for column, value in row.items()
        if column not in OWN and not column.endswith("_at")
    }
    if table in COUNTED:
        del found["id"]
    if "step_id" in found:
        found["step_id"] = steps[found["step_id"]]
    if isinstance(versions := found.get("tool_versions"), dict):
        for name in OF_PAGE:
            versions.pop(name, None)
    return found


def _read(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _dashed(value: Any) -> str:
    return str(UUID(str(value)))
