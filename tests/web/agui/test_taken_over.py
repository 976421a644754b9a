"""A server that is killed: its runs are taken over, and clients find them again."""

from contextlib import suppress
from uuid import uuid4

import httpx
import pytest

from tests.agui.client import approve
from tests.servers.oracle import Oracle
from tests.web.agui.site import ENV, Site, call, hold, text

pytestmark = pytest.mark.faults
DONE = [text("Done.")]


@pytest.fixture
def site(demo_server, model_server):
    """A site of two: another process takes over what the web server leaves behind."""
    server = demo_server(env=ENV, forged=True)
    server.start()
    found = Site(server, model_server, Oracle(server.database_url))
    yield found
    found.close()


def half_and_whole(site, gate):
    """The model hangs in the middle the first time, and answers whole the second."""
    return site.script(
        [
            text("Telling {telling} begins"),
            {**hold(gate), "times": 1},
            text(" and is whole."),
        ]
    )


def kill_amid(site, front, asked):
    """Kill the server while a client reads, and start it again; return what it read."""
    with front.open(asked) as reading:
        reading.until_text("begins")
        run = site.run(front)["id"]
        site.oracle.wait(lambda: site.oracle.logged_texts(run), 10, "stored text")
        told = reading.frames[:]
        site.server.kill()
        with suppress(httpx.HTTPError):
            reading.rest()
    site.server.start()
    return told


class TestTakenOver:
    def test_text_is_told_once_in_the_end(self, site):
        front = site.front()
        told = kill_amid(site, front, half_and_whole(site, uuid4().hex))

        with front.attach(told=told) as again:
            again.rest()

        assert again.named("aia.replaced")
        assert again.of("MESSAGES_SNAPSHOT")
        assert again.held.texts() == ["Telling 2 begins and is whole."]
        assert not site.oracle.problems([site.run(front)["id"]])

    def test_client_that_holds_nothing_gets_it_once(self, site):
        front = site.front()
        kill_amid(site, front, half_and_whole(site, uuid4().hex))
        fresh = front.fresh()

        fresh.ask()
        site.wait_state(front, "succeeded")
        last = front.fresh()
        last.ask()

        assert fresh.held.texts() == last.held.texts()
        assert last.held.texts() == ["Telling 2 begins and is whole."]

    def test_question_that_was_open_can_still_be_answered(self, site):
        front = site.front()
        asked = site.script([call("needs_approval", text="sign-here")], DONE)
        (wait,) = front.ask(asked).interrupts
        site.server.kill()
        site.server.start()

        assert front.answer(approve(wait)).text() == "Done."
        assert [*front.held.results().values()] == ["Approved: sign-here"]
