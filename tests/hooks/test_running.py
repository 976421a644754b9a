"""Hooks are called in order, in a thread, within their time, and alone."""

import asyncio
import threading
import uuid
from dataclasses import fields

import pytest

from ai_assistant.hooks import Refuse, ToolRequested, passes
from ai_assistant.hooks.passes import Asking
from ai_assistant.hooks.running import aask, aask_each, ask, ask_each
from ai_assistant.types import RunContext
from ai_assistant.types.hook import Hook, State
from ai_assistant.types.tool import with_state


class Leaves(BaseException):
    """What no `except Exception` takes."""


ASKED = ToolRequested(name="publish", arguments={"id": 1})
SHORT_S = 0.05


def context():
    return RunContext(user=None, run_id=uuid.uuid4(), conversation_id=uuid.uuid4())


def hook(function, **options):
    options.setdefault("name", f"{function.__name__}-{uuid.uuid4()}")
    return Hook(point="before_tool", function=function, origin="shop", **options)


def outcome_of(*hooks, check=None):
    return ask(hooks, Asking(value=ASKED, context=context, check=check))


@pytest.fixture
def hanging(monkeypatch):
    """A hook that hangs until the test is over; its own time alone ends it."""
    monkeypatch.setattr(passes, "START_S", 3600)
    over = threading.Event()

    def hangs(context, asked):
        over.wait(30)
        return {"id": 99}

    yield hangs
    over.set()


class TestOrder:
    def test_each_sees_what_the_one_before_has_made(self):
        seen = []

        def more(context, asked):
            seen.append(asked.arguments["id"])
            return {"id": asked.arguments["id"] + 1}

        outcome = outcome_of(hook(more), hook(more), hook(more))

        assert (seen, outcome.value.arguments) == ([1, 2, 3], {"id": 4})

    def test_none_follows_a_refusal(self):
        seen = []

        outcome = outcome_of(
            hook(lambda context, asked: Refuse("No.")),
            hook(lambda context, asked: seen.append(asked)),
        )

        assert (outcome.refused, seen) == ("No.", [])

    def test_sync_and_async_ones_in_one_thread_that_is_no_loop_of_ours(self):
        threads = []

        def plain(context, asked):
            threads.append(threading.current_thread())

        async def coroutine(context, asked):
            await asyncio.sleep(0)
            threads.append(threading.current_thread())

        asyncio.run(
            aask([hook(plain), hook(coroutine)], Asking(value=ASKED, context=context))
        )

        assert len(set(threads)) == 1
        assert threading.main_thread() not in threads

    @pytest.mark.parametrize("is_async", [False, True])
    def test_those_of_several_values_in_one_thread(self, is_async):
        threads, seen = [], []

        def counts(context, asked):
            threads.append(threading.current_thread())
            context.state["n"] = context.state.get("n", 0) + 1
            seen.append((asked.name, context.state["n"]))

        def refuses(context, asked):
            return Refuse("No.")

        second = ToolRequested(name="delete", arguments={})
        hooks = [hook(counts), hook(refuses), hook(counts)]
        asked = [
            (hooks, Asking(value=ASKED, context=context)),
            ([], Asking(value=ASKED, context=context)),
            (hooks[:1], Asking(value=second, context=context)),
        ]
        found = asyncio.run(aask_each(asked)) if is_async else ask_each(asked)

        assert [one.refused for one in found] == ["No.", "", ""]
        assert seen == [("publish", 1), ("delete", 2)]
        assert len(set(threads)) == 1

    def test_a_value_can_be_made_of_the_one_before(self):
        def more(context, asked):
            return {"id": asked.arguments["id"] + 1}

        first = Asking(value=ASKED, context=context)
        after = Asking(value=None, context=context, make=lambda before: before)

        found = ask_each([([hook(more)], first), ([hook(more)], after)])

        assert [one.value.arguments["id"] for one in found] == [2, 3]


@pytest.mark.row("H15")
class TestIsolation:
    def test_one_that_raises_ends_nothing(self):
        def broken(context, asked):
            asked.arguments["id"] = 99  # its own copy
            raise ZeroDivisionError("oh")

        def works(context, asked):
            return {"id": asked.arguments["id"] + 1}

        outcome = outcome_of(hook(broken, name="broken"), hook(works))

        assert outcome.value.arguments == {"id": 2}
        (failure,) = outcome.failures
        assert (failure.hook, failure.error) == ("broken", "ZeroDivisionError: oh")

    @pytest.mark.parametrize("value", [3, "no", ["id"], object()])
    def test_nonsense_is_a_failure(self, value):
        outcome = outcome_of(hook(lambda context, asked: value))

        assert outcome.value == ASKED
        assert "expected Mapping, Refuse, RequireApproval" in outcome.failures[0].error

    def test_arguments_that_cannot_be_used_are_a_failure(self):
        def check(value):
            if value.arguments["id"] == "x":
                raise ValueError("'id' is no number")

        outcome = outcome_of(
            hook(lambda context, asked: {"id": "x"}),
            hook(lambda context, asked: {"id": 5}),
            check=check,
        )

        assert outcome.value.arguments == {"id": 5}
        assert "'id' is no number" in outcome.failures[0].error

    @pytest.mark.parametrize("error", [KeyError, SystemExit, asyncio.CancelledError])
    @pytest.mark.parametrize("is_async", [False, True])
    def test_one_that_exits_takes_no_thread_along(self, error, is_async):
        def leaves(context, asked):
            raise error("x")

        async def leaves_later(context, asked):
            raise error("x")

        own = leaves_later if is_async else leaves
        outcome = outcome_of(*(hook(own) for _ in range(3)))

        assert len(outcome.failures) == 3

    def test_one_that_looks_at_nothing_copies_nothing(self):
        class Told(dict):
            def items(self):
                raise AssertionError("copied")

        value = ToolRequested(name="publish", arguments=Told(id=1))

        outcome = ask(
            [hook(lambda context, asked: None)], Asking(value=value, context=context)
        )

        assert outcome.failures == []
        assert outcome.value is value

    def test_state_is_kept_past_one_that_hangs(self, hanging):
        def counts(context, asked):
            context.state["n"] = context.state.get("n", 0) + 1

        outcome = outcome_of(
            hook(counts), hook(hanging, timeout_s=SHORT_S), hook(counts)
        )

        assert [change.set for change in outcome.changes] == [{"n": 1}, {"n": 2}]

    @pytest.mark.parametrize("bad", [{1: "one"}, {"n": object()}, None])
    def test_state_of_one_that_fails_does_not_reach_the_next_of_its_app(self, bad):
        def fails(context, asked):
            context.state.update(bad or {"n": 9})
            if bad is None:
                raise ValueError("no")

        seen = []
        outcome = outcome_of(
            hook(fails), hook(lambda context, asked: seen.append(dict(context.state)))
        )

        assert len(outcome.failures) == 1
        assert seen == [{}]
        assert outcome.changes == []

    @pytest.mark.parametrize("is_async", [False, True])
    def test_one_that_hangs_is_given_up_and_named(self, hanging, is_async):
        async def sleeps(context, asked):
            await asyncio.sleep(30)

        slow = sleeps if is_async else hanging

        outcome = outcome_of(
            hook(slow, name=f"slow-{is_async}", timeout_s=SHORT_S),
            hook(lambda context, asked: {"id": 5}),
        )

        assert outcome.value.arguments == {"id": 5}
        assert outcome.failures[0].hook == f"slow-{is_async}"

    def test_what_it_returns_later_is_ignored(self):
        begun, over = threading.Event(), threading.Event()

        def late(context, asked):
            begun.set()
            over.wait(30)
            return {"id": 99}

        outcome = outcome_of(hook(late, timeout_s=SHORT_S))
        over.set()

        assert outcome.value == ASKED
        assert outcome.changed_by == ()

    def test_one_that_hangs_is_not_called_again_and_again(self, hanging):
        own = hook(hanging, name="hangs-for-ever", timeout_s=SHORT_S)

        errors = [outcome_of(own).failures[0].error for _ in range(3)]

        assert "longer than" in errors[1]
        assert "not called until it returns" in errors[2]

    def test_a_loop_goes_on_while_a_hook_hangs(self, hanging):
        ticks = []

        async def scenario():
            async def tick():
                while True:
                    ticks.append(1)
                    await asyncio.sleep(0.005)

            ticking = asyncio.create_task(tick())
            await aask(
                [hook(hanging, timeout_s=SHORT_S)],
                Asking(value=ASKED, context=context),
            )
            ticking.cancel()

        asyncio.run(scenario())

        assert len(ticks) > 2


class TestGuards:
    def test_one_that_raises_refuses(self):
        def broken(context, asked):
            raise ZeroDivisionError

        outcome = outcome_of(hook(broken, name="office hours", guard=True))

        assert outcome.refused == (
            "The check “office hours” of this site failed, so this is not done."
        )

    def test_one_that_hangs_refuses(self, hanging):
        outcome = outcome_of(hook(hanging, guard=True, timeout_s=SHORT_S))

        assert outcome.refused

    @pytest.mark.parametrize("is_async", [False, True])
    def test_one_that_raises_no_plain_exception_refuses(self, is_async):
        def leaves(context, asked):
            raise Leaves

        guard = [hook(leaves, guard=True)]
        asking = Asking(value=ASKED, context=context)
        outcome = asyncio.run(aask(guard, asking)) if is_async else ask(guard, asking)

        assert outcome.refused
        assert outcome.failures[0].error == "Leaves"

    def test_one_that_returns_nonsense_refuses(self):
        assert outcome_of(hook(lambda context, asked: 3, guard=True)).refused


@pytest.mark.row("H11")
class TestContexts:
    def test_two_at_once_share_nothing(self):
        meet = threading.Barrier(2, timeout=30)
        seen = []

        def counts(context, asked):
            context.state["n"] = context.state.get("n", 0) + 1
            meet.wait()
            seen.append((context.run_id, dict(context.state)))

        own = [hook(counts)]
        contexts = [context(), context()]
        threads = [
            threading.Thread(
                target=ask,
                args=(own, Asking(value=ASKED, context=lambda one=one: one)),
            )
            for one in contexts
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert {run_id for run_id, _ in seen} == {one.run_id for one in contexts}
        assert [state for _, state in seen] == [{"n": 1}, {"n": 1}]
        assert all(one.state == {} for one in contexts)

    def test_context_of_a_hook_has_all_but_its_own_state(self):
        given = {field.name: object() for field in fields(RunContext)}
        state = State("shop", {})

        made = with_state(RunContext(**given), state)

        assert made.state is state
        assert {name: getattr(made, name) for name in given} == {
            **given,
            "state": state,
        }
