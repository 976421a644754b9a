"""An agent that another one asks is a subagent to the client, with its approvals."""

from uuid import uuid4

import pytest

from tests.agui.client import approve, deny
from tests.model_server.scripts import status
from tests.web.agui.site import call, calls, text

pytestmark = pytest.mark.row("H23")


def asks(site, *replies, agent="analyst"):
    """Return a call that has an agent say these replies."""
    return call("ask_agent", agent=agent, task=f"Do it. {site.script(*replies)}")


def kinds(reading):
    return [one for one in reading.types if "SUBAGENT" in one]


class TestSubagent:
    def test_begins_and_ends_within_the_call(self, site):
        front = site.front()
        asked = site.script([asks(site, [text("Three.")])], [text("It says three.")])

        reading = front.ask(asked)

        assert not reading.faults
        (made,) = front.held.calls()
        begun, ended = (
            reading.of("SUBAGENT_STARTED")[0],
            reading.of("SUBAGENT_FINISHED"),
        )
        assert begun["name"] == "analyst"
        assert begun["parentToolCallId"] == made["id"]
        assert [one["subagentRunId"] for one in ended] == [begun["subagentRunId"]]
        assert front.held.results() == {made["id"]: "Three."}
        assert reading.text() == "It says three."
        assert reading.types.index("SUBAGENT_STARTED") > reading.types.index(
            "TOOL_CALL_END"
        )

    def test_fails_without_failing_the_run(self, site):
        front = site.front()
        fails = [status(400, "no")]
        asked = site.script([asks(site, fails)], [text("It failed.")])

        reading = front.ask(asked)

        assert kinds(reading) == ["SUBAGENT_STARTED", "SUBAGENT_ERROR"]
        assert reading.of("SUBAGENT_ERROR")[0]["message"]
        assert (reading.text(), reading.outcome) == ("It failed.", {"type": "success"})

    def test_is_told_of_each_that_was_asked_at_once(self, site):
        front = site.front()
        asked = site.script(
            [calls(asks(site, [text("One.")]), asks(site, [text("Two.")]))],
            [text("Both.")],
        )

        reading = front.ask(asked)

        assert not reading.faults
        assert sorted(front.held.results().values()) == ["One.", "Two."]
        begun = {one["subagentRunId"] for one in reading.of("SUBAGENT_STARTED")}
        assert len(begun) == 2


class TestApproval:
    @pytest.fixture
    def front(self, site):
        return site.front()

    @pytest.fixture
    def asked(self, site):
        values = {"title": f"Well put {uuid4().hex}"}
        section = {"model": "questionnaires.section", "id": 3}
        wish = [call("change_object", **section, values=values)]
        return site.script(
            [asks(site, wish, [text("Decided.")], agent="proofreader")], [text("Done.")]
        )

    def test_ends_the_stream_and_names_the_subagent(self, front, asked):
        reading = front.ask(asked)

        assert not reading.faults
        (wait,) = reading.interrupts
        (made,) = front.held.calls()
        (begun,) = reading.of("SUBAGENT_STARTED")
        (ended,) = reading.of("SUBAGENT_FINISHED")
        assert wait["subagentRunId"] == begun["subagentRunId"]
        assert wait["toolCallId"] == made["id"]
        assert wait["metadata"]["aia"]["tool"] == "change_object"
        assert ended["outcome"]["type"] == "suspended"

    @pytest.mark.parametrize("decide", [approve, deny])
    def test_is_answered_and_the_run_goes_on(self, front, asked, decide):
        (wait,) = front.ask(asked).interrupts

        reading = front.answer(decide(wait))

        assert not reading.faults
        assert kinds(reading) == ["SUBAGENT_STARTED", "SUBAGENT_FINISHED"]
        assert reading.text() == "Done."
        assert list(front.held.results().values()) == ["Decided."]
