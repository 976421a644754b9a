"""What a tool tells of its work, in every way in which it may run."""

import asyncio
import threading
from uuid import uuid4

import pytest

from ai_assistant import Ask, RunContext, ToolFailed, ToolResult
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.calls.progress import (
    MAX_STEPS,
    REPORT_CHARS,
    Report,
    time_left,
)
from ai_assistant.exceptions import LostLease
from ai_assistant.models.call import ToolCall
from ai_assistant.testing import call, reply
from ai_assistant.types import CallActions
from tests.engine.conftest import facts, resume, statuses
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


def tell(context):
    context.step("Reading")
    context.progress(0.5, "half")
    context.step("Testing")


@pytest.fixture
def told(play, script, offer, monkeypatch):
    """Run one tool to its end, shown as working soon; return its call."""
    monkeypatch.setattr("ai_assistant.engine.calls.schedule.SHOWN_AFTER_S", 0.05)

    def run(handler, *, name="teller", **how):
        offer(handler, name=name, **how)
        script.add(reply("", call(name)), "Done.")
        run = play()
        for one in run.calls.filter(background=True):
            perform(one.pk)
            run = resume(run)
        return run.calls.get(parent=None)

    return run


@pytest.mark.row("L08")
@pytest.mark.row("L09")
class TestStepsAndProgress:
    def assert_told(self, one):
        assert (one.status, one.steps) == ("complete", ["Reading", "Testing"])
        assert (one.progress, one.progress_text) == (0.5, "half")

    def test_steps_and_progress_of_a_read(self, told):
        self.assert_told(told(tell_sync))

    def test_steps_and_progress_of_an_async_read(self, told):
        async def teller(context: RunContext) -> int:
            tell(context)
            return 1

        self.assert_told(told(teller))

    def test_steps_and_progress_of_a_write(self, told):
        self.assert_told(told(tell_sync, effect="write", policy="allow"))

    def test_steps_and_progress_of_prepare_and_the_write_after_it(self, told):
        def before(context: RunContext) -> None:
            context.step("Reading")

        def teller(context: RunContext) -> None:
            context.progress(0.5, "half")
            context.step("Testing")

        self.assert_told(told(teller, effect="write", policy="allow", prepare=before))

    def test_steps_and_progress_of_an_external_one(self, told):
        async def teller(context: RunContext) -> int:
            tell(context)
            return 1

        self.assert_told(told(teller, effect="write", policy="allow", external=True))

    def test_steps_and_progress_of_a_background_one(self, told):
        self.assert_told(told(tell_sync, background=True))

    def test_steps_and_progress_of_a_write_that_fails(self, told):
        def teller(context: RunContext) -> None:
            Effect.objects.create(key="a", run=context.run_id)
            tell(context)
            raise ToolFailed("No.")

        one = told(teller, effect="write", policy="allow")

        assert (one.status, one.steps) == ("failed", ["Reading", "Testing"])
        assert not Effect.objects.exists()

    @pytest.mark.parametrize("how", [{}, {"background": True}])
    def test_steps_and_progress_are_seen_while_it_works(self, told, how):
        seen = []

        def teller(context: RunContext) -> None:
            context.step("Reading")
            context.step("Testing")
            while not seen or seen[-1][1] != ["Reading", "Testing"]:
                one = ToolCall.objects.get()
                seen.append((one.status, one.steps))
                threading.Event().wait(0.01)

        one = told(teller, **how)

        assert (one.status, seen[-1][0]) == ("complete", "executing")

    def test_steps_and_progress_are_bounded(self, told):
        def teller(context: RunContext) -> None:
            for number in range(200):
                context.step(f"{number} " + "x" * 500)

        one = told(teller)

        assert len(one.steps) == MAX_STEPS
        assert {len(step) for step in one.steps} == {REPORT_CHARS}

    def test_odd_values_do_no_harm(self, told):
        def teller(context: RunContext) -> None:
            context.progress(7, "\x00\ud800")
            context.step("\x00")

        one = told(teller)

        assert (one.status, one.progress, one.steps) == ("complete", 1.0, ["\ufffd"])

    def test_begin_anew_after_an_answer(self, told):
        def teller(context: RunContext) -> None:
            tell(context)
            if not context.answers:
                raise Ask("Which?")

        one = told(teller)

        assert (one.status, one.steps) == ("waiting", ["Reading", "Testing"])

    def test_a_tool_that_was_given_up_ends_at_its_next_word(self, told):
        ended, given_up = threading.Event(), threading.Event()

        def teller(context: RunContext) -> None:
            try:
                given_up.wait(20)
                while True:
                    context.step("still here")
            finally:
                ended.set()

        one = told(teller, timeout_s=1)
        given_up.set()

        assert (one.status, ended.wait(20)) == ("failed", True)


def tell_sync(context: RunContext) -> int:
    tell(context)
    return 1


class TestResultsSoFar:
    def test_last_value_is_the_result(self, told):
        def teller():
            yield {"found": 1}
            yield {"found": 2}

        one = told(teller)

        assert (one.status, one.result["data"]) == ("complete", {"found": 2})

    def test_async(self, told):
        async def teller():
            for number in range(3):
                yield number
                await asyncio.sleep(0)

        assert told(teller).result["data"] == 2

    def test_results_so_far_in_the_background(self, told):
        def teller():
            yield 1
            yield 2

        assert told(teller, background=True).result["data"] == 2

    def test_a_result_with_fields(self, told):
        async def teller():
            yield "one"
            yield ToolResult(ok=False, error="Not more.")

        one = told(teller)

        assert (one.status, one.error) == ("failed", "Not more.")

    def test_what_is_returned(self, told):
        def teller():
            yield 1
            return 2

        assert told(teller).result["data"] == 2

    def test_nothing_at_all(self, told):
        async def teller():
            return
            yield

        one = told(teller)

        assert (one.status, one.result["data"]) == ("complete", None)

    def test_what_has_no_json_form_ends_it(self, told):
        closed = []

        async def teller():
            try:
                yield object()
                yield 1
            finally:
                closed.append(1)

        one = told(teller)

        assert (one.result["error_type"], closed) == ("bad_result", [1])

    def test_an_error_after_a_value(self, told):
        def teller():
            yield 1
            raise ToolFailed("Halfway.")

        one = told(teller)

        assert (one.status, one.error, one.partial) == ("failed", "Halfway.", 1)

    def test_results_so_far_are_seen_while_it_works(self, told):
        seen = []

        async def teller():
            yield {"found": 1}
            while seen[-1:] != [{"found": 1}]:
                one = await asyncio.to_thread(ToolCall.objects.get)
                seen.append(one.partial)
                await asyncio.sleep(0.01)
            yield {"found": 2}

        assert told(teller).status == "complete"

    def test_many_are_stored_seldom(self, told):
        async def teller():
            for number in range(300):
                yield number

        one = told(teller)

        assert one.result["data"] == 299
        assert facts(one.run).count("aia.progress") < 100

    def test_results_so_far_ends_with_that_of_the_call_above(self):
        above = Report()
        below = Report(above=Report(above=above))
        below.step("One.")
        above.is_over = True

        with pytest.raises(LostLease):
            below.step("Two.")

    def test_a_very_large_one_is_passed_over(self):
        report = Report()
        report.partial(1)
        report.partial("x" * 100_000)

        assert report._partial == 1


@pytest.mark.row("T04")
class TestShown:
    @pytest.mark.parametrize(
        "how",
        [{}, {"effect": "write", "policy": "allow"}, {"background": True}],
    )
    def test_shown_is_a_finished_call_below_its_call(self, told, how):
        def teller(context: RunContext) -> None:
            context.show("map_card", place="Rome")
            context.show("map_card", place="Oslo")

        one = told(teller, **how)

        shown = one.children.order_by("position")
        assert [row.arguments for row in shown] == [
            {"place": "Rome"},
            {"place": "Oslo"},
        ]
        assert {(row.status, row.label) for row in shown} == {
            ("complete", "Map of the place")
        }
        assert one.run.state == "succeeded"

    def test_only_what_renders(self, told):
        def teller(context: RunContext) -> None:
            context.show("echo", text="a")

        one = told(teller)

        assert (one.status, one.children.count()) == ("failed", 0)

    def test_shown_is_not_told_to_the_model(self, told, script):
        def teller(context: RunContext) -> str:
            context.show("map_card", place="Rome")
            return "found"

        told(teller)

        last = script.requests[-1]
        assert [m["role"] for m in last.messages[-2:]] == ["assistant", "tool"]
        assert "Rome" not in str(last.messages)
        assert "map_card" not in str(last.tools)

    def test_a_call_by_the_model_is_refused(self, play, script):
        script.add(reply("", call("map_card", {"place": "Rome"})), "Done.")

        assert statuses(play()) != ["complete"]


@pytest.mark.parametrize(
    ("spent_s", "fraction", "said"),
    [
        (1.0, 0.5, ""),  # too early to say
        (10.0, 0.0, ""),
        (10.0, 1.0, ""),
        (10.0, 0.75, "about 3 s left"),
        (10.0, 0.3, "about 25 s left"),
        (60.0, 0.25, "about 3 min left"),
    ],
)
def test_time_left_is_estimated(spent_s, fraction, said):
    assert time_left(spent_s, fraction) == said


def test_progress_of_so_many_says_so():
    told = []
    actions = CallActions(progress=lambda *said: told.append(said))
    context = RunContext(
        user=None, run_id=uuid4(), conversation_id=uuid4(), actions=actions
    )

    context.progress(0.5, "half")
    context.progress(3, "Rome", total=10)
    context.progress(20, total=10)

    assert told == [(0.5, "half"), (0.3, "3 / 10 · Rome"), (1.0, "20 / 10")]
