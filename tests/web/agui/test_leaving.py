"""A client that leaves stops its run, unless somebody else looks on."""

from uuid import uuid4

from tests.web.agui.site import call, hold, text

DONE = [text("Done.")]


class TestLeaving:
    def test_leaving_stops_the_model_and_keeps_what_came(self, site):
        front = site.front()
        asked = site.script([text("Half an answer "), {"op": "hang"}])

        with front.open(asked) as reading:
            reading.until_text("answer")

        site.wait_closed(asked)
        run = site.wait_state(front, "cancelled")
        assert site.oracle.text(run["id"]) == "Half an answer "
        assert not site.oracle.problems([run["id"]])

    def test_next_question_is_answered(self, site):
        front = site.front()
        with front.open(site.script([text("Half "), {"op": "hang"}])) as reading:
            reading.until_text("Half")
        asked = site.script(DONE)

        reading = front.ask(asked)  # at once: the run is still being stopped

        assert reading.text() == "Done."
        assert "Half " in site.asked_last(asked)

    def test_leaving_before_the_model_has_said_anything(self, site):
        front, asked = site.front(), site.script([{"op": "hang"}])
        with front.open(asked) as reading:
            site.oracle.wait(lambda: site.asked(asked), 10, "the model is asked")

        assert reading.text() == ""
        site.wait_closed(asked)
        site.wait_state(front, "cancelled")

    def test_during_a_long_tool_answers_its_call(self, site):
        front, name = site.front(), f"held-{uuid4().hex}"
        with front.open(
            site.script([call("held_task", name=name, pieces=1)], DONE)
        ) as r:
            r.until("ACTIVITY_SNAPSHOT")
        site.wait_state(front, "cancelled")
        site.server.let(f"{name}-1")

        fresh = front.fresh()
        fresh.ask()

        assert len(fresh.held.results()) == 1
        assert fresh.ask(site.script([text("Next.")])).text() == "Next."

    def test_leaving_does_not_stop_what_is_to_be_kept(self, site):
        front, gate = site.front(), uuid4().hex
        asked = site.script([text("Half "), hold(gate), text("and whole.")])

        with front.open(asked, forwardedProps={"aia": {"keep": True}}) as reading:
            reading.until_text("Half")
        site.model.release(gate)

        run = site.wait_state(front, "succeeded", "cancelled")
        assert run["state"] == "succeeded"
        assert site.oracle.text(run["id"]) == "Half and whole."

    def test_leaving_does_not_stop_what_a_panel_shows(self, site):
        front, gate = site.front(), uuid4().hex
        asked = site.script([text("Half "), hold(gate), text("and whole.")])

        with front.open(asked) as reading:
            reading.until_text("Half")
            person = site.person(conversation=site.conversation(front)["id"])
            with person.listen() as tab:
                tab.wait_for("Half")
                reading.response.close()
                site.model.release(gate)
                tab.wait_for("whole")

        assert site.wait_state(front, "succeeded")

    def test_leaving_does_not_stop_what_another_stream_shows(self, site):
        front, gate = site.front(), uuid4().hex
        asked = site.script([text("Half "), hold(gate), text("and whole.")])
        other = site.front(thread=front.thread)

        with front.open(asked) as reading:
            reading.until_text("Half")
            with other.attach(front.run) as second:
                second.until_text("Half")
                reading.response.close()
                site.model.release(gate)
                second.rest()

        assert second.text() == "Half and whole."
        assert second.outcome == {"type": "success"}

    def test_looker_on_does_not_stop_it(self, site):
        front, gate = site.front(), uuid4().hex
        asked = site.script([text("Half "), hold(gate), text("and whole.")])
        other = site.front(thread=front.thread)

        with front.open(asked) as reading:
            reading.until_text("Half")
            with other.attach(front.run) as second:
                second.until_text("Half")
            site.model.release(gate)
            reading.rest()

        assert reading.text() == "Half and whole."

    def test_leaving_after_an_interrupt_leaves_the_question_open(self, site):
        front = site.front()
        reading = front.ask(site.script([call("needs_approval", text="x")], DONE))
        reading.close()

        assert site.run(front)["state"] == "waiting_approval"
