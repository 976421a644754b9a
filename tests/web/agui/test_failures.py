"""What goes wrong on the way is told truthfully, and the thread stays usable."""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from uuid import uuid4

import pytest

from tests.agui.client import approve, deny
from tests.web.agui.site import call, hold, text

DONE = [text("Done.")]
CODES = {
    "bad-key": "bad_key",
    "no-access": "",
    "no-model": "",
    "rate-limited": "",
    "down": "",
    "overloaded": "",
    "too-long": "",
    "refused": "",
    "bad-request": "",
    "filtered": "",
    "nothing": "",
    "drop": "",
    "not-json": "",
}


def assert_told(reading):
    """The end is an error with a code, in words that show nothing of the inside."""
    assert reading.last["type"] == "RUN_ERROR"
    assert reading.last["code"].replace("_", "").isalnum()
    message = reading.last["message"]
    assert len(message.split()) > 2
    for leak in ("Traceback", "http://", "sk-test", "litellm", "Exception", "{"):
        assert leak not in message


class TestModel:
    @pytest.mark.parametrize("script", CODES)
    def test_model_that_fails_is_an_error_with_words(self, site, script):
        front = site.front()

        reading = front.ask(f"[[script:{script}]]")

        assert_told(reading)
        assert site.run(front)["state"] == "failed"
        assert site.run(front)["error_code"] == reading.last["code"]
        assert front.ask(site.script(DONE)).text() == "Done."

    @pytest.mark.parametrize("script", ["cut", "abort", "error-event", "malformed"])
    def test_model_that_is_cut_off_leaves_what_came(self, site, script):
        front = site.front()

        reading = front.ask(f"[[script:{script}]]")

        assert_told(reading)
        assert reading.text().startswith("Half an ans")
        assert reading.types[-1] == "RUN_ERROR"
        assert front.fresh().ask().order.known.messages.keys() >= {
            one["id"] for one in front.held.messages
        }

    def test_model_that_is_cut_off_in_a_call_does_not_carry_it_out(self, site):
        front = site.front()

        reading = front.ask("[[script:unfinished-call]]")

        assert_told(reading)
        assert front.ask(site.script(DONE)).text() == "Done."

    def test_model_that_runs_out_of_room_is_no_whole_answer(self, site):
        reading = site.front().ask("[[script:length]]")

        assert reading.text() == "This is cut by the lim"
        assert reading.last["type"] == "RUN_ERROR"

    def test_error_is_told_in_the_history_too(self, site):
        front = site.front()
        front.ask("[[script:cut]]")

        roles = [one["role"] for one in front.history()["messages"]]
        assert roles == ["user", "assistant"]

    def test_question_can_be_asked_again(self, site):
        """A last message of the user that is known is another try at it."""
        front = site.front()
        asked = site.script(
            [{"op": "status", "status": 400, "message": "No.", "times": 1}, *DONE]
        )
        front.ask(asked)

        reading = front.ask()

        assert reading.text() == "Done."
        assert [run["state"] for run in site.runs(front)] == ["failed", "succeeded"]

    def test_answered_question_is_not_asked_again(self, site):
        front = site.front()
        front.ask(site.script(DONE))
        before = site.count()
        only_asked = [one for one in front.held.messages if one["role"] == "user"]

        response = front.post(front.input(messages=only_asked))

        assert (response.status_code, response.json()["code"]) == (409, "nothing_new")
        assert site.count() == before


class TestLimits:
    def test_used_up_budget_is_refused(self, site):
        front, asked = site.front("viewer"), site.script(DONE)
        said = front.input(asked)
        before = site.count()

        response = front.post(said)

        assert response.status_code == 429
        assert response.json()["code"].startswith("limit")
        assert site.count() == before
        assert site.asked(asked) == []

    def test_stopped_run_is_cancelled_and_leaves_its_words(self, site):
        front = site.front()
        asked = site.script([text("Half "), {"op": "hang"}])
        with front.open(asked) as reading:
            reading.until_text("Half")
            person = site.person(conversation=site.conversation(front)["id"])
            person.stop(site.run(front)["id"])
            reading.rest()

        assert reading.outcome == {"type": "cancelled"}
        assert reading.text() == "Half "
        site.wait_closed(asked)
        assert front.ask(site.script(DONE)).text() == "Done."

    def test_run_that_is_stopped_while_it_waits_is_cancelled(self, site):
        front = site.front()
        front.ask(site.script([call("needs_approval", text="x")], DONE))
        run = site.run(front)["id"]
        site.person(conversation=site.conversation(front)["id"]).stop(run)
        site.wait_state(front, "cancelled")

        with front.attach(run) as reading:
            reading.rest()

        assert reading.outcome == {"type": "cancelled"}


class TestConflicts:
    def test_name_of_a_run_is_used_once(self, site):
        front = site.front()
        front.ask(site.script(DONE))
        said = front.input(site.script(DONE), runId=front.run)
        before = site.count()

        response = front.post(said)

        assert (response.status_code, response.json()["code"]) == (409, "run_id_used")
        assert site.count() == before

    def test_second_run_while_one_works_is_refused(self, site):
        front, other = site.front(), site.script(DONE)
        with front.open(site.script([text("Half "), {"op": "hang"}])) as reading:
            reading.until_text("Half")
            before = site.count()["runs"]
            second = front.fresh()
            response = second.post(second.input(other))

            assert (response.status_code, response.json()["code"]) == (409, "busy")
            assert site.count()["runs"] == before
            assert site.asked(other) == []

    def test_same_name_on_another_thread_is_another_run(self, site):
        first, second = site.front(), site.front()
        first.ask(site.script(DONE))

        assert second.ask(site.script(DONE), runId=first.run).text() == "Done."

    def test_two_at_the_same_moment_start_one(self, site):
        fronts = [site.front() for _ in range(2)]
        fronts[1].thread = fronts[0].thread
        said = [one.input(site.script([text("One.")])) for one in fronts]

        answers = at_once(
            lambda: fronts[0].post(said[0]), lambda: fronts[1].post(said[1])
        )

        statuses = sorted(one.status_code for one in answers)
        # The loser may find the other one ended already: then it is the next question.
        runs = site.runs(fronts[0])
        assert statuses in ([200, 409], [200, 200])
        assert len(runs) == statuses.count(200)

    def test_two_while_the_model_is_slow_start_one(self, site):
        fronts, gate = [site.front() for _ in range(2)], uuid4().hex
        fronts[1].thread = fronts[0].thread
        asked = site.script([hold(gate), text("One.")])
        said = [one.input(asked) for one in fronts]

        with ThreadPoolExecutor(2) as pool:
            sent = [
                pool.submit(one.post, input_)
                for one, input_ in zip(fronts, said, strict=True)
            ]
            # Who is refused need not wait for the model.
            wait(sent, 30, FIRST_COMPLETED)
            for _ in fronts:
                site.model.release(gate)
        answers = [one.result() for one in sent]

        assert sorted(one.status_code for one in answers) == [200, 409]
        assert len(site.runs(fronts[0])) == len(site.asked(asked)) == 1

    def test_same_input_twice_at_the_same_moment_starts_one(self, site):
        front = site.front()
        said = front.input(site.script([text("One.")]))

        answers = at_once(lambda: front.post(said), lambda: front.post(said))

        assert sorted(one.status_code for one in answers) == [200, 409]
        assert len(site.runs(front)) == 1

    def test_two_answers_at_the_same_moment_count_once(self, site):
        front = site.front()
        asked = site.script([call("needs_approval", text="sign-here")], DONE)
        (asks,) = front.ask(asked).interrupts
        said = [front.input(resume=[give(asks)]) for give in (approve, deny)]

        answers = at_once(lambda: front.post(said[0]), lambda: front.post(said[1]))

        statuses = sorted(one.status_code for one in answers)
        assert statuses[0] == 200
        assert statuses[1] in (400, 409)
        assert len(site.asked(asked)) == 2


def at_once(*work):
    with ThreadPoolExecutor(len(work)) as pool:
        return [one.result() for one in [pool.submit(do) for do in work]]
