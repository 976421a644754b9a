"""How long answers are drawn: opened again, and while they are written."""

import os
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from tests.bench.report import emit
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import text
from tests.servers.app import DemoServer
from tests.servers.client import Person

TABLE = "| id | name | price |\n|---|---|---|\n" + "| 7 | A name | 12.50 |\n" * 45_000
SMALL = "Some **words**.\n\n# Head\n\n- one\n\n" * 5_500
OPENED: Mapping[str, str] = {"table_1mb": TABLE, "small_blocks_180kb": SMALL}
BOMBS: Mapping[str, str] = {
    "definitions": "".join(f"[a{n}]: /x{n} 'title'\n" for n in range(9_000)),
    "brackets": "[" * 200_000,
    "tags": "<a <b <c " * 22_000,
    "quotes": "> " * 60
    + "a\n"
    + "".join("> " * (n % 80) + "b\n" for n in range(2_000)),
    "table": TABLE[:200_000],
}
PIECE_CHARS = 500
RATE = 20  # pieces a second
BESIDE_S = 15.0


def measure(_base: str, folder: Path) -> None:
    where = folder / "drawn"
    where.mkdir()
    with ExitStack() as stack:
        model = stack.enter_context(ModelServerProcess())
        server = DemoServer(where, model_url=model.url, lease_s=10)
        stack.enter_context(server)
        writer = stack.enter_context(Person(url=server.url)).sign_in()
        other = stack.enter_context(Person(url=server.url, name="editor")).sign_in()
        quiet = _median(other, lambda: False)
        emit("drawn_request_quiet", quiet, "ms", n=30, note=_load())
        for name, said in OPENED.items():
            _opened(model, writer, name, said)
        for name, said in BOMBS.items():
            _bomb(model, writer, other, name, said)


def _load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"


def _opened(model: ModelServerProcess, writer: Person, name: str, said: str) -> None:
    """Measure how long a conversation with a long answer takes to open."""
    model.script(name, [[text(said, size=8_000)]])
    writer.new_conversation()
    writer.ask(f"[[script:{name}]]")
    _end(writer)
    took = []
    for _ in range(4):
        begin = time.perf_counter()
        page = writer.page()
        took.append((time.perf_counter() - begin) * 1000)
    note = f"{len(page)} characters of HTML, {_load()}"
    emit(f"drawn_open_first_{name}", took[0], "ms", n=1, note=note)
    emit(f"drawn_open_again_{name}", statistics.median(took[1:]), "ms", n=3, note=note)


def _bomb(
    model: ModelServerProcess, writer: Person, other: Person, name: str, said: str
) -> None:
    """Measure another user's requests while hostile Markdown is written."""
    model.script(name, [[text(said, size=PIECE_CHARS, rate=RATE)]])
    writer.new_conversation()
    writer.ask(f"[[script:{name}]]")
    end = time.monotonic() + BESIDE_S
    with writer.listen():
        took = _median(other, lambda: time.monotonic() < end)
    emit(f"drawn_request_beside_{name}", took, "ms", n=30, note=_load())
    _end(writer)


def _end(person: Person) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        found = person.http.get(
            "/assistant/api/runs/", params={"conversation": person.conversation}
        ).json()
        if found["results"][0]["state"] == "succeeded":
            return
        time.sleep(0.3)


def _median(other: Person, goes_on: Callable[[], bool]) -> float:
    """Return the median time of a request, of 30 or for as long as it goes on."""
    took: list[float] = []
    while len(took) < 30 or (goes_on() and len(took) < 5000):
        begin = time.perf_counter()
        other.http.get("/admin/").raise_for_status()
        took.append((time.perf_counter() - begin) * 1000)
    return statistics.median(took)
