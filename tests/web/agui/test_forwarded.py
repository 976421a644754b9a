"""What a person can do in the panel, a client does by `forwardedProps.aia`."""

from uuid import uuid4

import pytest

from tests.web.agui.site import call, hold, text

pytestmark = pytest.mark.row("L06")


def props(**own):
    return {"aia": own}


def custom(reading):
    return {
        event["name"]: event["value"]
        for event in reading.events
        if event["type"] == "CUSTOM"
    }


class TestWhileOneIsWorking:
    def test_next_step_reads_what_it_is_told(self, site):
        front, gate = site.front(), uuid4().hex
        other = site.front(thread=front.thread)
        marker = site.script([hold(gate), call("list_models")])
        later = site.script([text("Without the old ones.")])
        with front.open(marker, forwardedProps=props(keep=True)) as stream:
            site.wait_state(front, "running")
            told = other.ask(later, forwardedProps=props(steer=True))
            site.model.release(gate)
            stream.rest()

        assert stream.text() == "Without the old ones."
        (run,) = site.runs(front)
        assert custom(told)["aia.told"]["run"].replace("-", "") == str(
            run["id"]
        ).replace("-", "")

    def test_message_waits_for_the_end(self, site):
        front, gate = site.front(), uuid4().hex
        other = site.front(thread=front.thread)
        marker = site.script([text("First."), hold(gate)])
        with front.open(marker, forwardedProps=props(keep=True)) as stream:
            stream.until_text("First.")
            later = site.script([text("Second.")])
            queued = other.ask(later, forwardedProps=props(queue=True))
            assert len(site.runs(front)) == 1
            site.model.release(gate)
            stream.rest()
        site.oracle.wait(lambda: len(site.runs(front)) == 2, 20, "the second run")
        site.wait_state(front, "succeeded")

        assert custom(queued)["aia.queued"]["message"]
        assert [run["channel"] for run in site.runs(front)] == ["agui", "agui"]
        fresh = front.fresh()
        fresh.ask()
        assert fresh.held.texts() == ["First.", "Second."]

    def test_neither_is_asked_for(self, site):
        front, gate = site.front(), uuid4().hex
        other = site.front(thread=front.thread)
        marker = site.script([text("First."), hold(gate)])
        with front.open(marker, forwardedProps=props(keep=True)) as stream:
            stream.until_text("First.")
            refused = other.post(other.input("More.", forwardedProps=props(steer=1)))
            site.model.release(gate)
            stream.rest()

        assert (refused.status_code, refused.json()["code"]) == (409, "busy")


class TestEdit:
    def test_another_question_in_the_place_of_one(self, site):
        front = site.front()
        front.ask(site.script([text("First.")]))
        question = front.held.messages[0]["id"]
        editing = front.fresh()

        edited = editing.ask(
            site.script([text("Instead.")]), forwardedProps=props(edit=question)
        )

        assert edited.text() == "Instead."
        fresh = front.fresh()
        fresh.ask()
        assert fresh.held.texts() == ["Instead."]
        first, second = site.runs(front)
        assert first["after_id"] == second["after_id"]

    @pytest.mark.parametrize(
        "name", ["nothing", "7d0d2a5e-3c1b-4c53-9a55-0a1f6d3b1b11"]
    )
    def test_question_that_is_none(self, site, name):
        front = site.front()
        front.ask(site.script([text("First.")]))

        refused = front.post(front.input("Else", forwardedProps=props(edit=name)))

        assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
        assert len(site.runs(front)) == 1

    def test_question_of_another_user(self, site):
        front = site.front()
        front.ask(site.script([text("First.")]))
        other = site.front("editor")
        other.ask(site.script([text("Mine.")]))
        question = front.held.messages[0]["id"]

        refused = other.post(other.input("Else", forwardedProps=props(edit=question)))

        assert refused.status_code == 404


class TestAgent:
    @pytest.mark.row("H02")
    def test_the_named_one_answers_and_stays(self, site):
        front = site.front()
        first, second = site.script([text("One.")]), site.script([text("Two.")])
        front.ask(first, forwardedProps=props(agent="analyst"))
        front.ask(second)

        assert [run["agent"] for run in site.runs(front)] == ["analyst", "analyst"]
        assert "You are asked for numbers." in site.asked_last(first)

    def test_one_that_does_not_exist_is_refused(self, site):
        front = site.front()

        refused = front.post(front.input("Hello", forwardedProps=props(agent="gone")))

        assert (refused.status_code, refused.json()["code"]) == (400, "no_agent")
