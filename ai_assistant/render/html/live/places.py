"""Where the parts of a run stand that show more than one call: groups, and the plan."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from ai_assistant.engine.storage.eventlog import StoredEvent
from ai_assistant.render.html.fragments import part_html
from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.render.html.transcript.growing import Op
from ai_assistant.render.html.transcript.thread import answers

PLACED = ("group", "plan")


class Places:
    """What of that is on the page, and which call the plan stands for."""

    def __init__(self) -> None:
        self._placed: set[str] = set()
        self._plan_at: UUID | None = None

    def restart(self, entries: Iterable[Entry]) -> None:
        """Take note of what was drawn anew."""
        self.__init__()  # type: ignore[misc]
        for entry in answers(entries):
            for part in entry["parts"]:
                self._note(part)

    def has(self, part_id: object) -> bool:
        """Return whether that part is on the page."""
        return str(part_id) in self._placed

    def move(self, shown: Iterable[Entry], events: Iterable[StoredEvent]) -> bool:
        """
        Return whether the plan belongs where no card can be added: amid older ones.

        So it is if the call that it stood for has failed, and another has made one, or
        if a person has allowed the call.
        """
        plan = next(
            (one for one in shown if one["kind"] == "plan" and one["plan"]), None
        )
        if plan is None or plan["call_id"] == self._plan_at:
            return False
        begun = {one.call_id for one in events if one.type == "TOOL_CALL_START"}
        return self._plan_at is not None or plan["call_id"] not in begun

    def is_due(self, part: Entry, call_id: UUID) -> bool:
        """Return whether a part is drawn at an event of this call: there it stands."""
        is_new = part["kind"] == "plan" and part["plan"] and not self.has(part["id"])
        return not is_new or part["call_id"] == call_id

    def ops(self, part: Entry, parent: str, panel: Any) -> list[Op]:
        """Return how a part with calls is drawn, below the element `parent`."""
        if part["kind"] == "plan" and not part["plan"]:
            self._placed.discard(part["id"])
            self._plan_at = None
            return [["delete", f"p-{part['id']}", ""]]
        ops: list[Op] = []
        if part["kind"] == "group" and not self.has(part["id"]):
            # Its first cards stood alone, and last.
            ops += [["delete", f"c-{call['id']}", ""] for call in part["calls"]]
        self._note(part)
        return [*ops, ["upsert", parent, part_html(part, panel)]]

    def _note(self, part: Entry) -> None:
        if part["kind"] in PLACED:
            self._placed.add(str(part["id"]))
        if part["kind"] == "plan":
            self._plan_at = part["call_id"]
