"""With a channel layer that loses everything, streams are slower, and whole."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.agui.client import approve
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle
from tests.web.agui.site import ENV, Site, call, hold, text, think

DONE = [text("Done.")]


@pytest.fixture(scope="module")
def deaf(tmp_path_factory, model_server) -> Iterator[Site]:
    server = DemoServer(
        tmp_path_factory.mktemp("deaf"),
        model_url=model_server.url,
        env={**ENV, "TESTS_LAYER": "deaf"},
        forged=True,
    )
    with server:
        site = Site(server, model_server, Oracle(server.database_url))
        yield site
        site.close()


class TestDeafLayer:
    def test_text_comes_while_the_model_is_still_writing(self, deaf):
        front, gate = deaf.front(), uuid4().hex
        asked = deaf.script([text("early "), hold(gate), text("late")])

        with front.open(asked) as reading:
            reading.until_text("early")
            deaf.model.release(gate)
            reading.rest()

        assert reading.text() == "early late"

    def test_tools_and_reasoning_are_whole(self, deaf):
        front = deaf.front()

        front.ask(deaf.script([text("Look. "), call("echo", text="x")], DONE))

        assert front.held.texts() == ["Look. ", "Done."]
        assert len(front.held.results()) == 1

    def test_approval_is_asked_and_taken(self, deaf):
        front = deaf.front()
        asked = deaf.script([think("Hm."), call("needs_approval", text="x")], DONE)
        (wait,) = front.ask(asked).interrupts

        assert front.answer(approve(wait)).text() == "Done."

    def test_client_that_leaves_stops_its_run(self, deaf):
        front = deaf.front()
        asked = deaf.script([text("Half "), {"op": "hang"}])

        with front.open(asked) as reading:
            reading.until_text("Half")

        deaf.wait_closed(asked)
        assert deaf.wait_state(front, "cancelled")
