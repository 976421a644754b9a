"""A channel layer that drops every message only adds delay."""

from collections import Counter
from uuid import uuid4

import pytest

from tests.faults.scripts import WORK_KEYS, marker
from tests.faults.watching import assert_whole, wait_text

pytestmark = pytest.mark.faults


class TestDeafLayer:
    def test_a_tab_gets_the_whole_answer(self, deaf_site):
        person, tag = deaf_site.person(), uuid4().hex
        with person.listen() as tab:
            run = person.ask(marker("story", tag, rate=20, tokens=24))
            tab.wait_for('"state": "idle"')

        assert assert_whole(deaf_site, person, run, tag) == 1

    def test_tools_and_long_tools_are_done_once(self, deaf_site):
        run = deaf_site.person().ask(marker("work", uuid4().hex))

        assert deaf_site.oracle.wait_final(run)["state"] == "succeeded"
        effects = deaf_site.oracle.effects()
        done = {key: n for (own, key), n in effects.items() if own == run}
        assert done == Counter(WORK_KEYS)
        assert not deaf_site.oracle.problems([run])

    def test_an_approval_is_seen_and_taken(self, deaf_site):
        person = deaf_site.person()
        with person.listen() as tab:
            run = person.ask(marker("ask", uuid4().hex))
            tab.wait_for("aia-approval")
            (card,) = person.cards()
            person.answer(card, decision="approve")
            tab.wait_for('"state": "idle"')

        assert deaf_site.oracle.run(run)["state"] == "succeeded"

    def test_stop_works(self, deaf_site):
        person = deaf_site.person()
        run = person.ask(marker("stream", "stopped", rate=5, tokens=100))
        wait_text(deaf_site, run)
        person.stop(run)

        assert deaf_site.oracle.wait_final(run, 15)["state"] == "cancelled"
        assert not deaf_site.oracle.problems([run])

    def test_a_killed_server_loses_nothing(self, deaf_site):
        person, tag = deaf_site.person(), uuid4().hex
        run = person.ask(marker("story", tag, first=3, rate=15, tokens=24))
        wait_text(deaf_site, run)
        for part in deaf_site.parts:
            part.kill()
        deaf_site.up()

        assert assert_whole(deaf_site, person, run, tag) > 1
