"""
Runs that work while their processes are killed and frozen at random.

Every message is sent again with its key until it is accepted, as a browser does.
A part of the site is struck only while it works on something. What came of it is
counted from the tables.
"""

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from uuid import uuid4

import httpx

from tests.faults.scripts import WORK_KEYS, marker, telling_of
from tests.faults.site import Site
from tests.servers.client import Person
from tests.servers.oracle import FINAL
from tests.servers.process import Process

RUNS_AT_ONCE = 8
FREEZE_SHARE = 0.3
FREEZE_LEASES = (0.6, 2.2)
WEB_SHARE = 0.1
END_S = 120.0


@dataclass(kw_only=True)
class Outcome:
    """What was done to the site, and what is wrong after it."""

    kills: int = 0
    freezes: int = 0
    runs: int = 0
    effects: int = 0
    reviews: int = 0  # runs whose external effect nobody is sure of
    retold: int = 0  # runs whose last text is not the first that was told
    duplicates: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    by_part: Counter[str] = field(default_factory=Counter)
    took_s: float = 0.0

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {n}" for name, n in sorted(self.by_part.items()))
        return (
            f"{self.kills} kills, {self.freezes} freezes ({parts}) in "
            f"{self.took_s:.0f} s; {self.runs} runs, {self.effects} effects: "
            f"{len(self.duplicates)} duplicate, {len(self.missing)} missing; "
            f"{self.reviews} to review, {self.retold} told anew, "
            f"{len(self.problems)} problems"
        )


class Chaos:
    """Strikes a site so many times; `run` returns what came of it."""

    def __init__(self, site: Site, strikes: int, *, seed: int = 0) -> None:
        self.site = site
        self.strikes = strikes
        self.dice = random.Random(seed)
        self.outcome = Outcome()
        self.sent: dict[str, str] = {}  # key -> script
        self.final: set[str] = set()  # keys
        self.over = threading.Event()
        self.frozen: set[Process] = set()
        self.failure = ""

    def run(self) -> Outcome:
        begin = time.monotonic()
        senders = [
            threading.Thread(target=self._send_on, args=(self.site.person(), number))
            for number in range(RUNS_AT_ONCE)
        ]
        watch = threading.Thread(target=self._watch)
        for thread in (*senders, watch):
            thread.start()
        try:
            while self._struck() < self.strikes:
                self._strike()
        finally:
            self.over.set()
            self.site.up()
            for thread in senders:
                thread.join()
        self._settle()
        watch.join()
        self.outcome.took_s = time.monotonic() - begin
        return self._judge()

    # --- what is done to the site ---

    def _struck(self) -> int:
        return self.outcome.kills + self.outcome.freezes

    def _strike(self) -> None:
        """Strike a part that works on something, if there is one."""
        self._revive()
        targets = self._at_work()
        if not targets:
            time.sleep(0.02)
            return
        part = self.dice.choice(targets)
        time.sleep(self.dice.uniform(0, 0.6))
        self.outcome.by_part[part.log.stem.split("-")[0]] += 1
        if self.dice.random() < FREEZE_SHARE and not self.frozen:
            lease_s = float(self.site.server.env["ASSISTANT_LEASE_S"])
            for_s = lease_s * self.dice.uniform(*FREEZE_LEASES)
            self.frozen.add(part)
            part.pause()
            # Not in this thread: it may itself wait for a lock that `part` holds.
            threading.Timer(for_s, self._thaw, [part]).start()
            self.outcome.freezes += 1
        else:
            part.kill()
            self.outcome.kills += 1

    def _at_work(self) -> list[Process]:
        holders = [part for part in self.site.holders() if part not in self.frozen]
        web = self.site.server.web
        # A web server that executes nothing still takes messages.
        if holders and web not in self.site.executors:
            holders += [web] * (self.dice.random() < WEB_SHARE)
        return holders

    def _thaw(self, part: Process) -> None:
        part.resume()
        self.frozen.discard(part)

    def _revive(self) -> None:
        for part in self.site.parts:
            if not part.is_alive:
                part.start(wait=False)

    # --- the people ---

    def _send_on(self, person: Person, number: int) -> None:
        while not self.over.is_set():
            person.new_conversation()
            script = "outside" if number == 0 else "work"
            key = str(uuid4())
            self.sent[key] = script
            self._until_accepted(person, marker(script, key), key)
            while key not in self.final and not self.over.is_set():
                time.sleep(0.05)

    def _until_accepted(self, person: Person, text: str, key: str) -> None:
        end = time.monotonic() + END_S
        while time.monotonic() < end:
            try:
                response = person.http.post(
                    "/assistant/send/",
                    data={**person.token(), **person.message(text, key=key)},
                    headers={"HX-Request": "true"},
                    timeout=3,
                )
            except httpx.HTTPError:
                time.sleep(0.1)
                continue
            if response.status_code != 204:
                body = response.text[:300]
                self.outcome.problems.append(f"send: {response.status_code} {body}")
            return
        self.outcome.problems.append(f"message {key} was never accepted")

    def _watch(self) -> None:
        while not self.over.is_set():
            self._note_final()
            time.sleep(0.1)

    def _note_final(self) -> None:
        rows = self.site.oracle.rows(
            "SELECT idempotency_key, state FROM ai_assistant_run"
        )
        self.final = {r["idempotency_key"] for r in rows if r["state"] in FINAL}

    # --- what came of it ---

    def _settle(self) -> None:
        end = time.monotonic() + END_S
        while not self.sent.keys() <= self.final and time.monotonic() < end:
            self._note_final()
            time.sleep(0.1)

    def _judge(self) -> Outcome:
        found = self.outcome
        rows = [
            row
            for row in self.site.oracle.runs()
            if row["idempotency_key"] in self.sent
        ]
        found.runs = len(rows)
        keys = Counter(row["idempotency_key"] for row in rows)
        found.problems += [
            f"{key}: {keys[key]} runs" for key in self.sent if keys[key] != 1
        ]
        found.problems += self.site.oracle.problems(row["id"] for row in rows)
        done = self.site.oracle.effects()
        outside = self.site.oracle.external_by_run()
        for row in rows:
            if self.sent[row["idempotency_key"]] == "work":
                self._judge_work(row, done)
            else:
                self._judge_outside(row, outside[row["id"]])
        return found

    def _judge_work(self, row: dict[str, str], done: Counter[tuple[str, str]]) -> None:
        run, found = row["id"], self.outcome
        if row["state"] != "succeeded":
            found.problems.append(f"run {run} is {row['state']}: {row['error_text']}")
        own = {key: n for (run_id, key), n in done.items() if run_id == run}
        found.effects += sum(own.values())
        found.duplicates += [f"{run} {key} x{n}" for key, n in own.items() if n > 1]
        found.missing += [f"{run} {key}" for key in WORK_KEYS if key not in own]
        found.problems += [
            f"{call['name']} of {run} is {call['status']}: {call['result']}"
            for call in self.site.oracle.calls(run)
            if call["status"] != "complete"
        ]
        tag, texts = row["idempotency_key"], self.site.oracle.texts(run)
        telling = telling_of(texts[-1], tag) if texts else 0
        if not telling:
            found.problems.append(f"run {run} does not tell its story whole: {texts}")
        found.retold += telling > 1

    def _judge_outside(self, row: dict[str, str], times: int) -> None:
        run, found = row["id"], self.outcome
        found.effects += times
        if times > 1:
            found.duplicates.append(f"{run} outside x{times}")
        if row["state"] == "needs_review":
            found.reviews += 1
        elif row["state"] != "succeeded":
            found.problems.append(f"run {run} is {row['state']}: {row['error_text']}")
        elif times == 0:
            found.missing.append(f"{run} outside")
