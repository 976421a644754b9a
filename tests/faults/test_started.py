"""A command that has started a run is killed: the run goes on, once, elsewhere."""

from uuid import uuid4

import pytest

from tests.faults.scripts import marker, telling_of
from tests.servers.process import Process, python

pytestmark = [pytest.mark.faults, pytest.mark.row("P05")]


class TestAsk:
    def test_killed_while_it_executes_the_run_itself(self, demo_server, oracle):
        server = demo_server(forged=True).start()
        server.stop()
        tables, tag = oracle(server), uuid4().hex
        asked = marker("story", tag, first=3, rate=15, tokens=24)
        command = ("manage.py", "assistant_ask", "--user", "admin", "--wait", asked)
        asking = Process(
            python(*command), log=server.folder / "ask.log", env=server.env
        ).start()
        try:
            tables.wait(tables.runs, 60)
            (row,) = tables.runs()
            run = row["id"]
            tables.wait(lambda: any(tables.logged_texts(run).values()), 60)
        finally:
            asking.kill()
        assert tables.run(run)["state"] == "running"

        server.start()

        ended = tables.wait_final(run, 60)
        assert ended["state"] == "succeeded"
        assert telling_of(tables.text(run), tag) == 2  # told from its beginning
        assert not tables.problems([run])

    def test_killed_as_soon_as_it_has_said_the_run(self, demo_server, oracle):
        server = demo_server(forged=True).start()
        tables, tag = oracle(server), uuid4().hex
        asked = marker("story", tag, first=1, rate=60, tokens=24)
        asking = Process(
            python("manage.py", "assistant_ask", "--user", "admin", asked),
            log=server.folder / "ask.log",
            env=server.env,
        ).start()
        tables.wait(tables.runs, 60)
        asking.kill()

        (row,) = tables.runs()
        assert tables.wait_final(row["id"], 60)["state"] == "succeeded"
        assert telling_of(tables.text(row["id"]), tag) == 1
        assert not tables.problems()
