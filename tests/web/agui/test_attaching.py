"""A lost stream is taken up again, exactly where its client stands."""

from copy import deepcopy
from uuid import uuid4

from tests.agui.client import approve
from tests.thorough import part
from tests.web.agui.site import call, calls, hold, text, think

DONE = [text("Done.")]


def rich(site, *, gate=""):
    """Return a script with some of everything that a stream can tell."""
    return site.script(
        [
            think("First a thought. "),
            text("Let me look. "),
            calls(call("echo", text="one"), call("echo", text="two")),
        ],
        [text("Between. "), think("Another thought."), call("measure", place="Ulm")],
        [call("fail")],
        [*([hold(gate)] if gate else []), text("All of it is done.")],
    )


def plain(frames):
    return [frame.event for frame in frames]


def assert_same_at_every_place(front, **holds):
    """Lost behind any of its events, a stream goes on with exactly the rest."""
    with front.attach(**deepcopy(holds)) as whole:
        whole.rest()
    for at in range(1, len(whole.frames)):
        with front.attach(told=whole.frames[:at], **deepcopy(holds)) as again:
            again.rest()
        assert plain(again.frames) == plain(whole.frames), f"lost behind {at}"
    return whole


class TestTakingUp:
    def test_taking_up_from_the_beginning_tells_all_again(self, site):
        front = site.front()
        first = front.ask(rich(site))

        with front.attach() as again:
            again.rest()

        assert again.held.texts() == front.held.texts()
        assert again.held.results() == front.held.results()
        assert again.text() == first.text()
        assert again.last == first.last

    def test_taking_up_at_every_place_of_a_stored_run(self, site):
        front = site.front()
        front.ask(rich(site))

        whole = assert_same_at_every_place(front)

        assert len(whole.frames) > 30

    def test_taking_up_at_every_place_of_the_stream_that_was_read_live(self, site):
        """Text came in other pieces then: what is held in the end is the same."""
        front, gate = site.front(), uuid4().hex
        with front.open(rich(site, gate=gate)) as live:
            live.until(lambda _event: len(live.of("TOOL_CALL_RESULT")) == 4)
            site.model.release(gate)
            live.rest()

        for at in part(range(1, len(live.frames)), every=3):
            with front.attach(told=live.frames[:at]) as again:
                again.rest()
            assert again.held.messages == front.held.messages[1:], f"lost behind {at}"
            assert again.last == live.last

    def test_taking_up_at_every_place_of_a_run_that_waits(self, site):
        front = site.front()
        both = calls(call("echo", text="a"), call("needs_approval", text="b"))
        (wait,) = front.ask(site.script([text("Look. "), both], DONE)).interrupts

        whole = assert_same_at_every_place(front)
        assert whole.interrupts == [wait]
        holds = {"known": deepcopy(front.known), "held": deepcopy(front.held)}
        front.answer(approve(wait))

        after = assert_same_at_every_place(front, **holds)
        assert after.held.results() == front.held.results()

    def test_taking_up_at_every_place_of_a_run_that_failed(self, site):
        front = site.front()
        front.ask("[[script:cut]]")

        assert assert_same_at_every_place(front).last["code"]

    def test_taking_up_of_a_run_under_way_goes_on_live(self, site):
        front, gate = site.front(), uuid4().hex
        keep = {"aia": {"keep": True}}
        asked = site.script([text("Half "), hold(gate), text("and whole.")])
        with front.open(asked, forwardedProps=keep) as lost:
            lost.until_text("Half")

        with front.attach(told=lost.frames) as again:
            site.model.release(gate)
            again.rest()

        assert again.text() == "Half and whole."
        assert again.types.count("TEXT_MESSAGE_START") == 1

    def test_behind_the_end_tells_the_end_again_or_nothing(self, site):
        front = site.front()
        front.ask(site.script(DONE))
        with front.attach() as whole:
            whole.rest()

        response = front.http.get(
            "/assistant/agui/stream/",
            params={"threadId": front.thread, "runId": front.run},
            headers={"Last-Event-ID": whole.frames[-1].event_id},
        )

        assert response.status_code == 200
        assert "TEXT_MESSAGE" not in response.text

    def test_taking_up_by_an_old_client_has_the_old_shapes(self, site):
        pick = {"name": "pick_color", "description": "Pick."}
        front = site.front(version=None, tools=[pick])
        front.ask(site.script([call("pick_color")], DONE))

        with front.attach() as again:
            again.rest()

        assert "pendingToolCallIds" not in again.outcome

    def test_taking_up_while_the_client_still_reads(self, site):
        front, gate = site.front(), uuid4().hex
        other = site.front(thread=front.thread)
        asked = site.script([text("Half "), hold(gate), text("and whole.")])

        with front.open(asked) as reading:
            reading.until_text("Half")
            with other.attach(front.run) as second:
                second.until_text("Half")
                site.model.release(gate)
                assert second.rest().text() == "Half and whole."
            assert reading.rest().text() == "Half and whole."


class TestHistory:
    def test_empty_input_gives_the_thread_back(self, site):
        front = site.front()
        front.ask(rich(site))
        front.ask(site.script([text("Second.")]))
        fresh, before = front.fresh(), site.count()

        reading = fresh.ask()

        def told(one):  # results of calls side by side come in any order
            return [m for m in one.held.messages if m["role"] in ("user", "assistant")]

        assert reading.types == [
            "RUN_STARTED",
            "STATE_SNAPSHOT",
            "MESSAGES_SNAPSHOT",
            "RUN_FINISHED",
        ]
        assert told(fresh) == told(front)
        assert fresh.held.results() == front.held.results()
        assert "".join(fresh.held.texts("reasoning")) == "".join(
            front.held.texts("reasoning")
        )
        assert site.count() == before

    def test_get_gives_the_same(self, site):
        front = site.front()
        front.ask(rich(site))
        fresh = front.fresh()
        fresh.ask()

        assert fresh.history()["messages"] == fresh.held.messages

    def test_history_keeps_the_state_of_the_client(self, site):
        front = site.front()
        front.ask(site.script(DONE))

        reading = front.fresh().ask(state={"mine": [1, None]})

        (told,) = reading.of("STATE_SNAPSHOT")
        assert told["snapshot"]["mine"] == [1, None]
        assert told["snapshot"]["aia"]["conversation"] == site.conversation(front)["id"]

    def test_history_of_a_run_that_waits_tells_what_for(self, site):
        front = site.front()
        front.ask(site.script([text("Look. "), call("needs_approval", text="b")], DONE))
        fresh = front.fresh()

        (wait,) = fresh.ask().interrupts

        assert fresh.held.texts() == ["Look. "]
        assert fresh.history()["interrupts"][0]["id"] == wait["id"]
        assert fresh.answer(approve(wait)).text() == "Done."

    def test_history_of_a_run_under_way_goes_on_live(self, site):
        front, gate = site.front(), uuid4().hex
        front.ask(site.script([text("Before.")]))
        asked = site.script([text("Half "), hold(gate), text("and whole.")])
        fresh = front.fresh()

        with front.open(asked) as reading:
            reading.until_text("Half")
            with fresh.open() as second:
                second.until_text("Half")
                site.model.release(gate)
                second.rest()
            reading.rest()

        assert fresh.held.texts() == ["Before.", "Half and whole."]
        assert second.outcome == {"type": "success"}

    def test_history_goes_on_with_the_next_question(self, site):
        front = site.front()
        front.ask(rich(site))
        fresh = front.fresh()
        fresh.ask()

        assert fresh.ask(site.script([text("Next.")])).text() == "Next."
