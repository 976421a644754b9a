"""
A run whose row is locked for long, on PostgreSQL: nobody else waits for it.

A process is frozen in the middle of a write, or a piece of a background tool keeps its
transaction open. Two processes execute, and both sweep.
"""

import threading
import time
from dataclasses import dataclass
from statistics import median
from uuid import uuid4

import pytest

from tests.faults.scripts import call, marker
from tests.figures import FIGURE
from tests.servers.app import DemoServer
from tests.servers.client import Person
from tests.servers.oracle import FINAL, Oracle
from tests.thorough import IS_THOROUGH

pytestmark = [pytest.mark.faults, pytest.mark.postgres, pytest.mark.timeout(300)]

HELD = "held-piece"
FROZEN_S = 20.0 if IS_THOROUGH else 6.0
ASKED = 20 if IS_THOROUGH else 6  # messages of other people
USUAL_S = 0.5  # to a first text in the log, which is written at intervals
TOLD_S = 30.0  # until health must have told a reason
STOPS = 4  # as many as there are threads for the database
DONE = [{"op": "text", "text": "Done."}]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two web servers of one site; both execute, and both sweep."""

    server: DemoServer
    other: DemoServer
    tables: Oracle


@pytest.fixture
def pair(postgres_server, demo_server, model_server, oracle):
    options = {
        "forged": True,
        "database_url": postgres_server.new_database(),
        "env": {
            "ASSISTANT_LEASE_S": "1",
            "TESTS_SETTINGS": '{"TIMEOUTS": {"WRITE_S": 60}}',
        },
    }
    server = demo_server(**options).start()
    # A long tool may begin in either.
    options["env"]["TESTAPP_EXTERNAL_FILE"] = str(server.external_file)
    other = demo_server(**options).start()
    piece = call("long_piece", key="piece", held=HELD)
    write = call("long_write", key="write", seconds=60)
    model_server.script("long-piece", [[piece], DONE])
    model_server.script("long-write", [[write], DONE])
    return Pair(server=server, other=other, tables=oracle(server))


def first_token_s(pair: Pair, person: Person) -> float:
    """Return the seconds from a message to the first text in the log, or to its run's end."""
    person.new_conversation()
    key = str(uuid4())
    begin = time.monotonic()
    response = person.send(marker("stream", key, delay=0.1, tokens=6), key=key)
    assert response.status_code == 204
    run = ""
    while time.monotonic() - begin < 60:
        run = run or pair.tables.run_by_key(key)
        if run and any("TEXT" in event["type"] for event in pair.tables.events(run)):
            return time.monotonic() - begin
        time.sleep(0.01)
    return 60.0


def several(pair: Pair, person: Person) -> list[float]:
    return [first_token_s(pair, person) for _ in range(ASKED)]


def stops(server: DemoServer, name: str, run: str) -> list[float]:
    """Press Stop in several pages at once; return how long each took to be answered."""
    took: list[float] = []

    def press() -> None:
        with Person(url=server.url, name=name).sign_in() as own:
            ready.wait(30)
            begin = time.monotonic()
            assert own.stop(run).status_code == 204
            took.append(time.monotonic() - begin)

    ready = threading.Barrier(STOPS)
    threads = [threading.Thread(target=press) for _ in range(STOPS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(took) == STOPS
    return took


def health(person: Person) -> tuple[float, dict]:
    begin = time.monotonic()
    body = person.http.get("/assistant/health/").json()
    return time.monotonic() - begin, body


def health_that_says(person: Person) -> tuple[float, dict]:
    """Ask until a reason is told; return the longest wait for an answer, and the last."""
    begin, longest, body = time.monotonic(), 0.0, {}
    while not body.get("reasons") and time.monotonic() - begin < TOLD_S:
        took, body = health(person)
        longest = max(longest, took)
        time.sleep(0.1)
    return longest, body


def unfinished(pair: Pair) -> list[str]:
    return [row["id"] for row in pair.tables.runs() if row["state"] not in FINAL]


def hold(pair: Pair, noted: str) -> None:
    """Wait until the tool of a run has written, and holds the run's row."""
    pair.tables.wait(lambda: pair.tables.external()[noted], 20, "a tool that holds it")


def test_a_piece_keeps_nobody_waiting(pair, record_property):
    with (
        Person(url=pair.server.url).sign_in() as person,
        Person(url=pair.server.url, name="editor").sign_in() as other,
    ):
        first_token_s(pair, other)
        before = several(pair, other)
        run = person.ask(marker("long-piece", uuid4().hex))
        hold(pair, HELD)
        begin = time.monotonic()

        stopped = stops(pair.server, "admin", run)
        asked, said = health(other)
        meanwhile = several(pair, other)
        # Health counts any run that is not renewed, as those of a busy machine.
        pair.tables.wait(lambda: unfinished(pair) == [run], 60, "the end of the others")
        late, told = health_that_says(other)
        held_s = time.monotonic() - begin
        pair.server.let(HELD)
        row = pair.tables.wait_final(run, 30)

    record_property(
        FIGURE,
        f"a piece of {held_s:.0f} s: {STOPS} Stops answered within {max(stopped):.2f} s, "
        f"others' first token {median(meanwhile):.2f} s (median of {ASKED}; without "
        f"{median(before):.2f}), at most {max(meanwhile):.2f} ({max(before):.2f}), "
        f"health within {max(asked, late):.2f} s: {told}",
    )
    assert max(stopped) < 1
    assert median(meanwhile) <= 1.5 * max(median(before), USUAL_S)
    assert max(asked, late) < 1.5
    assert said["status"] in ("ok", "warming")
    assert row["state"] == "cancelled"
    # What the piece has committed stays, and is all of it.
    assert [*pair.tables.effects().values()] == [1]
    assert [one for one in told["reasons"] if "1 locked" in one]
    assert told["reasons"][0].startswith("runs: ")
    assert not pair.tables.problems()


def test_a_frozen_writer_keeps_nobody_waiting(pair, record_property):
    with (
        Person(url=pair.server.url).sign_in() as person,
        Person(url=pair.other.url, name="editor").sign_in() as other,
    ):
        first_token_s(pair, other)
        before = several(pair, other)
        run = person.ask(marker("long-write", uuid4().hex))
        hold(pair, "begun-write")
        pair.server.pause()
        begin = time.monotonic()

        stopped = stops(pair.other, "admin", run)
        asked, _said = health(other)
        meanwhile = several(pair, other)
        late, told = health_that_says(other)
        time.sleep(max(0.0, FROZEN_S - (time.monotonic() - begin)))
        still = pair.tables.run(run)["state"]
        pair.server.kill()
        row = pair.tables.wait_final(run, 30)

    record_property(
        FIGURE,
        f"a writer frozen for {FROZEN_S:g} s: {STOPS} Stops answered within "
        f"{max(stopped):.2f} s, others' first token {median(meanwhile):.2f} s (median of "
        f"{ASKED}; without {median(before):.2f}), at most {max(meanwhile):.2f} "
        f"({max(before):.2f}), health within {max(asked, late):.2f} s: {told}",
    )
    assert max(stopped) < 1
    assert median(meanwhile) <= 1.5 * max(median(before), USUAL_S)
    assert max(asked, late) < 1.5
    assert still == "running"
    assert told["reasons"]
    assert told["reasons"][0].startswith("runs: ")
    assert row["state"] == "cancelled"
    assert not pair.tables.effects()  # what was not committed has not happened
    assert not pair.tables.problems()
