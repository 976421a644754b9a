"""One conversation, seen by the panel and by a client."""

from uuid import uuid4

from tests.agui.client import approve
from tests.web.agui.site import call, hold, text

DONE = [text("Done.")]


class TestBothWays:
    def test_run_of_a_client_is_shown_in_the_panel(self, site):
        front, gate = site.front(), uuid4().hex
        front.ask(site.script([text("Before.")]))
        person = site.person(conversation=site.conversation(front)["id"])

        asked = site.script([text("From the client "), hold(gate), text("and whole.")])
        with person.listen() as tab, front.open(asked) as reading:
            tab.wait_for("From the client")
            site.model.release(gate)
            reading.rest()
            tab.wait_for("and whole.")

        assert "and whole." in person.page()

    def test_run_of_the_panel_is_told_to_a_client(self, site):
        person = site.person()
        run = person.ask(site.script([text("From the panel.")]))
        site.oracle.wait_final(run)
        front = site.front(thread=person.conversation)

        front.ask()

        assert front.held.texts() == ["From the panel."]
        assert front.ask(site.script([text("Next.")])).text() == "Next."

    def test_run_of_the_panel_under_way_is_followed(self, site):
        person, gate = site.person(), uuid4().hex
        asked = site.script([text("Half "), hold(gate), text("and whole.")])
        run = person.ask(asked)
        front = site.front(thread=person.conversation)

        with front.attach(run) as reading:
            reading.until_text("Half")
            site.model.release(gate)
            reading.rest()

        assert reading.text() == "Half and whole."

    def test_approval_asked_in_the_panel_is_given_by_a_client(self, site):
        person = site.person()
        person.ask(site.script([call("needs_approval", text="sign-here")], DONE))
        front = site.front(thread=person.conversation)
        (wait,) = front.ask().interrupts

        reading = front.answer(approve(wait))

        assert reading.text() == "Done."
        assert person.cards() == []

    def test_answer_in_the_panel_can_be_followed(self, site):
        front = site.front()
        front.ask(site.script([call("needs_approval", text="sign-here")], DONE))
        person = site.person(conversation=site.conversation(front)["id"])
        (card,) = person.cards()
        person.answer(card, decision="approve")
        run = site.wait_state(front, "succeeded")

        with front.attach(run["id"]) as reading:
            reading.rest()

        assert reading.text() == "Done."
        assert "Approved: sign-here" in reading.held.results().values()

    def test_looking_only_changes_nothing(self, site):
        front = site.front()
        asked = site.script([call("needs_approval", text="x")], DONE)

        reading = front.ask(asked, forwardedProps={"aia": {"lookOnly": True}})

        assert reading.outcome == {"type": "success"}
        assert "Approved" not in str(front.held.results())

    def test_page_of_the_client_is_the_runs(self, site):
        front = site.front()
        page = {"path": "/admin/wiki/page/", "title": "Pages"}

        front.ask(site.script(DONE), forwardedProps={"aia": page})

        run = site.run(front)
        assert (run["page_path"], run["page_title"]) == (page["path"], page["title"])

    def test_nothing_but_a_path_is_a_page(self, site):
        front = site.front()
        page = {"path": "https://example.com/x", "title": ["Pages"]}

        front.ask(site.script(DONE), forwardedProps={"aia": page})

        assert site.run(front)["page_path"] == ""
