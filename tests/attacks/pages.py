"""
A page that shows what an attacker has written, and what its tab answers to page tools.

It answers as the real one: through the two views that it posts to, and it does nothing
unasked that is not known to change nothing.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.attacks.person import Person, go_on

SNAPSHOT = "planted"
EVIL_HOST = "evil.example"
ASKS = "may change something: call again with ask=true, then the person is asked"

Line = list[Any]


def line(ref: str, role: str, name: str, **more: Any) -> Line:
    """Return a line of an outline, as the script of the page reports it."""
    own = {"depth": 1, "value": None, "state": "", "of": "", "href": "", **more}
    order = (own["value"], own["state"], own["of"], own["href"])
    return [own["depth"], ref, role, name, *order]


# What any of these pages has: to type in, to save, to delete, to leave.
USUAL = (
    line("e1", "form", "", depth=0),
    line("e2", "textbox", "Note", value="", of="note"),
    line("e4", "button", "Delete", state="asks"),
    line("e5", "button", "Save", state="asks"),
    line("e6", "button", "Log out", state="asks"),
    line("e7", "link", "Help", state=f"to {EVIL_HOST} asks", href="https://evil"),
)


@dataclass(frozen=True, kw_only=True)
class Tab:
    """What the page at `path` says when a tool asks it."""

    path: str
    state: dict[str, Any] = field(default_factory=dict)
    lines: tuple[Line, ...] = ()
    read: tuple[Line, ...] = ()  # of what `page_action` reads
    arrival: dict[str, Any] = field(default_factory=dict)  # of the page gone to
    filled: tuple[str, ...] = ()  # names of what was filled in
    error: str = ""  # why nothing could be filled in

    def answer_all(self, user: Any, run: Any) -> Any:
        """Carry out what waits for the page of a run; return the run as it is then."""
        waiting = run.interrupts.filter(kind="browser", status="open")
        while asked := waiting.first():
            self._answer(Person(user), asked)
            run = go_on(run)
        return run

    def _answer(self, person: Person, asked: Any) -> None:
        own = {"interrupt": asked.pk, "nonce": asked.nonce, "tab": "one"}
        claim = person.post("claim", {**own, "path": self.path})
        assert claim.json()["go"]
        name, wanted = asked.request["name"], asked.request["arguments"]
        path = wanted["path"] if name == "navigate_to" else self.path
        told = {"value": "null", "path": path, **self._told(name, wanted)}
        assert person.post("result", {**own, **told}).json()["taken"]

    def _told(self, name: str, wanted: dict[str, Any]) -> dict[str, str]:
        if name == "fill_form" and self.error:
            return {"code": "failed", "error": self.error}
        told = {
            "get_page_state": self._seen,
            "page_action": self._acted,
            "navigate_to": lambda _wanted: self.arrival,
            "fill_form": lambda _wanted: {"filled": self.filled, "saved": False},
        }
        return {"value": json.dumps(told[name](wanted) if name in told else None)}

    def _seen(self, wanted: dict[str, Any]) -> dict[str, Any]:
        if wanted.get("mode") or wanted.get("ref"):
            return self._outline()
        return {"title": "A page", **self.state}

    def _acted(self, wanted: dict[str, Any]) -> dict[str, Any]:
        assert not wanted["approved"], "nobody has approved it"
        done = [one for one in wanted["actions"] if one["action"] in ("read", "fill")]
        refused = len(done) < len(wanted["actions"])
        failed = {"action": len(done) + 1, "error": ASKS} if refused else None
        reads = [self.read for one in done if one["action"] == "read"]
        return {**self._outline(), "done": len(done), "failed": failed, "read": reads}

    def _outline(self) -> dict[str, Any]:
        lines = (*USUAL, *self.lines)
        return {"title": "A page", "snapshot": SNAPSHOT, "lines": lines}
