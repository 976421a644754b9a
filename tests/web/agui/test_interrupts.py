"""What waits for a person ends a stream; the answer opens the next."""

import pytest

from tests.agui.client import Unanswered, approve, cancel, deny, resolve
from tests.web.agui.site import call, calls, text

DONE = [text("Done.")]


def asking(site, word="sign-here"):
    return site.script([call("needs_approval", text=word)], DONE)


def question(kind="text", **more):
    arguments = {"question": "Which one?", "kind": kind, **more}
    return {"op": "tool_call", "name": "ask_user", "arguments": arguments}


class TestApprovals:
    def test_approved_call_is_carried_out(self, site):
        front, asked = site.front(), asking(site)

        (wait,) = front.ask(asked).interrupts
        (made,) = front.held.calls()
        reading = front.answer(approve(wait))

        assert (wait["toolCallId"], wait["reason"]) == (made["id"], "tool_call")
        assert wait["message"]
        assert wait["responseSchema"]["required"] == ["approved"]
        assert wait["metadata"]["aia"]["tool"] == "needs_approval"
        assert front.held.results() == {made["id"]: "Approved: sign-here"}
        assert reading.of("TOOL_CALL_START") == []
        assert reading.text() == "Done."

    @pytest.mark.parametrize(
        "decide", [deny, lambda one: deny(one, reason="Not today."), cancel]
    )
    def test_refused_call_is_answered_and_not_carried_out(self, site, decide):
        front, asked = site.front(), asking(site)
        (wait,) = front.ask(asked).interrupts

        reading = front.answer(decide(wait))

        (told,) = front.held.results().values()
        assert "sign-here" not in told
        assert reading.outcome == {"type": "success"}
        assert len(site.asked(asked)) == 2
        assert front.ask(site.script([text("Next.")])).text() == "Next."

    def test_reason_reaches_the_model(self, site):
        front, asked = site.front(), asking(site)
        (wait,) = front.ask(asked).interrupts

        front.answer(deny(wait, reason="Not on a Sunday."))

        assert "Not on a Sunday." in site.asked_last(asked)

    def test_several_at_once_are_answered_together(self, site):
        front = site.front()
        words = ("first", "second", "third")
        asked = site.script(
            [calls(*(call("needs_approval", text=word) for word in words))], DONE
        )

        waits = front.ask(asked).interrupts
        front.answer(approve(waits[0]), deny(waits[1]), approve(waits[2]))

        assert len({wait["id"] for wait in waits}) == 3
        made = {one["id"]: one["function"]["arguments"] for one in front.held.calls()}
        done = {made[call]: told for call, told in front.held.results().items()}
        carried_out = [w for w in words if f"Approved: {w}" in done.values()]
        assert carried_out == ["first", "third"]

    def test_some_of_several_are_not_enough(self, site):
        front = site.front()
        two = [call("needs_approval", text=word) for word in ("first", "second")]
        waits = front.ask(site.script([calls(*two)], DONE)).interrupts
        before = site.count()

        response = front.post(front.input(resume=[approve(waits[0])]))

        assert (response.status_code, response.json()["code"]) == (
            409,
            "interrupts_open",
        )
        assert site.count() == before
        assert front.answer(*map(approve, waits)).text() == "Done."

    def test_next_question_without_an_answer_is_refused(self, site):
        front, other = site.front(), site.script(DONE)
        (wait,) = front.ask(asking(site)).interrupts
        before = site.count()

        response = front.post(front.fresh().input(other))

        assert (response.status_code, response.json()["code"]) == (
            409,
            "interrupts_open",
        )
        assert site.count() == before
        assert site.asked(other) == []
        assert front.answer(approve(wait)).text() == "Done."

    def test_beside_a_tool_of_the_client(self, site):
        pick = {"name": "pick_color", "description": "Pick."}
        front = site.front(tools=[pick])
        both = [call("needs_approval", text="x"), call("pick_color")]

        (wait,) = front.ask(site.script([calls(*both)], DONE)).interrupts
        reading = front.answer(approve(wait))
        its = front.held.calls()[1]["id"]
        front.add_result(its, "teal")

        assert reading.outcome["pendingToolCallIds"] == [its]
        assert front.ask().text() == "Done."

    def test_twice_in_one_run(self, site):
        front = site.front()
        steps = [[call("needs_approval", text=word)] for word in ("one", "two")]
        (first,) = front.ask(site.script(*steps, DONE)).interrupts
        (second,) = front.answer(approve(first)).interrupts

        reading = front.answer(approve(second))

        assert first["id"] != second["id"]
        assert reading.text() == "Done."
        assert [*front.held.results().values()] == ["Approved: one", "Approved: two"]


class TestQuestions:
    @pytest.mark.parametrize(
        ("asked", "answer", "told"),
        [
            (question(), "a green one", "a green one"),
            (question("confirm"), True, "true"),
            (question("confirm"), False, "false"),
            (question("select", options=["red", "blue"]), "blue", "blue"),
            (question("select", options=["red", "blue"]), "neither", "neither"),
            (question("select", options=["red", "blue"], strict=True), "red", "red"),
            (question("multi_select", options=["a", "b", "c"]), ["a", "c"], "a"),
        ],
    )
    def test_each_kind_is_answered(self, site, asked, answer, told):
        front = site.front()
        script = site.script([asked], DONE)

        (wait,) = front.ask(script).interrupts
        reading = front.answer(resolve(wait, answer=answer))

        assert (wait["reason"], wait["message"]) == ("input_required", "Which one?")
        assert wait["responseSchema"]["required"] == ["answer"]
        (result,) = front.held.results().values()
        assert told in result
        assert reading.text() == "Done."

    def test_questions_may_be_left_without_an_answer(self, site):
        front = site.front()
        (wait,) = front.ask(site.script([question()], DONE)).interrupts

        reading = front.answer(cancel(wait))

        assert reading.text() == "Done."
        assert front.held.results()

    def test_options_are_told(self, site):
        front = site.front()
        options = [{"label": "Red", "id": "r", "description": "like fire"}, "Blue"]
        asked = question("select", options=options, strict=True)

        (wait,) = front.ask(site.script([asked], DONE)).interrupts

        told = wait["metadata"]["aia"]["options"]
        assert [one["label"] for one in told] == ["Red", "Blue"]
        schema = wait["responseSchema"]["properties"]["answer"]
        assert schema["enum"] == [one["id"] for one in told]


class TestPayloads:
    @pytest.mark.parametrize(
        "payload",
        [
            {},
            None,
            True,
            "approved",
            {"approved": "true"},
            {"approved": 1},
            {"approved": None},
            {"approved": True, "editedArgs": {"text": "other"}},
            {"approved": True, "reason": 3},
            {"answer": "yes"},
        ],
    )
    def test_payloads_of_another_form_changes_nothing(self, site, payload):
        front = site.front()
        (wait,) = front.ask(asking(site)).interrupts
        entry = {"interruptId": wait["id"], "status": "resolved", "payload": payload}
        before = site.count()

        response = front.post(front.input(resume=[entry]))

        assert (response.status_code, response.json()["code"]) == (400, "bad_payload")
        assert response.json()["detail"]
        assert site.count() == before
        assert site.run(front)["state"] == "waiting_approval"

    @pytest.mark.parametrize(
        ("asked", "answer"),
        [
            (question(), 3),
            (question(), ["x"]),
            (question("confirm"), "yes"),
            (question("select", options=["a", "b"], strict=True), "c"),
            (question("multi_select", options=["a", "b"], strict=True), ["a", "c"]),
            (question("multi_select", options=["a", "b"]), []),
            (question("multi_select", options=["a", "b"]), "a"),
        ],
    )
    def test_answer_of_another_form_changes_nothing(self, site, asked, answer):
        front = site.front()
        (wait,) = front.ask(site.script([asked], DONE)).interrupts
        before = site.count()

        response = front.post(front.input(resume=[resolve(wait, answer=answer)]))

        assert response.status_code == 400
        assert site.count() == before
        assert site.run(front)["state"] == "waiting_answer"

    def test_one_bad_answer_of_two_changes_nothing(self, site):
        front = site.front()
        two = [call("needs_approval", text=word) for word in ("a", "b")]
        good, bad = front.ask(site.script([calls(*two)], DONE)).interrupts
        before = site.count()

        entries = [approve(good), resolve(bad, approved="yes")]
        response = front.post(front.input(resume=entries))

        assert response.json()["code"] == "bad_payload"
        assert site.count() == before
        assert front.held.results() == {}


class TestAgain:
    def test_resume_sent_twice_is_carried_out_once(self, site):
        front = site.front()
        asked = site.script([call("write_effect", key="x")], DONE)
        front.ask(asked)
        front, asked = site.front(), asking(site)
        (wait,) = front.ask(asked).interrupts
        front.answer(approve(wait))
        before = site.count()

        response = front.post(front.input(resume=[approve(wait)]))

        assert response.status_code in (400, 409)
        assert site.count() == before
        assert len(site.asked(asked)) == 2

    def test_old_resume_beside_a_new_question_does_no_harm(self, site):
        front = site.front()
        (wait,) = front.ask(asking(site)).interrupts
        front.answer(approve(wait))

        reading = front.ask(site.script([text("Next.")]), resume=[approve(wait)])

        assert reading.text() == "Next."
        assert reading.of("TOOL_CALL_RESULT") == []

    def test_answered_in_the_panel_meanwhile(self, site):
        front, asked = site.front(), asking(site)
        (wait,) = front.ask(asked).interrupts
        person = site.person(conversation=site.conversation(front)["id"])
        (card,) = person.cards()
        person.answer(card, decision="deny")
        site.wait_state(front, "succeeded")
        before = site.count()

        response = front.post(front.input(resume=[approve(wait)]))

        assert response.status_code in (400, 409)
        assert site.count() == before
        assert "Approved" not in site.asked_last(asked)

    def test_what_the_panel_has_answered_is_told_on_asking(self, site):
        front, asked = site.front(), asking(site)
        front.ask(asked)
        person = site.person(conversation=site.conversation(front)["id"])
        (card,) = person.cards()
        person.answer(card, decision="approve")
        site.wait_state(front, "succeeded")
        fresh = front.fresh()

        fresh.ask()

        assert fresh.held.texts() == ["Done."]
        assert [*fresh.held.results().values()] == ["Approved: sign-here"]

    def test_answer_after_a_stop_is_refused(self, site):
        front = site.front()
        (wait,) = front.ask(asking(site)).interrupts
        person = site.person(conversation=site.conversation(front)["id"])
        person.stop(site.run(front)["id"])
        site.wait_state(front, "cancelled")

        with pytest.raises(Unanswered) as refused:
            front.answer(approve(wait))

        assert refused.value.response.status_code in (400, 409)


class TestMessage:
    """A message that was typed meanwhile comes along with the answer."""

    def test_message_is_read_behind_the_result(self, site):
        front, second = site.front(), site.script([text("Quick.")])
        (wait,) = front.ask(asking(site)).interrupts

        front.add_message(second)
        reading = front.answer(approve(wait))

        assert reading.text() == "Quick."
        roles = [one["role"] for one in site.asked(second)[-1]["messages"]]
        assert roles[-4:] == ["user", "assistant", "tool", "user"]
        told = [one["role"] for one in front.history()["messages"]]
        assert told == ["user", "assistant", "tool", "user", "assistant"]
