"""Several plans in one reply, with other calls between: one checklist, in its place."""

import json

import pytest

from tests.render.html import story as stories
from tests.render.html.tab import Tab, whole_page
from tests.render.html.test_projection import assert_whole
from tests.render.html.test_without_card import drawn, kinds

FIRST, LATER = "update_plan#first", "update_plan#later"
PLANS = {FIRST: ["in_progress", "pending"], LATER: ["done", "in_progress"]}
REPLIES = [
    (FIRST, "echo", LATER),
    ("echo", FIRST, "echo", LATER),
    (FIRST, LATER, "needs_approval"),
    (FIRST, "echo", LATER, "echo"),
]
AS_FIRST = ["Step 0 In progress", "Step 1 To do"]
AS_LATER = ["Step 0 Done", "Step 1 In progress"]


def named(reply):
    return ",".join(reply).replace("update_plan#", "")


@pytest.fixture
def tab(story, monkeypatch):
    """A tab of a run whose model can write two plans."""
    for name, statuses in PLANS.items():
        items = [
            {"text": f"Step {number}", "status": status}
            for number, status in enumerate(statuses)
        ]
        monkeypatch.setitem(stories.CALLS, name, json.dumps({"items": items}))
    story.ask("Hello")
    tab = Tab(story)
    tab.connect()
    return tab


def work_off(story, look, fails=""):
    """Carry the calls out, of which one may fail."""
    at_work = [call for call in story.open_calls() if call.status != "waiting"]
    for call in at_work:
        items = call.arguments.get("items", [{"status": ""}])
        is_failing = bool(fails) and items[0]["status"] == PLANS[fails][0]
        story.work("fails" if is_failing else "x")
        look()


@pytest.mark.row("L09")
class TestTwoPlans:
    @pytest.mark.parametrize("reply", REPLIES, ids=named)
    def test_are_one_with_the_later_state(self, story, tab, reply):
        story._reply(reply)
        tab.look()
        assert drawn(tab.page, story.run) == AS_LATER
        assert_whole(tab)

        work_off(story, lambda: (tab.look(), assert_whole(tab)))

        assert drawn(tab.page, story.run) == AS_LATER
        assert kinds(tab).count("aia-list") == 1

    def test_are_one_that_stands_before_the_card_between(self, story, tab):
        story._reply((FIRST, "echo", LATER))
        tab.look()

        assert kinds(tab) == ["aia-list", "aia-tool"]
        assert_whole(tab)

    @pytest.mark.parametrize("fails", [FIRST, LATER], ids=["first", "later"])
    @pytest.mark.parametrize("reply", REPLIES, ids=named)
    def test_leave_the_one_that_did_not_fail(self, story, tab, reply, fails):
        story._reply(reply)
        tab.look()

        work_off(story, lambda: (tab.look(), assert_whole(tab)), fails)

        left = AS_FIRST if fails == LATER else AS_LATER
        assert drawn(tab.page, story.run) == left
        assert kinds(tab).count("aia-list") == 1

    def test_whose_first_failed_moves_to_the_later_one(self, story, tab):
        story._reply((FIRST, "echo", LATER))
        tab.look()
        assert kinds(tab) == ["aia-list", "aia-tool"]

        work_off(story, tab.look, FIRST)

        assert kinds(tab) == ["aia-tool", "aia-list"]
        assert_whole(tab)

    @pytest.mark.parametrize("fails", ["", FIRST, LATER], ids=["none", "1st", "2nd"])
    def test_stand_the_same_in_a_tab_that_looks_late(self, story, tab, fails):
        story._reply((FIRST, "echo", LATER))
        work_off(story, lambda: None, fails)
        tab.look()

        assert_whole(tab)

    def test_stand_amid_cards_once_a_person_has_allowed_them(self, story, tab):
        story._reply((FIRST, "echo"))
        asked = story.run.calls.filter(name="update_plan")
        asked.update(status="waiting")
        tab.look()
        assert kinds(tab) == ["aia-tool"]

        asked.update(status="pending")
        story.show_working("")
        tab.look()

        assert kinds(tab) == ["aia-list", "aia-tool"]
        assert_whole(tab)

    def test_are_one_after_a_reload(self, story, tab):
        story._reply(("echo", FIRST, "echo", LATER))
        work_off(story, lambda: None)

        page, _run, _seq = whole_page(story.conversation)

        assert drawn(page, story.run) == AS_LATER
