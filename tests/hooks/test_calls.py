"""Hooks around a call: what they may do before it, and to its result."""

import asyncio
import threading
from dataclasses import replace

import pytest

import ai_assistant
from ai_assistant import RunContext
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.exceptions import LostLease
from ai_assistant.hooks import Refuse, RequireApproval
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from ai_assistant.tools.arguments import arguments_digest
from ai_assistant.types import ToolResult
from tests.engine.conftest import bury, resume, said, statuses
from tests.engine.kill import Kill
from tests.engine.people import given
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


def keys():
    return list(Effect.objects.order_by("pk").values_list("key", flat=True))


def once(key="a"):
    return reply("", call("write_effect", {"key": key}))


@pytest.mark.row("H09")
class TestBeforeTool:
    def test_changed_arguments_are_shown_approved_and_digested(
        self, options, play, script
    ):
        options(POLICY={})

        @ai_assistant.hook("before_tool")
        def upper(context, asked):
            return {"key": asked.arguments["key"].upper()}

        script.add(once(), "Done.")
        run = play()
        made = run.calls.get()
        digest = arguments_digest("write_effect", {"key": "A"})
        told = run.events.get(type="TOOL_CALL_ARGS").payload["delta"]

        assert run.state == "waiting_approval"
        assert made.arguments_digest == digest
        assert run.interrupts.get().arguments_digest == digest
        assert told == '{"key": "A"}'
        assert made.hooked == {"changed_by": ["upper"], "asked": '{"key": "a"}'}

        answer(given(run, "approve"))
        resume(run)

        assert keys() == ["A"]

    def test_arguments_that_the_schema_refuses_are_the_failure_of_the_hook(
        self, play, script
    ):
        @ai_assistant.hook("before_tool")
        def breaks(context, asked):
            return {"key": ["not", "a", "text"]}

        script.add(once(), "Done.")

        run = play()

        assert keys() == ["a"]  # as the model wanted
        assert run.hook_errors[0]["hook"] == "breaks"

    def test_arguments_that_the_schema_refuses_by_a_guard_refuse_the_call(
        self, play, script
    ):
        @ai_assistant.hook("before_tool", guard=True)
        def breaks(context, asked):
            return {}

        script.add(once(), "Done.")

        assert (statuses(play()), keys()) == (["denied"], [])

    def test_a_demand_holds_against_a_grant_for_the_answer(self, options, play, script):
        options(POLICY={})
        asked_for = []

        @ai_assistant.hook("before_tool")
        def second_one(context, asked):
            asked_for.append(asked.arguments["key"])
            return RequireApproval("Look again.") if asked_for[1:] else None

        script.add(once("a"), once("b"), "Done.")
        run = play()
        answer(given(run, "approve_for_run"))

        run = resume(run)

        assert (run.state, keys()) == ("waiting_approval", ["a"])
        assert run.calls.last().asks_because == "Look again."

    def test_is_asked_once_for_a_call(self, options, play, script):
        options(POLICY={})
        seen = []

        @ai_assistant.hook("before_tool")
        def counts(context, asked):
            seen.append(asked.arguments)

        script.add(once(), "Done.")
        run = play()
        answer(given(run, "approve"))
        resume(run)

        assert seen == [{"key": "a"}]

    @pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
    def test_killed_at_the_commit_of_the_reply(
        self, submission, function_model, monkeypatch, after
    ):
        """What hooks said is stored with the call: a resume asks nobody again."""
        from ai_assistant.engine.intake.submission import accept
        from ai_assistant.engine.storage.lease import this_process

        seen = []

        @ai_assistant.hook("before_tool")
        def upper(context, asked):
            seen.append(asked.arguments["key"])
            return {"key": asked.arguments["key"].upper()}

        async def model(request):
            last = request.messages[-1]["role"]
            return "Done." if last == "tool" else once()

        function_model(model)
        hold = accept(submission(), owner=this_process()).hold
        with monkeypatch.context() as patch:
            Kill(patch, at=0, after=after).execute(hold)

        run = resume(bury(Run.objects.get(pk=hold.run_id)))

        assert (run.state, keys()) == ("succeeded", ["A"])
        assert seen == ["a"]

    def test_lost_with_the_commit_of_the_reply(
        self, submission, function_model, monkeypatch
    ):
        """What hooks said is gone with it: a resume asks them again."""
        from ai_assistant.engine.execution.runner import execute
        from ai_assistant.engine.intake.submission import accept
        from ai_assistant.engine.lifecycle import writer as module
        from ai_assistant.engine.lifecycle.writer import Flusher
        from ai_assistant.engine.storage.lease import this_process

        seen = []

        @ai_assistant.hook("before_tool")
        def upper(context, asked):
            seen.append(asked.arguments["key"])
            return {"key": asked.arguments["key"].upper()}

        async def model(request):
            last = request.messages[-1]["role"]
            return "Done." if last == "tool" else once()

        def lost(*args):
            raise LostLease("The database went away.")

        function_model(model)
        hold = accept(submission(), owner=this_process()).hold
        with monkeypatch.context() as patch:
            patch.setattr(module, "write", lost)
            asyncio.run(execute(hold, Flusher()))

        run = resume(bury(Run.objects.get(pk=hold.run_id)))

        assert (run.state, keys()) == ("succeeded", ["A"])
        assert seen == ["a", "a"]

    def test_of_a_call_without_a_tool_nobody_is_asked(self, play, script):
        seen = []

        @ai_assistant.hook("before_tool")
        def counts(context, asked):
            seen.append(asked)

        script.add(
            reply("", call("no_such_tool")), reply("", call("write_effect")), "D"
        )

        play()

        assert seen == []

    def test_one_that_hangs_is_given_up_and_the_run_goes_on(self, play, script):
        over = threading.Event()

        @ai_assistant.hook("before_tool", timeout_s=0.05)
        def hangs_here(context, asked):
            over.wait(30)

        script.add(once(), "Done.")

        run = play()
        over.set()

        assert (run.state, keys()) == ("succeeded", ["a"])
        assert run.hook_errors == [
            {
                "hook": "hangs_here",
                "point": "before_tool",
                "error": "It took longer than 0.05 s.",
                "count": 1,
            }
        ]


@pytest.mark.row("H09")
class TestGuards:
    def test_refuses_after_the_approval(self, options, play, script):
        options(POLICY={})
        closed = []

        @ai_assistant.hook("before_tool", guard=True)
        def office_hours(context, asked):
            return Refuse("It is too late for that.") if closed else None

        script.add(once(), "Sorry.")
        run = play()
        closed.append(True)
        answer(given(run, "approve"))
        run = resume(run)

        assert (statuses(run), keys()) == (["denied"], [])
        assert "too late" in run.calls.get().result_text
        assert said(run).endswith("Sorry.")

    def test_changes_nothing_after_the_approval(self, options, play, script):
        options(POLICY={})
        approved = []

        @ai_assistant.hook("before_tool", guard=True)
        def sneaky(context, asked):
            return {"key": "other"} if approved else None

        script.add(once(), "Done.")
        run = play()
        approved.append(True)
        answer(given(run, "approve"))
        resume(run)

        assert keys() == ["a"]

    def test_is_asked_of_a_call_that_another_tool_makes(self, play, script, offer):
        @ai_assistant.hook("before_tool", tools="write_effect", guard=True)
        def never(context, asked):
            return Refuse("Not here.")

        def outer(context: RunContext) -> str:
            return context.call_tool("write_effect", key="a").error

        offer(outer, effect="write", policy="allow")
        script.add(reply("", call("outer")), "Done.")

        run = play("outer")

        assert keys() == []
        assert "Not here." in run.calls.get(name="outer").result_text


@pytest.mark.row("H08")
class TestAfterTool:
    def test_changes_the_result_before_it_is_stored(self, play, script, offer):
        @ai_assistant.hook("after_tool", tools="look")
        def shorter(context, given):
            return replace(given.result, data=given.result.data[:2])

        offer(lambda: ["a", "b", "c"], name="look")
        script.add(reply("", call("look")), "Done.")

        run = play()

        assert run.calls.get().result["data"] == ["a", "b"]
        assert "c" not in run.calls.get().result_text

    def test_of_a_write_in_its_transaction(self, play, script):
        @ai_assistant.hook("after_tool")
        async def says(context, given):
            return replace(given.result, message="Told to the boss.")

        script.add(once(), "Done.")

        run = play()

        assert keys() == ["a"]
        assert run.calls.get().result["message"] == "Told to the boss."

    @pytest.mark.parametrize(
        "nonsense",
        [
            lambda result: replace(result, ok=not result.ok),
            lambda result: replace(result, error_type="policy"),
            lambda result: {"data": 1},
        ],
    )
    def test_cannot_say_that_it_succeeded_or_failed(self, play, script, nonsense):
        @ai_assistant.hook("after_tool")
        def lies(context, given):
            return nonsense(given.result)

        script.add(once(), "Done.")

        run = play()

        assert statuses(run) == ["complete"]
        assert run.hook_errors[0]["hook"] == "lies"

    def test_sees_the_calls_of_other_tools_and_failures(self, play, script, offer):
        seen = []

        @ai_assistant.hook("after_tool")
        def watches(context, given):
            seen.append((given.name, given.result.ok))

        def outer(context: RunContext) -> str:
            return context.call_tool("inner").error

        def inner() -> ToolResult:
            raise ai_assistant.ToolFailed("no")

        offer(outer)
        offer(inner)
        script.add(reply("", call("outer")), "Done.")

        play()

        assert seen == [("inner", False), ("outer", True)]

    def test_what_it_keeps_is_stored_with_the_call(self, play, script):
        @ai_assistant.hook("after_tool")
        def counts(context, given):
            context.state["calls"] = context.state.get("calls", 0) + 1

        script.add(
            reply(
                "",
                call("write_effect", {"key": "a"}),
                call("write_effect", {"key": "b"}),
            ),
            "Done.",
        )

        run = play()

        assert run.state_values == {__name__: {"calls": 2}}
