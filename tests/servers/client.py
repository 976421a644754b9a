"""A person with a browser: signs in, sends, stops, answers, looks on."""

import html
import json
import re
import ssl
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import httpx
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect

FETCHED = {"HX-Request": "true"}
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
CARD = re.compile(
    r'<section id="i-[^"]*" class="aia-card aia-(approval|question)"[^>]*>(.*?)</section>',
    re.DOTALL,
)


@dataclass(frozen=True, kw_only=True)
class Card:
    """What waits for a person on the page."""

    kind: str  # approval, question
    fields: dict[str, str]  # what its form sends, besides the decision
    html: str


def plain_client(base_url: str, timeout: float = 30) -> httpx.Client:
    """Return a client for plain HTTP: to read certificates takes 30 ms."""
    none = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx.Client(
        base_url=base_url, timeout=timeout, trust_env=False, verify=none
    )


@dataclass(kw_only=True)
class Person:
    """
    One signed-in user; `conversation` is the one that is open.

    `prefix` is the path below which the site is. Every method is one HTTP request, as the panel makes it.
    """

    url: str
    name: str = "admin"
    prefix: str = ""
    conversation: str = field(default_factory=lambda: str(uuid4()))

    def __post_init__(self) -> None:
        self.http = plain_client(base_url=self.url + self.prefix, timeout=30)

    def sign_in(self) -> Self:
        """Sign in over the admin's form; the password is the name."""
        self.http.get("/admin/login/")
        response = self.http.post(
            "/admin/login/?next=/admin/",
            data={**self.token(), "username": self.name, "password": self.name},
        )
        if response.status_code != 302:
            raise AssertionError(f"{self.name} cannot sign in: {response.status_code}")
        return self

    def close(self) -> None:
        """Close the connections."""
        self.http.close()

    def sign_out(self) -> httpx.Response:
        return self.http.post("/admin/logout/", data=self.token())

    def token(self) -> dict[str, str]:
        return {"csrfmiddlewaretoken": self.http.cookies.get("csrftoken", "")}

    def new_conversation(self) -> str:
        self.conversation = str(uuid4())
        return self.conversation

    def send(self, text: str, *, key: str = "") -> httpx.Response:
        """Send a message; 204 if it was accepted."""
        return self.post("send", **self.message(text, key=key))

    def message(self, text: str, *, key: str = "") -> dict[str, str]:
        """Return what the form of a message holds."""
        return {
            "conversation": self.conversation,
            "key": key or str(uuid4()),
            "path": f"{self.prefix}/admin/",
            "text": text,
        }

    def ask(self, text: str) -> str:
        """Send a message and return the id of its run."""
        response = self.send(text)
        if response.status_code != 204:
            raise AssertionError(f"{response.status_code}: {response.text[:500]}")
        return self.run()

    def stop(self, run: str = "") -> httpx.Response:
        return self.post("stop", run=run or self.run())

    def retry(self, run: str = "") -> httpx.Response:
        return self.post("retry", run=run or self.run(), key=str(uuid4()))

    def cards(self) -> list[Card]:
        """Return what waits for this person in the conversation."""
        return [
            Card(kind=kind, fields=_hidden(inside), html=inside)
            for kind, inside in CARD.findall(self.page())
        ]

    def answer(
        self, card: Card, *, decision: str = "", text: str = ""
    ) -> httpx.Response:
        """Approve or deny a card, or answer its question."""
        said = {"decision": decision} if decision else {"answer": text}
        return self.post("answer", **card.fields, **said)

    def page(self) -> str:
        """Return the inside of the panel, as a page that opens it gets it."""
        response = self.http.get(
            "/assistant/panel/",
            params={"conversation": self.conversation},
            headers=FETCHED,
        )
        response.raise_for_status()
        return response.text

    def drawn(self, name: str) -> str:
        """Return `data-NAME` of the drawn panel: run, seq, state."""
        found = re.search(rf'data-{name}="([^"]*)"', self.page())
        return html.unescape(found[1]) if found else ""

    def run(self) -> str:
        return self.drawn("run")

    def state(self) -> str:
        return self.drawn("state")

    def frames(self, run: str = "", after: int = 0) -> list[dict[str, Any]]:
        """Return what a page without a socket lacks."""
        response = self.http.get(
            "/assistant/frames/",
            params={"conversation": self.conversation, "run": run, "after": after},
            headers=FETCHED,
        )
        response.raise_for_status()
        frames: list[dict[str, Any]] = response.json()["frames"]
        return frames

    def post(self, name: str, **data: str) -> httpx.Response:
        """Post a form of the panel."""
        return self.http.post(
            f"/assistant/{name}/", data={**self.token(), **data}, headers=FETCHED
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def listen(self, run: str = "", after: int = 0) -> "Listener":
        """Open the panel's socket and attach to the conversation."""
        return Listener(self, run, after)


class Listener:
    """A tab's socket: gathers frames in a thread of its own until it is closed."""

    def __init__(self, person: Person, run: str, after: int) -> None:
        self.frames: list[tuple[float, dict[str, Any]]] = []
        self.closed = threading.Event()
        cookies = "; ".join(f"{c.name}={c.value}" for c in person.http.cookies.jar)
        self._stack = ExitStack()
        self._socket: ClientConnection = self._stack.enter_context(
            connect(
                f"{person.url.replace('http', 'ws', 1)}{person.prefix}/assistant/ws/",
                origin=person.url,  # type: ignore[arg-type]
                additional_headers={"Cookie": cookies},
                proxy=None,
            )
        )
        hello = {
            "type": "hello",
            "conversation": person.conversation,
            "run": run,
            "after": after,
        }
        self._socket.send(json.dumps(hello))
        self._thread = threading.Thread(target=self._gather, daemon=True)
        self._thread.start()

    def _gather(self) -> None:
        try:
            for said in self._socket:
                self.frames.append((time.monotonic(), json.loads(said)))
        except (ConnectionClosed, WebSocketException, OSError):
            pass
        finally:
            self.closed.set()

    def html(self) -> str:
        """Return everything that came down, one frame a line."""
        return "\n".join(
            json.dumps(frame, ensure_ascii=False) for _, frame in [*self.frames]
        )

    def wait_for(self, text: str, timeout_s: float = 20.0) -> float:
        """Wait until `text` came down; return when, on the monotonic clock."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            for at, frame in [*self.frames]:
                if text in json.dumps(frame, ensure_ascii=False):
                    return at
            time.sleep(0.01)
        raise AssertionError(f"{text!r} did not come within {timeout_s:g} s")

    def close(self) -> None:
        self._stack.close()
        self._thread.join(5)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _hidden(form: str) -> dict[str, str]:
    found = {name: html.unescape(value) for name, value in HIDDEN.findall(form)}
    found.pop("csrfmiddlewaretoken", None)
    return found
