"""CopilotKit, with its runtime in between, in front of the demo."""

import re
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.copilotkit.front import FrontServer, Reader
from tests.servers.oracle import Row
from tests.web.agui.site import Site, call, calls, text

WISH = call("needs_approval", text="a wish")
TWO = [{"name": "needs_approval", "arguments": {"text": f"wish {n}"}} for n in (1, 2)]
HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs" / "agui.md"
BLOCK = re.compile(r"^```js[x]?\n(.*?)^```", re.M | re.S)
ASKED = "Approve “Needs approval”?"


@pytest.fixture
def thread(reader: Reader, front: FrontServer) -> str:
    """The thread that the page shows."""
    name = f"thread-{uuid4().hex}"
    reader.open(f"{front.url}/chat?thread={name}")
    return name


def run_of(site: Site, thread: str) -> Row:
    """Return the last run of a thread."""
    statement = "SELECT id FROM ai_assistant_conversation WHERE thread_id = %s"
    (found,) = site.oracle.rows(statement, thread)
    runs = site.oracle.runs()
    return [one for one in runs if one["conversation_id"] == found["id"]][-1]


def calls_of(site: Site, thread: str) -> list[tuple[str, str | None]]:
    """Return how the calls of the last run stand, with what they returned."""
    found = site.oracle.calls(run_of(site, thread)["id"])
    return [(one["status"], (one["result"] or {}).get("data")) for one in found]


def test_tools_of_the_site_and_of_the_page_are_carried_out(
    reader, thread, site, subtests
):
    with subtests.test("of the site"):
        looks = call("echo", text="what was found")
        reader.say(site.script([text("One look first."), looks], [text("So it is.")]))
        reader.sees("So it is.")
        reader.sees("One look first.")
        expect(reader.card("echo")).to_contain_text("what was found")
        ended = site.oracle.wait_final(run_of(site, thread)["id"])
        assert (ended["channel"], ended["state"]) == ("agui", "succeeded")

    with subtests.test("of the page"):
        asks = site.script([call("paint", colour="green")], [text("It is painted.")])
        reader.say(asks)
        reader.sees("It is painted.")
        page = reader.page.locator("[data-colour]")
        expect(page).to_have_attribute("data-colour", "green")
        assert calls_of(site, thread) == [("complete", "The page is green.")]
        assert "The page is green." in site.asked_last(asks)


def test_thread_is_named_by_the_page_stopped_failed_and_begun_in_the_panel(
    reader, front, site, subtests
):
    before = len(site.oracle.runs())
    reader.open(f"{front.url}/chat")
    with subtests.test("the page names it itself"):
        for words in ("First.", "Second."):
            reader.say(site.script([text(words)]))
            reader.sees(words)
        one, other = site.oracle.runs()[before:]
        assert one["conversation_id"] == other["conversation_id"]

    with subtests.test("stopped, and it goes on"):
        reader.say(site.script([text("It begins. "), {"op": "hang"}]))
        reader.sees("It begins.")
        reader.page.get_by_test_id("copilot-send-button").click()
        ended = site.oracle.wait_final(site.oracle.runs()[-1]["id"])
        assert ended["state"] == "cancelled"
        reader.say(site.script([text("And on it goes.")]))
        reader.sees("And on it goes.")

    with subtests.test("failed"):
        refuses = {"op": "status", "status": 400, "message": "No."}
        reader.say(site.script([refuses]))
        alert = reader.page.get_by_role("alert")
        expect(alert).to_contain_text("agent_run_error_event")
        expect(alert).to_contain_text(site.oracle.runs()[-1]["error_text"])

    with subtests.test("begun in the panel"):
        begun_in_the_panel(reader, front, site)


def begun_in_the_panel(reader, front, site):
    person = site.person()
    asked = person.ask(site.script([text("Said first."), WISH], [text("So be it.")]))
    site.oracle.wait(
        lambda: site.oracle.run(asked)["state"] == "waiting_approval", 20, "the wait"
    )
    reader.open(f"{front.url}/chat?thread={person.conversation}")
    reader.sees("Said first.")
    reader.press("Approve")
    reader.sees("So be it.")
    assert site.oracle.wait_final(asked)["state"] == "succeeded"


class TestApproval:
    def test_approved_denied_and_each_of_two_by_itself(
        self, reader, thread, site, subtests
    ):
        with subtests.test("approved"):
            self.approved(reader, thread, site)
        with subtests.test("denied"):
            asks = site.script([WISH], [text("Then not.")])
            reader.say(asks)
            reader.press("Deny")
            reader.sees("Then not.")
            assert calls_of(site, thread)[0][0] == "denied"
            assert site.asked_last(asks).count("Approved: ") == 1  # of the one before

        with subtests.test("two, each by itself"):
            self.each_by_itself(reader, thread, site)

    def approved(self, reader, thread, site):
        asks = site.script([text("It needs a yes."), WISH], [text("That is settled.")])
        reader.say(asks)
        reader.sees(ASKED)
        assert calls_of(site, thread) == [("waiting", None)]
        reader.press("Approve")
        reader.sees("That is settled.")
        assert calls_of(site, thread) == [("complete", "Approved: a wish")]
        assert "Approved: a wish" in site.asked_last(asks)
        expect(reader.page.locator("[data-interrupt]")).to_have_count(0)

    def each_by_itself(self, reader, thread, site):
        reader.say(site.script([calls(*TWO)], [text("Both are settled.")]))
        waits = reader.page.locator("[data-interrupt]")
        expect(waits).to_have_count(2)
        waits.nth(0).get_by_role("button", name="Approve").click()
        waits.nth(1).get_by_role("button", name="Deny").click()
        reader.sees("Both are settled.")
        (one, result), (other, _) = calls_of(site, thread)
        assert (one, result, other) == ("complete", "Approved: wish 1", "denied")

    def test_page_that_comes_back_also_to_a_runtime_that_was_started_anew(
        self, reader, thread, front, site, subtests
    ):
        paints = [call("paint", colour="green")]
        reader.say(site.script(paints, [text("It is painted.")]))
        reader.sees("It is painted.")
        with subtests.test("a page that comes back"):
            reader.say(site.script([WISH], [text("That is settled.")]))
            reader.sees(ASKED)
            reader.page.reload()
            reader.press("Approve")
            reader.sees("That is settled.")
            assert calls_of(site, thread) == [("complete", "Approved: a wish")]

        with subtests.test("a runtime that was started anew"):
            reader.say(site.script([WISH], [text("Settled again.")]))
            reader.sees(ASKED)
            front.terminate()
            front.start()
            reader.page.reload()
            reader.sees("It is painted.")
            expect(reader.card("paint")).to_contain_text("The page is green.")
            reader.press("Approve")
            reader.sees("Settled again.")
            assert calls_of(site, thread) == [("complete", "Approved: a wish")]

        with subtests.test("a turn after it"):
            reader.say(site.script([text("And on it goes.")]))
            reader.sees("And on it goes.")


def test_docs_show_what_is_tried_here():
    section = DOCS.read_text().partition("\n## CopilotKit\n")[2].partition("\n## ")[0]
    tried = [(HERE / name).read_text() for name in ("runtime.mjs", "approvals.jsx")]
    assert BLOCK.findall(section) == tried
