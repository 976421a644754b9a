"""Reads the tables from outside and says what is wrong in them."""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

FINAL = ("succeeded", "failed", "cancelled", "limited", "needs_review")
OPEN_CALL = ("pending", "waiting", "executing")
LOCKED_S = 30.0
CONTENT = "TEXT_MESSAGE_CONTENT"

Row = dict[str, Any]


class Oracle:
    """Looks into one database, which others write at the same time."""

    def __init__(self, database_url: str, external_file: Path | None = None) -> None:
        self.url = database_url
        self.external_file = external_file

    # --- rows ---

    def rows(self, statement: str, *arguments: object) -> list[Row]:
        """Return the rows of a SELECT with `%s` marks."""
        if not self.url.startswith("sqlite"):
            with psycopg.connect(self.url, row_factory=dict_row) as postgres:
                return list(postgres.execute(statement, arguments))
        end = time.monotonic() + LOCKED_S
        while True:
            try:
                return self._sqlite(statement.replace("%s", "?"), arguments)
            except sqlite3.OperationalError:
                # Who finds the journal of a killed writer may have to try again.
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def is_locked(self) -> bool:
        """Tell whether somebody keeps SQLite's lock; another database has no such."""
        if not self.url.startswith("sqlite"):
            return False
        path = self.url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(path, timeout=0.5)) as connection:
            try:
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError:
                return True
            connection.rollback()
        return False

    def _sqlite(self, statement: str, arguments: tuple[object, ...]) -> list[Row]:
        path = self.url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(statement, arguments)]

    def _id(self, value: str) -> str:
        return UUID(value).hex if self.url.startswith("sqlite") else value

    def run(self, run_id: str) -> Row:
        found = self.rows(
            "SELECT * FROM ai_assistant_run WHERE id = %s", self._id(run_id)
        )
        return found[0]

    def runs(self) -> list[Row]:
        """Return all runs, the oldest first, their ids as text."""
        rows = self.rows("SELECT * FROM ai_assistant_run ORDER BY created_at")
        return [{**row, "id": str(UUID(str(row["id"])))} for row in rows]

    def run_by_key(self, key: str) -> str:
        found = self.rows(
            "SELECT id FROM ai_assistant_run WHERE idempotency_key = %s", key
        )
        return str(UUID(str(found[0]["id"]))) if found else ""

    def events(self, run_id: str) -> list[Row]:
        rows = self.rows(
            "SELECT seq, type, payload, epoch FROM ai_assistant_runevent "
            "WHERE run_id = %s ORDER BY seq",
            self._id(run_id),
        )
        return [{**row, "payload": _json(row["payload"])} for row in rows]

    def calls(self, run_id: str) -> list[Row]:
        rows = self.rows(
            'SELECT c.*, s."index" AS step_index FROM ai_assistant_toolcall c '
            "JOIN ai_assistant_step s ON s.id = c.step_id "
            'WHERE c.run_id = %s ORDER BY s."index", c.position',
            self._id(run_id),
        )
        return [
            {**row, "id": str(UUID(str(row["id"]))), "result": _json(row["result"])}
            for row in rows
        ]

    # --- what a run said and did ---

    def texts(self, run_id: str) -> list[str]:
        """Return the text of each message of the assistant in a run, in order."""
        rows = self.rows(
            "SELECT parts FROM ai_assistant_message "
            "WHERE run_id = %s AND role = 'assistant' ORDER BY position",
            self._id(run_id),
        )
        return [
            "".join(part["text"] for part in _json(row["parts"]) if "text" in part)
            for row in rows
        ]

    def text(self, run_id: str) -> str:
        """Return the transcript of a run: what the assistant said, as one text."""
        return "\n".join(self.texts(run_id))

    def logged_texts(self, run_id: str) -> dict[str, str]:
        """Return the texts that the events tell, by message, without the replaced."""
        told: dict[str, str] = {}
        for event in self.events(run_id):
            fact = event["payload"]
            if event["type"] == CONTENT:
                so_far = told.get(fact["message_id"], "")
                if fact["offset"] != len(so_far):
                    raise AssertionError(
                        f"event {event['seq']} of {run_id} says offset "
                        f"{fact['offset']}, {len(so_far)} characters were told"
                    )
                told[fact["message_id"]] = so_far + fact["delta"]
            elif fact.get("name") == "aia.replaced":
                told.pop(fact["value"]["message_id"], None)
        return told

    def effects(self) -> Counter[tuple[str, str]]:
        """
        Return how often each (run, key) was written.

        By the tools of testapp, and by `slow_write`, whose text is the key.
        """
        rows = self.rows(
            "SELECT run, key FROM testapp_effect UNION ALL "
            "SELECT run_id AS run, text AS key FROM conformance_writtenrow"
        )
        return Counter((str(UUID(str(row["run"]))), row["key"]) for row in rows)

    def written(self, run_id: str) -> list[int]:
        """Return the keys of the rows that `slow_write` has written for a run."""
        rows = self.rows(
            "SELECT id FROM conformance_writtenrow WHERE run_id = %s", self._id(run_id)
        )
        return [row["id"] for row in rows]

    def external(self) -> Counter[str]:
        """Return how often each key was written to the outside."""
        if self.external_file is None or not self.external_file.exists():
            return Counter()
        lines = self.external_file.read_text().splitlines()
        return Counter(line.split("\t")[0] for line in lines)

    def external_by_run(self) -> Counter[str]:
        """Return how often each run wrote to the outside."""
        if self.external_file is None or not self.external_file.exists():
            return Counter()
        lines = self.external_file.read_text().splitlines()
        return Counter(line.split("\t")[1].split(":")[0] for line in lines)

    # --- what is wrong ---

    def problems(self, run_ids: Iterable[str] | None = None) -> list[str]:
        """Return a sentence for everything that must not be; empty if all is well."""
        ids = [row["id"] for row in self.runs()] if run_ids is None else list(run_ids)
        return [problem for run_id in ids for problem in self._of_run(run_id)]

    def _of_run(self, run_id: str) -> list[str]:
        run, events, calls = self.run(run_id), self.events(run_id), self.calls(run_id)
        found = []
        if run["state"] not in FINAL:
            found.append(f"run {run_id} is {run['state']}, not in a final state")
        numbers = [event["seq"] for event in events]
        if numbers != list(range(1, run["next_seq"])):
            found.append(
                f"run {run_id} has the events {numbers}, next {run['next_seq']}"
            )
        ends = [e for e in events if e["type"] in ("RUN_FINISHED", "RUN_ERROR")]
        if len(ends) != 1 or ends[0]["seq"] != numbers[-1]:
            found.append(f"run {run_id} ends {len(ends)} times, or says more after it")
        results = Counter(
            event["payload"]["call_id"]
            for event in events
            if event["type"] == "TOOL_CALL_RESULT"
        )
        found += [
            f"call {call['name']} of run {run_id} is {call['status']} and has "
            f"{results[call['id']]} results"
            for call in calls
            if call["status"] in OPEN_CALL or results[call["id"]] != 1
        ]
        return found + self._of_texts(run_id)

    def _of_texts(self, run_id: str) -> list[str]:
        try:
            told = [text for text in self.logged_texts(run_id).values() if text]
        except AssertionError as error:
            return [str(error)]
        kept = [text for text in self.texts(run_id) if text]
        if told == kept:
            return []
        return [f"run {run_id}: the events tell {told}, the messages hold {kept}"]

    # --- waiting ---

    def wait(
        self, seen: Callable[[], object], timeout_s: float = 30.0, what: str = ""
    ) -> float:
        """Wait until `seen()` is true; return how many seconds that took."""
        begin = time.monotonic()
        while not seen():
            if time.monotonic() - begin > timeout_s:
                raise AssertionError(f"{what or seen} not within {timeout_s:g} s")
            time.sleep(0.02)
        return time.monotonic() - begin

    def wait_final(self, run_id: str, timeout_s: float = 30.0) -> Row:
        """Wait until a run has ended, and return its row."""
        self.wait(
            lambda: self.run(run_id)["state"] in FINAL,
            timeout_s,
            f"the end of {run_id}",
        )
        return self.run(run_id)

    def wait_all_final(self, timeout_s: float = 60.0) -> list[Row]:
        """Wait until every run has ended, and return their rows."""

        def unfinished() -> list[Row]:
            return [row for row in self.runs() if row["state"] not in FINAL]

        self.wait(lambda: not unfinished(), timeout_s, f"the end of {unfinished()}")
        return self.runs()


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value
