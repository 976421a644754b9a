"""How soon an open page shows what the assistant has changed, from the commit on."""

import threading
import time
from dataclasses import dataclass, field
from itertools import cycle
from os import getloadavg
from pathlib import Path

from playwright.sync_api import Browser
from playwright.sync_api import TimeoutError as TooLate

from tests.bench.report import emit, median
from tests.browser.chromium import chromium
from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle

CHANGES = 60
MOST_MS, LONGEST_MS = 1000, 10_000
MODEL = "questionnaires.questionnaire"
LIST = f"/admin/{MODEL.replace('.', '/')}/"
LANGUAGES = ("de", "en")
DRAFTS = """SELECT owner.id, min(section.id) AS section
  FROM questionnaires_questionnaire owner
  JOIN questionnaires_section section ON section.questionnaire_id = owner.id
  WHERE owner.status = 'draft' GROUP BY owner.id ORDER BY owner.id"""
TITLE = "SELECT title AS value FROM questionnaires_questionnaire WHERE id = %s"
LANGUAGE = TITLE.replace("title", "default_language", 1)
SECTION = "SELECT title AS value FROM questionnaires_section WHERE id = %s"

# Notes the moment from which on `shows(value)` is true, by the clock of the machine.
WATCH = """([shows, value]) => {
  const isShown = new Function("value", `return ${shows}`);
  window.shownAt = null;
  const look = () => {
    if (isShown(value)) window.shownAt = Date.now();
    else setTimeout(look, 10);
  };
  look();
}"""
ENTRIES = "document.querySelectorAll('#change-history tbody tr').length"
IN_FILTER = """() => [...document.querySelectorAll("#changelist-filter a")]
  .map((one) => `${new URL(one.href).searchParams.get("default_language__exact")} ${
    one.textContent.match(/\\((\\d+)\\)/)?.[1]}`)"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A kind of page: where it is, and when it shows the value."""

    name: str
    path: str
    shows: str
    before: str = ""  # what a person does on the page before
    field: str = "title"
    reader: str = ""  # whose page it is, if not that of who asks


KINDS = (
    Kind(
        name="list",
        path=LIST,
        shows="document.querySelector('#result_list').textContent.includes(value)",
    ),
    Kind(
        name="filter counts",
        path=f"{LIST}?_facets=1",
        field="default_language",
        shows="window.countsNow() !== window.countsBefore",
        before=f"""() => {{
          window.countsNow = () => ({IN_FILTER})().join();
          window.countsBefore = window.countsNow();
        }}""",
    ),
    Kind(
        name="clean form",
        path=f"{LIST}%s/change/",
        shows="document.querySelector('#id_title').value === value",
    ),
    Kind(
        name="form with unsaved work",
        path=f"{LIST}%s/change/",
        before="() => { document.querySelector('#id_title').value = 'Mine' }",
        shows="""document.querySelector('#id_title').value === 'Mine' &&
          document.querySelector('.aia-other')?.textContent.includes(value)""",
    ),
    Kind(
        name="inline",
        path=f"{LIST}%s/change/",
        field="section",
        shows="""[...document.querySelectorAll('[name^=sections-][name$=-title]')]
          .some((one) => one.value === value)""",
    ),
    Kind(
        name="view page of a colleague",
        path=f"{LIST}%s/change/",
        reader="viewer",
        shows="""[...document.querySelectorAll('#content .readonly')]
          .some((one) => one.textContent === value)""",
    ),
    Kind(
        name="history page",
        path=f"{LIST}%s/history/",
        before=f"() => {{ window.entriesBefore = {ENTRIES} }}",
        shows=f"{ENTRIES} === window.entriesBefore + 1",
    ),
)


@dataclass(slots=True)
class Commit:
    """Waits in a thread until a row has another value, and notes when."""

    oracle: Oracle
    statement: str
    key: int
    at_ms: float = 0.0
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        before = self._value()
        self._thread = threading.Thread(target=self._wait, args=(before,))
        self._thread.start()

    def _value(self) -> object:
        return self.oracle.rows(self.statement, self.key)[0]["value"]

    def _wait(self, before: object) -> None:
        while self._value() == before:
            time.sleep(0.005)
        self.at_ms = time.time() * 1000

    def join(self) -> float:
        self._thread.join()
        return self.at_ms


class Desk:
    """Who asks, who reads, and the rows that are changed."""

    def __init__(
        self, browser: Browser, server: DemoServer, model: ModelServerProcess
    ) -> None:
        self.model = model
        self.oracle = Oracle(server.database_url)
        self.drafts = cycle(self.oracle.rows(DRAFTS))
        self.visitors = {
            name: Visitor(browser, server.url, name) for name in ("admin", "viewer")
        }
        self.asking = self.visitors["admin"].panel()
        self.reading = self.visitors["viewer"].panel()

    def change(self, kind: Kind, number: int) -> float:
        """
        Let the assistant change a row; return how late the page shows it, in ms.

        LONGEST_MS if it never does.
        """
        draft = next(self.drafts)
        place = kind.path.replace("%s", str(draft["id"]))
        seen = self.reading if kind.reader else self.asking
        seen.goto(place)
        if kind.before:
            seen.page.evaluate(kind.before)
        value, said, commit = self._said(kind, draft, number)
        self.model.script("followed", [[call("change_object", said)], [text("Done.")]])
        seen.page.evaluate(WATCH, [kind.shows, value])
        self._ask()
        shown = self._shown_at(seen)
        committed = commit.join()
        return shown - committed if shown else LONGEST_MS

    def _said(
        self, kind: Kind, draft: dict[str, int], number: int
    ) -> tuple[str, dict[str, object], Commit]:
        model, key, name = MODEL, draft["id"], kind.field
        statement, value = TITLE, f"Changed {number} times"
        more: dict[str, object] = {}
        if kind.field == "section":
            model, key, name = "questionnaires.section", draft["section"], "title"
            statement = SECTION
        elif kind.field == "default_language":
            statement = LANGUAGE
            now = self.oracle.rows(statement, key)[0]["value"]
            value = next(one for one in LANGUAGES if one != now)
            more = {"languages": [*LANGUAGES]}
        said = {"model": model, "id": key, "values": {**more, name: value}}
        return value, said, Commit(self.oracle, statement, key)

    def _ask(self) -> None:
        self.asking.ask("Change it. [[script:followed]]")
        self.asking.wait_state("waiting-approval")
        self.asking.approve()
        self.asking.wait_state("idle")

    def _shown_at(self, seen: Panel) -> float:
        try:
            seen.page.wait_for_function("window.shownAt", timeout=LONGEST_MS)
        except TooLate:
            return 0.0
        return float(seen.page.evaluate("window.shownAt"))

    def leave(self) -> None:
        for visitor in self.visitors.values():
            visitor.leave()


def measure(_base: str, folder: Path) -> None:
    """Print how late pages of each kind are, and how many within a second."""
    where = folder / "followed"
    where.mkdir()
    with (
        ModelServerProcess() as model,
        chromium() as browser,
        DemoServer(where, model_url=model.url) as server,
    ):
        desk = Desk(browser, server, model)
        late: dict[str, list[float]] = {kind.name: [] for kind in KINDS}
        kinds = cycle(KINDS)
        for number in range(CHANGES):
            kind = next(kinds)
            late[kind.name].append(desk.change(kind, number))
        desk.leave()
    _emit(late)


def _emit(late: dict[str, list[float]]) -> None:
    for name, found in late.items():
        note = f"worst {max(found):.0f}"
        label = f"followed_{name.replace(' ', '_')}"
        emit(label, median(found), "ms", n=len(found), note=note)
    all_of_them = [one for found in late.values() for one in found]
    in_time = sum(one <= MOST_MS for one in all_of_them)
    note = (
        f"within {MOST_MS} ms of the commit, of {CHANGES}; load {getloadavg()[0]:.1f}"
    )
    emit("followed_in_time", in_time, "changes", n=len(all_of_them), note=note)
