"""Reads run side by side, and whatever a tool does is one clear result."""

import asyncio
import threading

import pytest
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError

from ai_assistant import ModelRetry, ToolFailed
from ai_assistant.engine.calls import schedule
from ai_assistant.testing import call, reply
from tests.engine.conftest import statuses

pytestmark = pytest.mark.django_db(transaction=True)


class TestReads:
    def test_run_side_by_side(self, play, script, offer):
        together = threading.Barrier(4, timeout=20)
        offer(lambda: together.wait() * 0, name="meet")
        script.add(reply("", *[call("meet")] * 4), "Done.")

        run = play()

        assert statuses(run) == ["complete"] * 4

    def test_async_too(self, play, script, offer):
        met = []

        async def meet() -> int:
            met.append(1)
            while len(met) < 4:
                await asyncio.sleep(0)
            return 0

        offer(meet)
        script.add(reply("", *[call("meet")] * 4), "Done.")

        assert statuses(play()) == ["complete"] * 4

    def test_but_not_too_many(self, play, script, offer, monkeypatch):
        monkeypatch.setattr(schedule, "PARALLEL_READS", 2)
        now, most, begun = [], [], []

        async def count() -> int:
            begun.append(1)
            now.append(1)
            most.append(len(now))
            # Each waits for the one that it has as its neighbour.
            number = len(begun)
            while len(begun) < number + number % 2:
                await asyncio.sleep(0)
            now.pop()
            return 0

        offer(count)
        script.add(reply("", *[call("count")] * 6), "Done.")

        play()

        assert max(most) == 2

    def test_results_keep_the_order_of_the_calls(self, play, script):
        script.add(
            reply(
                "", call("slow_read", {"seconds": 0.05}), call("echo", {"text": "b"})
            ),
            "Done.",
        )

        play()

        told = [
            m["content"] for m in script.requests[1].messages if m["role"] == "tool"
        ]
        assert told == ['{"seconds": 0.05}', "b"]

    @pytest.mark.row("U06")
    @pytest.mark.parametrize("kind", ["sync", "async"])
    def test_reads_are_given_up(self, play, script, offer, kind):
        done = threading.Event()

        def hang() -> None:
            done.wait(20)

        async def hang_async() -> None:
            await asyncio.sleep(20)

        offer(hang if kind == "sync" else hang_async, name="hang", timeout_s=0.05)
        script.add(reply("", call("hang")), "Too slow.")

        run = play()
        done.set()

        one = run.calls.get()
        assert (run.state, one.status) == ("succeeded", "failed")
        assert one.result["error_type"] == "timeout"
        assert "timed out after 0.05 s" in one.result["error"]

    @pytest.mark.row("U06")
    def test_reads_have_thirty_seconds_and_a_step_two_minutes(self):
        from ai_assistant.conf import DEFAULTS

        assert DEFAULTS["TIMEOUTS"]["TOOL_S"] == 30
        assert DEFAULTS["TIMEOUTS"]["READS_S"] == 120

    @pytest.mark.row("U06")
    @pytest.mark.parametrize("external", [False, True])
    def test_all_reads_of_a_step_are_given_up_together(
        self, play, script, offer, options, monkeypatch, external
    ):
        options(TIMEOUTS={"READS_S": 0.2})
        monkeypatch.setattr(schedule, "PARALLEL_READS", 1)
        begun = []

        async def hang() -> None:
            begun.append(1)
            await asyncio.sleep(20)

        async def quick() -> int:
            return 1

        offer(quick)
        offer(hang)
        offer(hang, name="later", external=external)
        calls = [call("quick"), call("hang"), call("later"), call("later")]
        script.add(reply("", *calls), "Too slow.")

        run = play()

        assert statuses(run) == ["complete", "failed", "failed", "failed"]
        assert (run.state, begun) == ("succeeded", [1])  # the others did not begin
        for one in run.calls.exclude(name="quick"):
            assert one.result["error_type"] == "timeout"
            assert "all that was asked for at once, 0.2 s, was over" in one.error

    @pytest.mark.row("U06")
    def test_a_question_beside_late_reads_is_still_asked(
        self, play, script, offer, options, monkeypatch
    ):
        options(TIMEOUTS={"READS_S": 0.2})
        monkeypatch.setattr(schedule, "PARALLEL_READS", 1)

        async def hang() -> None:
            await asyncio.sleep(20)

        offer(hang)
        script.add(reply("", call("hang"), call("ask_user", {"question": "Which?"})))

        run = play()

        assert statuses(run) == ["failed", "waiting"]
        assert run.state == "waiting_answer"

    def test_own_timeout_of_a_tool_is_an_error_of_its_own(self, play, script, offer):
        async def impatient() -> None:
            async with asyncio.timeout(0):
                await asyncio.sleep(20)

        offer(impatient)
        script.add(reply("", call("impatient")), "I see.")

        one = play().calls.get()

        assert one.result["error_type"] == "exception"

    def test_a_lasting_one_is_shown_as_working(self, play, script, monkeypatch):
        from ai_assistant.engine.calls import schedule

        monkeypatch.setattr(schedule, "SHOWN_AFTER_S", 0)
        script.add(reply("", call("slow_read", {"seconds": 0.2})), "Done.")

        run = play()

        moved = [e.payload["value"] for e in run.events.filter(type="CUSTOM")]
        assert [value["status"] for value in moved] == ["executing"]
        assert run.calls.get().started_at is not None


@pytest.mark.row("T11")
class TestErrors:
    @pytest.mark.parametrize(
        ("raised", "kind", "told"),
        [
            (ModelRetry("Which one?"), "retry", "Which one?"),
            (ToolFailed("No.", suggestion="Ask."), "failed", "No."),
            (ValidationError(["Too long."]), "validation", "Too long."),
            (ObjectDoesNotExist("No such row."), "not_found", "No such row."),
            (PermissionDenied("secret"), "permission", "no permission"),
            (RuntimeError("secret"), "exception", "RuntimeError"),
            (SystemExit("secret"), "exception", "SystemExit"),
            (asyncio.CancelledError("secret"), "exception", "CancelledError"),
        ],
    )
    @pytest.mark.parametrize("kind_of_tool", ["read", "async", "write"])
    def test_become_results(
        self, play, script, offer, raised, kind, told, kind_of_tool
    ):
        def fails() -> None:
            raise raised

        async def fails_async() -> None:
            raise raised

        if kind_of_tool == "async":
            offer(fails_async, name="fails")
        else:
            offer(fails, effect=kind_of_tool, policy="allow")
        script.add(reply("", call("fails")), "I see.")

        run = play()

        one = run.calls.get()
        assert (run.state, one.status) == ("succeeded", "failed")
        assert one.result["error_type"] == kind
        assert told in one.result["error"]
        assert "secret" not in str(one.result)


class TestGoneTool:
    def test_gone_tool_has_a_result(self, play, script, offer):
        from ai_assistant.registry import registry

        offer(lambda: registry.remove_tool("write_effect"), name="leave")
        script.add(
            reply("", call("leave"), call("write_effect", {"key": "a"})), "I see."
        )

        run = play()

        assert (run.state, statuses(run)) == ("succeeded", ["complete", "failed"])
        assert run.calls.last().result["error"] == "This tool no longer exists."


class TestBigResult:
    def test_big_result_is_cut_for_the_model(self, play, script):
        script.add(reply("", call("read_big", {"chars": 40_000})), "Long.")

        run = play()

        told = script.requests[1].messages[-1]["content"]
        assert len(told) < 32_200
        assert "[cut: 32000 of" in told
        assert len(run.calls.get().result["data"]["text"]) == 40_000
