"""What hooks and tools keep goes with the run, and from run to run."""

import asyncio

import pytest
from django.db import OperationalError

import ai_assistant
from ai_assistant import RunContext
from ai_assistant.engine.calls import schedule
from ai_assistant.engine.calls.hooked import kept_of
from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.hooks.state import (
    StateChange,
    change_of,
    checked,
    merged,
    patch_of,
)
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from ai_assistant.types.hook import STATE_CHARS, State
from tests.engine.conftest import statuses

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("H21")]
OWN = "tests.hooks.test_state"


class Busy(Exception):
    """What SQLite raises while another process writes."""

    sqlite_errorname = "SQLITE_BUSY"


class TestValues:
    def test_change_names_keys(self):
        state = State("shop", {"shop": {"a": 1, "b": [1]}, "wiki": {"c": 3}})
        state["b"].append(2)
        del state["a"]
        state["new"] = {"x": None}

        assert change_of(state) == StateChange(
            namespace="shop", set={"b": [1, 2], "new": {"x": None}}, removed=("a",)
        )

    def test_others_are_read_as_a_copy(self):
        state = State("shop", {"wiki": {"c": [3]}})
        state.of("wiki")["c"].append(4)

        assert state.of("wiki") == {"c": [3]}
        assert change_of(state) is None

    @pytest.mark.parametrize(
        "values",
        [{"a": object()}, {"a": {1, 2}}, {1: "a"}, {"a": float("nan")}],
        ids=["object", "set", "key", "nan"],
    )
    def test_what_is_no_json_is_refused(self, values):
        with pytest.raises(ValueError, match="The state of 'shop'"):
            checked("shop", values)

    def test_what_holds_itself_is_refused(self):
        values = {}
        values["a"] = values

        with pytest.raises(ValueError, match="is no JSON"):
            checked("shop", values)

    def test_what_is_too_large_alone_or_together_is_refused(self):
        half = {"text": "x" * (STATE_CHARS // 2)}
        with pytest.raises(ValueError, match="at most 16000 of all apps"):
            checked("shop", {"text": "x" * STATE_CHARS})
        with pytest.raises(ValueError, match="The state of all apps has"):
            merged({"shop": half}, [StateChange(namespace="wiki", set=half)])

    def test_patch_leads_from_one_to_the_other(self):
        before = {"shop": {"a": 1, "b/~": [1]}, "wiki": {}}
        after = {"shop": {"b/~": [2], "c": True}, "wiki": {}, "x": {}}

        assert list(patch_of(before, after)) == [
            {"op": "remove", "path": "/shop/a"},
            {"op": "replace", "path": "/shop/b~1~0", "value": [2]},
            {"op": "add", "path": "/shop/c", "value": True},
            {"op": "add", "path": "/x", "value": {}},
        ]

    def test_true_is_not_one(self):
        assert list(patch_of({"a": 1}, {"a": True}))


class TestRuns:
    def test_of_a_hook_is_stored_with_the_step(self, play, script):
        @ai_assistant.hook("after_model_response")
        def counts(context, replied):
            context.state["replies"] = context.state.get("replies", 0) + 1

        script.add(reply("", call("write_effect", {"key": "a"})), "Done.")

        run = play()

        assert run.state_values == {OWN: {"replies": 2}}
        assert run.state_version == 2
        told = run.events.filter(payload__name="aia.state").order_by("seq")
        assert [event.payload["value"] for event in told] == [
            {"version": 1, "values": {OWN: {"replies": 1}}},
            {
                "version": 2,
                "delta": [{"op": "replace", "path": f"/{OWN}/replies", "value": 2}],
            },
        ]

    @pytest.mark.parametrize("effect", ["read", "write"])
    def test_of_a_tool_is_stored_with_its_call(self, play, script, offer, effect):
        def note(context: RunContext, text: str) -> str:
            context.state["note"] = text
            return text

        tool = offer(note, effect=effect, policy="allow")
        script.add(reply("", call("note", {"text": "milk"})), "Done.")

        run = play("note: milk")

        assert statuses(run) == ["complete"]
        assert run.state_values == {tool.origin: {"note": "milk"}}

    def test_of_a_call_is_stored_by_the_attempt_that_succeeds(
        self, play, script, offer, monkeypatch
    ):
        """A transaction that finds the database busy is done once more."""

        @ai_assistant.hook("after_tool")
        def note(context, answered):
            context.state["note"] = "milk"

        def once_busy(*args):
            facts = kept_of(*args)
            if not tried:
                tried.append(1)
                raise OperationalError("x") from Busy()
            return facts

        tried = []
        monkeypatch.setattr(schedule, "kept_of", once_busy)
        offer(lambda: "a row", name="look")
        script.add(reply("", call("look")), "Done.")

        run = play()

        assert tried
        assert run.state_values == {OWN: {"note": "milk"}}

    def test_of_a_tool_that_fails_is_not(self, play, script, offer):
        def note(context: RunContext) -> None:
            context.state["note"] = "x"
            raise ai_assistant.ToolFailed("no")

        offer(note)
        script.add(reply("", call("note")), "Done.")

        run = play()

        assert (statuses(run), run.state_values) == (["failed"], {})

    @pytest.mark.parametrize("effect", ["read", "write"])
    def test_that_is_no_json_fails_the_call(self, play, script, offer, effect):
        def note(context: RunContext) -> None:
            context.state["note"] = object()

        offer(note, effect=effect, policy="allow")
        script.add(reply("", call("note")), "Done.")

        run = play()

        assert (statuses(run), run.state_values) == (["failed"], {})
        assert "is no JSON" in run.calls.get().result_text
        assert run.state == "succeeded"

    def test_of_a_hook_that_is_too_large_is_its_failure(self, play, script):
        @ai_assistant.hook("after_model_response")
        def hoards(context, replied):
            context.state["all"] = "x" * STATE_CHARS

        script.add("Done.")

        run = play()

        assert (run.state, run.state_values) == ("succeeded", {})
        (error,) = run.hook_errors
        assert error["hook"] == "hoards"
        assert "at most 16000" in error["error"]

    def test_goes_from_run_to_run_of_a_conversation(self, play, script, submission):
        @ai_assistant.hook("response_complete")
        def counts(context, given):
            context.state["answers"] = context.state.get("answers", 0) + 1

        script.add("One.", "Two.", "Three.")
        first = play()

        second = play(conversation_id=first.conversation_id)
        other = play()

        assert second.state_values == {OWN: {"answers": 2}}
        assert second.state_version == 2
        assert other.state_values == {OWN: {"answers": 1}}

    def test_is_data_as_soon_as_the_run_has_read_any(self, play, script, offer):
        @ai_assistant.hook("after_model_response")
        def keeps(context, replied):
            context.state["said"] = replied.text or "nothing"

        offer(lambda: "a row", name="look")
        script.add(reply("One.", call("look")), "Two.", "Three.")

        run = play()
        plain = play()

        assert run.state_data == [OWN]
        assert plain.state_data == []

    def test_two_runs_at_once_share_none(self, submission, function_model):
        @ai_assistant.hook("after_model_response")
        def counts(context, replied):
            context.state["n"] = context.state.get("n", 0) + 1
            context.state["run"] = str(context.run_id)

        async def model(request):
            await asyncio.sleep(0.01)
            return "Done."

        function_model(model)
        from ai_assistant.engine.intake.submission import accept
        from ai_assistant.engine.storage.lease import this_process

        holds = [accept(submission(), owner=this_process()).hold for _ in range(2)]

        async def scenario():
            flusher = Flusher()
            await asyncio.gather(*(execute(hold, flusher) for hold in holds))

        asyncio.run(scenario())

        for hold in holds:
            run = Run.objects.get(pk=hold.run_id)
            assert run.state_values == {OWN: {"n": 1, "run": str(run.pk)}}
