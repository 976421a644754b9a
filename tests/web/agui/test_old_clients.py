"""Clients older than 1.0 get the shapes they know."""

import pytest

from tests.agui.client import approve
from tests.web.agui.site import call, text, think

DONE = [text("Done.")]
PICK = {"name": "pick_color", "description": "Pick."}


@pytest.fixture
def front(site):
    return site.front(version=None, tools=[PICK])


class TestOldClients:
    def test_text_reasoning_and_tools(self, site, front):
        script = site.script(
            [think("Hm. "), text("Look. "), call("echo", text="x")], DONE
        )

        reading = front.ask(script)

        assert reading.events[0]["protocolVersion"] == "1.0"
        assert "outcome" not in reading.last
        assert front.held.texts() == ["Look. ", "Done."]

    def test_tool_of_the_client(self, site, front):
        first = front.ask(site.script([call("pick_color")], DONE))
        (made,) = front.held.calls()
        front.add_result(made["id"], "ok")

        assert "pendingToolCallIds" not in str(first.last)
        assert front.ask().text() == "Done."

    def test_interrupt_is_known_to_them(self, site, front):
        (wait,) = front.ask(
            site.script([call("needs_approval", text="x")], DONE)
        ).interrupts

        assert front.answer(approve(wait)).text() == "Done."

    def test_stop_is_an_error_with_a_code(self, site, front):
        with front.open(site.script([text("Half "), {"op": "hang"}])) as reading:
            reading.until_text("Half")
            person = site.person(conversation=site.conversation(front)["id"])
            person.stop(site.run(front)["id"])
            reading.rest()

        assert (reading.last["type"], reading.last["code"]) == (
            "RUN_ERROR",
            "cancelled",
        )
