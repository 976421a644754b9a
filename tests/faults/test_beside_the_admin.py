"""Chats that stream and write, while people use the admin on the same SQLite."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from tests.faults.scripts import marker
from tests.faults.site import Site
from tests.servers.client import Person

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]

CHATS = 8
SAVES_A_SECOND = 5


class Saver(threading.Thread):
    """Saves a row of the admin five times a second, and notes what came back."""

    def __init__(self, person: Person, page: str) -> None:
        super().__init__()
        self.person, self.page = person, page
        self.statuses: list[int] = []
        self.over = threading.Event()

    def run(self) -> None:
        due = time.monotonic()
        while not self.over.is_set():
            data = {
                **self.person.token(),
                "slug": "saved-by-hand",
                "label": f"Saved by hand {len(self.statuses)}",
                **dict.fromkeys(("config_schema", "default_config"), "{}"),
                "example_config": "{}",
            }
            response = self.person.http.post(self.page, data=data)
            self.statuses.append(response.status_code)
            due += 1 / SAVES_A_SECOND
            time.sleep(max(0.0, due - time.monotonic()))


def test_no_lock_reaches_anybody(site: Site, trials, figure):
    pk = site.oracle.rows("SELECT id FROM questionnaires_questiontype LIMIT 1")[0]["id"]
    saver = Saver(site.person(), f"/admin/questionnaires/questiontype/{pk}/change/")
    runs: list[str] = []
    said = len(site.server.output())

    def chat() -> None:
        person = site.person()
        for _ in range(trials):
            person.new_conversation()
            run = person.ask(marker("write-and-tell", uuid4().hex))
            runs.append(run)
            site.oracle.wait_final(run, 60)

    saver.start()
    with ThreadPoolExecutor(CHATS) as pool:
        chats = [pool.submit(chat) for _ in range(CHATS)]
    saver.over.set()
    saver.join()
    for done in chats:
        done.result()

    figure("admin saves beside 8 chats", [len(saver.statuses)])
    figure("runs beside the admin", [len(runs)])
    assert len(runs) == CHATS * trials
    assert set(saver.statuses) == {302}, site.server.output()[said:]
    assert {site.oracle.run(run)["state"] for run in runs} == {"succeeded"}
    assert not site.oracle.problems(runs)
    assert all(site.oracle.effects()[run, "w"] == 1 for run in runs)
    assert "database is locked" not in site.server.output()[said:]
