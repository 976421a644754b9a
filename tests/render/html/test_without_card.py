"""The plan of a run, and what is suggested after it: calls that have no card."""

import json
import re

import pytest

from ai_assistant import conf
from ai_assistant.render.exported import as_markdown
from tests.render.html import story as stories
from tests.render.html.tab import Tab, whole_page
from tests.render.html.test_projection import assert_whole


@pytest.fixture
def tab(story):
    """A tab that is attached to a run that has just begun."""
    story.ask("Hello")
    tab = Tab(story)
    tab.connect()
    return tab


@pytest.fixture
def calls(story, tab, monkeypatch):
    """Let the model make calls, of which the arguments of one name are given."""

    def make(*names, text="", **arguments):
        for name, given in arguments.items():
            monkeypatch.setitem(stories.CALLS, name, json.dumps(given))
        if text:
            story.say(text)
            story.stretch.pending += story.stretch.parts.close()
        story._reply(names)
        tab.look()

    return make


@pytest.fixture
def plans(story, tab, calls):
    """Let the model write its plan: `plans("done", "in_progress", "pending")`."""

    def write(*statuses, beside=()):
        items = [
            {"text": f"Step <{number}>", "status": status}
            for number, status in enumerate(statuses)
        ]
        calls("update_plan", *beside, update_plan={"items": items})
        while story.open_calls():
            story.work("x")
        tab.look()

    return write


def kinds(tab):
    parts = tab.page.by_id(f"r-{tab.story.run.pk}-parts").children
    return [part.classes()[0] for part in parts if not isinstance(part, str)]


def drawn(page, run):
    """Return what a plan says of each of its items, as it is read out."""
    plan = page.by_id(f"p-{run.pk}")
    items = [one for one in plan.elements() if one.tag == "li"]
    return [" ".join(one.text().split()) for one in items]


@pytest.mark.row("L09")
class TestPlan:
    def test_is_drawn_once_and_ticked_off_in_its_place(self, story, tab, plans):
        plans("in_progress", "pending")
        assert drawn(tab.page, story.run) == ["Step <0> In progress", "Step <1> To do"]
        plans("done", "in_progress", beside=["echo"])
        plans("done", "done", beside=["echo"])

        assert drawn(tab.page, story.run) == ["Step <0> Done", "Step <1> Done"]
        assert kinds(tab)[0] == "aia-list"
        assert kinds(tab).count("aia-list") == 1
        assert "Plan: 2 of 2 done" in tab.page.by_id(f"p-{story.run.pk}").text()
        assert_whole(tab)

    def test_stands_where_it_was_made(self, story, tab, plans):
        plans("pending", beside=["echo"])

        assert kinds(tab) == ["aia-list", "aia-tool"]
        assert_whole(tab)

    def test_that_waits_for_approval_is_no_plan_yet(self, story, tab, calls):
        items = [{"text": "Step", "status": "pending"}]
        calls("update_plan", update_plan={"items": items})
        story.run.calls.update(status="waiting")

        page, _run, _seq = whole_page(story.conversation)
        assert "Step" not in page.by_id("aia-log").text()

    def test_parts_no_group_of_reads(self, story, tab, plans):
        plans("pending", beside=["echo"])
        plans("done", beside=["echo"])

        assert kinds(tab) == ["aia-list", "aia-group"]
        assert_whole(tab)

    def test_is_no_line_of_an_export(self, story, tab, plans):
        plans("done", beside=["echo"])

        lines = as_markdown(story.conversation).splitlines()
        (line,) = [line for line in lines if line.startswith("- ")]
        # A read has worked since it was asked for.
        assert re.fullmatch(r"- Echo: complete, [\d.]+ s", line)

    def test_that_fails_is_not_drawn(self, story, tab, calls):
        calls("update_plan", update_plan={"items": "none"})

        assert kinds(tab) == []
        assert_whole(tab)

    def test_that_fails_when_it_is_carried_out_is_removed(self, story, tab, calls):
        items = [{"text": "Step", "status": "pending"}]
        calls("update_plan", update_plan={"items": items})
        assert kinds(tab) == ["aia-list"]

        story.work("fails")
        tab.look()

        assert kinds(tab) == []
        assert_whole(tab)

    def test_that_fails_so_leaves_the_one_before(self, story, tab, plans, calls):
        plans("in_progress")
        items = [{"text": "Step <0>", "status": "done"}]
        calls("update_plan", update_plan={"items": items})
        assert drawn(tab.page, story.run) == ["Step <0> Done"]

        story.work("fails")
        tab.look()

        assert drawn(tab.page, story.run) == ["Step <0> In progress"]
        assert_whole(tab)

    def test_that_fails_later_leaves_the_one_before(self, story, tab, plans, calls):
        plans("in_progress")
        calls("update_plan", update_plan={"items": "none"})

        assert drawn(tab.page, story.run) == ["Step <0> In progress"]
        assert_whole(tab)

    def test_says_what_was_left_undone_when_the_run_is_over(self, story, tab, plans):
        plans("done", "in_progress", "pending")
        story.say("That is all.")
        story.succeed()
        tab.look()

        assert drawn(tab.page, story.run) == [
            "Step <0> Done",
            "Step <1> Not done",
            "Step <2> Not done",
        ]
        assert_whole(tab)

    def test_is_whole_in_a_tab_that_comes_later(self, story, tab, plans):
        plans("in_progress")
        late = Tab(story)
        late.connect()
        plans("done")
        late.look()

        assert drawn(late.page, story.run) == ["Step <0> Done"]
        assert_whole(late)

    def test_is_not_seen_while_it_is_written(self, story, tab):
        frame = {
            "run": str(story.run.pk),
            "epoch": story.run.epoch,
            "step": 0,
            "message": story.stretch.message_id,
            "position": 0,
            "name": "update_plan",
            "arguments": '{"items"',
        }

        assert tab.projection.knows(frame)
        assert not tab.projection.live(frame)


FOUND = {"items": ["Who is <late>?", "/undo", "And in May?"]}


@pytest.mark.row("S04")
class TestFollowups:
    @pytest.fixture(autouse=True)
    def wanted(self, settings):
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, {"FOLLOWUPS": True})

    @pytest.fixture
    def ended(self, story, tab, calls):
        calls("suggest_followups", text="Seven.", suggest_followups=FOUND)
        story._end(stories.SUCCEEDED)
        tab.look()

    def chips(self, page):
        return [
            one.attrs["data-aia-ask"]
            for one in page.by_id("aia-log").elements()
            if "data-aia-ask" in one.attrs
        ]

    def test_are_drawn_below_the_answer_and_nothing_else(self, tab, ended):
        assert self.chips(tab.page) == ["Who is <late>?", "And in May?"]
        assert "aia-tool" not in kinds(tab)
        assert_whole(tab)

    def test_are_not_drawn_before_the_end(self, story, tab, calls):
        calls("suggest_followups", text="Seven.", suggest_followups=FOUND)

        assert self.chips(tab.page) == []
        assert_whole(tab)

    def test_are_gone_with_the_next_message(self, story, tab, ended):
        story.ask("And?")
        tab.look()

        assert self.chips(tab.page) == []
        assert_whole(tab)

    def test_are_gone_after_an_answer_that_failed(self, story, tab, calls):
        calls("suggest_followups", text="Seven.", suggest_followups=FOUND)
        story._end(stories.FAILED)
        tab.look()

        assert self.chips(tab.page) == []

    def test_are_not_drawn_where_they_are_off(self, story, ended, settings):
        page, _run, _seq = whole_page(story.conversation)
        assert self.chips(page)
        off = {"FOLLOWUPS": False}
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, off)

        page, _run, _seq = whole_page(story.conversation)
        assert self.chips(page) == []
