import pytest

DELETE = "“Delete a section with its questions”"
ONE = {"id": 12, "title": "Exit interview", "status": "draft", "revision": 1}


def found(*rows):
    return {"total": len(rows), "questionnaires": rows}


class TestFailures:
    @pytest.mark.parametrize(
        ("error_type", "text"),
        [
            ("denied", f"You denied {DELETE}, so it was not carried out."),
            (
                "expired",
                f"Nobody approved {DELETE} in time, so it was not carried out.",
            ),
            (
                "cancelled",
                f"{DELETE} was cancelled. The answer was:\n\n> Because.",
            ),
            (
                "permission",
                f"{DELETE} did not succeed. The answer was:\n\n> Because.",
            ),
        ],
    )
    async def test_failures_tells_the_truth(self, talk, error_type, text):
        await talk.say("delete section 7")

        said = await talk.fails(error_type, "Because.")

        assert said.text == text
        assert said.name == ""

    async def test_unknown_outcome_is_no_success_and_no_failure(self, talk):
        await talk.say("delete section 7")

        said = await talk.fails("unknown", "It was cut off.")

        assert said.text.startswith(f"It is not known whether {DELETE} took")

    async def test_failures_tells_the_person_to_call_nothing(self, talk):
        await talk.say("rename section 99 to Welcome")

        said = await talk.fails(
            "retry",
            "Section 99 does not exist. Call read_questionnaire to see the ids.",
        )

        assert said.text.endswith("> Section 99 does not exist.")

    async def test_failures_does_not_go_on_after_a_failed_look_up(self, talk):
        await talk.say("publish Exit interview")

        said = await talk.fails("exception")

        assert said.name == ""
        assert "“List questionnaires” did not succeed" in said.text


class TestInterjection:
    """The user writes a message while a call waits for approval or an answer."""

    async def test_answer_to_a_question_is_no_new_wish(self, talk):
        await talk.say("archive exit")
        talk.stores({**ONE, "status": "archived", "revision": 2})

        said = await talk.say("Exit interview (id 12)")

        assert said.text == "Done: **Exit interview** is now archived, revision 2."

    async def test_work_goes_on_after_it(self, talk):
        await talk.say("publish Exit interview")
        talk.stores(found(ONE))
        said = await talk.say("hurry")
        assert said.call == ("publish_questionnaire", {"questionnaire_id": 12})

        said = await talk.result({**ONE, "status": "published", "revision": 2})

        assert said.text == "Done: **Exit interview** is now published, revision 2."

    async def test_denial_with_a_new_wish(self, talk):
        await talk.say("delete section 7")
        talk.stores({"ok": False, "error": "No.", "error_type": "denied"})

        said = await talk.say("delete section 8")

        assert said.call == ("delete_section", {"section_id": 8})

    async def test_denial_in_other_words(self, talk):
        await talk.say("delete section 7")
        talk.stores({"ok": False, "error": "No.", "error_type": "denied"})

        said = await talk.say("better not")

        assert said.text == f"You denied {DELETE}, so it was not carried out."

    @pytest.mark.parametrize("before", ["no wait, ", "", "Stop, "])
    async def test_question_instead_of_an_answer_is_answered(self, talk, before):
        await talk.say("delete section 7")
        talk.stores({"ok": False, "error": "No.", "error_type": "denied"})

        said = await talk.say(f"{before}how many active schedules")

        assert said.name == "aggregate_objects"

    async def test_question_that_is_not_understood_is_not_passed_over(self, talk):
        await talk.say("delete section 7")
        talk.stores({"ok": False, "error": "No.", "error_type": "denied"})

        said = await talk.say("why is the sky blue?")

        assert said.text.startswith("You denied ")
        assert "None of my rules fits `why is the sky blue?`" in said.text


class TestCutResult:
    """A result that was too long for the model, and so is no JSON any more."""

    @pytest.mark.parametrize(
        "wish", ["publish Exit", "list questionnaires", "how many questionnaires"]
    )
    async def test_cut_result_is_shown_as_it_is(self, talk, wish):
        await talk.say(wish)

        said = await talk.result('{"total": 24, "quest\n[cut: 20 of 900 characters.]')

        assert said.name == ""
        assert "“List questionnaires” answered:" in said.text
        assert "[cut: 20 of 900 characters.]" in said.text
