"""Tools of the site, called by the model of a client's run."""

import json
from uuid import uuid4

import pytest

from tests.web.agui.site import call, calls, hold, text

DONE = [text("Done.")]


class TestServerTools:
    def test_one_call_is_answered_and_the_model_goes_on(self, site):
        front = site.front()
        asked = site.script(
            [{**call("echo", text="ping é\U0001f600"), "pieces": 5}], DONE
        )

        reading = front.ask(asked)

        (made,) = front.held.calls()
        assert made["function"]["name"] == "echo"
        assert "ping" in made["function"]["arguments"]
        assert "ping" in front.held.results()[made["id"]]
        assert front.held.texts() == ["Done."]
        assert len(site.asked(asked)) == 2
        assert reading.outcome == {"type": "success"}

    def test_text_and_calls_of_one_reply_are_one_message(self, site):
        front = site.front()

        front.ask(site.script([text("Let me look. "), call("echo", text="x")], DONE))

        first, result, last = front.held.messages[1:]
        assert first["content"] == "Let me look. "
        assert len(first["toolCalls"]) == 1
        assert (result["role"], last["content"]) == ("tool", "Done.")

    @pytest.mark.parametrize("interleave", [False, True])
    def test_two_at_once_are_kept_apart(self, site, interleave):
        front = site.front()
        two = [call("echo", text=word) for word in ("first", "second")]
        same_id = [{**one, "id": "call_0"} for one in two]

        front.ask(site.script([calls(*same_id, pieces=4, interleave=interleave)], DONE))

        first, second = front.held.calls()
        assert first["id"] != second["id"]
        assert "first" in front.held.results()[first["id"]]
        assert "second" in front.held.results()[second["id"]]

    def test_ids_stay_fresh_though_the_provider_repeats_them(self, site):
        front = site.front()
        for _ in range(2):
            front.ask(site.script([{**call("echo", text="x"), "id": "call_0"}], DONE))

        assert len({one["id"] for one in front.held.calls()}) == 2

    def test_two_rounds_with_text_between(self, site):
        front = site.front()

        front.ask(
            site.script(
                [text("One. "), call("echo", text="a")],
                [text("Two. "), call("echo", text="b")],
                [text("All done.")],
            )
        )

        roles = [one["role"] for one in front.held.messages]
        assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
        assert front.held.messages[-1]["content"] == "All done."

    @pytest.mark.parametrize(
        ("made", "kept"),
        [
            (
                {"op": "tool_call", "name": "echo", "arguments": '{"text": "unfin'},
                "unfin",
            ),
            (call("no_such_tool", a=1), "{"),
            (call("fail"), "{"),
            ({"op": "tool_call", "name": "echo", "arguments": "[1, 2]"}, "[1, 2]"),
        ],
    )
    def test_server_tools_that_fail_are_answered_and_the_model_goes_on(
        self, site, made, kept
    ):
        front = site.front()
        asked = site.script([made], [text("Recovered.")])

        with front.open(asked) as reading:
            reading.rest()

        (told,) = front.held.calls()
        assert kept in told["function"]["arguments"]
        assert front.held.results()[told["id"]]
        assert "Traceback" not in str(reading.events)
        assert front.held.texts() == ["Recovered."]
        assert len(site.asked(asked)) == 2

    def test_limit_of_steps_is_no_success(self, site):
        front = site.front()

        reading = front.ask(
            site.script(*[[call("echo", text=f"{n}")] for n in range(9)])
        )

        assert reading.last["type"] == "RUN_ERROR"
        assert reading.last["code"].startswith("limit")
        assert site.run(front)["state"] == "limited"


class TestLongTools:
    def test_tell_of_their_progress_and_keep_the_stream_alive(self, site):
        name = f"held-{uuid4().hex}"
        front = site.front()
        asked = site.script([call("held_task", name=name, pieces=2)], DONE)

        with front.open(asked) as reading:
            reading.until(lambda e: "1 of 2" in str(e.get("content")))
            reading.until_comment()
            site.server.let(f"{name}-1")
            reading.until(lambda e: "2 of 2" in str(e.get("content")))
            site.server.let(f"{name}-2")
            reading.rest()

        told = reading.of("ACTIVITY_SNAPSHOT")
        (made,) = front.held.calls()
        assert {one["content"]["toolCallId"] for one in told} == {made["id"]}
        assert len({one["messageId"] for one in told}) == 1
        assert front.held.texts() == ["Done."]

    def test_quiet_model_keeps_the_stream_alive(self, site):
        gate = uuid4().hex
        with site.front().open(site.script([hold(gate), text("At last.")])) as reading:
            reading.until_comment()
            site.model.release(gate)
            reading.rest()

        assert reading.text() == "At last."


@pytest.mark.row("S04")
class TestFollowups:
    def test_are_a_call_with_its_result_before_the_end(self, site):
        front = site.front()
        suggested = call("suggest_followups", items=["And in May?", "/clear"])
        asked = site.script([text("Seven."), suggested], DONE)

        reading = front.ask(asked)

        assert reading.types[-4:] == [
            *("TOOL_CALL_END", "TOOL_CALL_RESULT"),
            *("STEP_FINISHED", "RUN_FINISHED"),
        ]
        (made,) = front.held.calls()
        assert json.loads(front.held.results()[made["id"]]) == {
            "shown": ["And in May?"]
        }
        assert (reading.outcome, len(site.asked(asked))) == ({"type": "success"}, 1)

    def test_leave_a_thread_that_goes_on(self, site):
        front = site.front()
        suggested = call("suggest_followups", items=["And in May?"])
        front.ask(site.script([text("Seven."), suggested]))

        reading = front.ask(site.script([text("Eight.")]))

        assert reading.outcome == {"type": "success"}
        assert front.held.texts()[-1] == "Eight."
