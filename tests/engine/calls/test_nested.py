"""A tool that calls another: one approval, one transaction, a result for each."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from ai_assistant import Ask, RunContext, ToolFailed
from ai_assistant.changes.values import Changes
from ai_assistant.engine.calls import background
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.models.call import ToolCall
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume, said, statuses
from tests.engine.people import given
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


def children(run):
    return list(run.calls.exclude(parent=None).order_by("position"))


def calling(name, **arguments):
    def parent(context: RunContext) -> dict:
        return {"child": context.call_tool(name, **arguments).data}

    return parent


def errors_of(run):
    return [one.result["error"] for one in run.calls.filter(parent=None)]


class TestChild:
    def test_child_has_a_row_and_a_result_of_its_own(self, play, script, offer):
        offer(calling("read_big", chars=3))
        script.add(reply("", call("parent")), "Done.")

        run = play()

        parent = run.calls.get(parent=None)
        (child,) = children(run)
        assert (run.state, parent.status, child.status) == (
            "succeeded",
            "complete",
            "complete",
        )
        assert (child.parent_id, child.position) == (parent.pk, 1000)
        assert (child.arguments, child.result["data"]) == (
            {"chars": 3},
            {"text": "xxx"},
        )
        assert child.version
        assert parent.result["data"] == {"child": {"text": "xxx"}}

    def test_child_is_no_message_to_the_model(self, play, script, offer):
        offer(calling("read_big", chars=3))
        script.add(reply("", call("parent")), reply("", call("parent")), "Done.")

        run = play()

        told = script.requests[-1].messages
        assert [m["role"] for m in told if m["role"] == "tool"] == ["tool"] * 2
        assert len(children(run)) == 2
        assert said(run).endswith("Done.")

    def test_child_fails_without_its_parent(self, play, script, offer):
        def parent(context: RunContext) -> dict:
            result = context.call_tool("boom")
            return {"ok": result.ok, "type": result.error_type}

        offer(parent)
        script.add(reply("", call("parent")), "Done.")

        run = play()

        assert statuses(run) == ["complete", "failed"]
        assert run.calls.get(parent=None).result["data"] == {
            "ok": False,
            "type": "exception",
        }

    def test_wrong_arguments_are_a_result(self, play, script, offer):
        def parent(context: RunContext) -> str:
            return context.call_tool("read_big", chars="many").error_type

        offer(parent)
        script.add(reply("", call("parent")), "Done.")

        assert play().calls.get(parent=None).result["data"] == "retry"

    def test_child_of_a_child(self, play, script, offer):
        offer(calling("b"), name="a")
        offer(calling("c"), name="b")
        offer(calling("read_big", chars=1), name="c")
        script.add(reply("", call("a")), "Done.")

        run = play()

        assert [(c.parent.name, c.name) for c in children(run)] == [
            ("a", "b"),
            ("b", "c"),
            ("c", "read_big"),
        ]

    def test_child_needs_its_own_permission(self, play, script, offer, staff):
        offer(calling("closed"))
        offer(lambda: 1, name="closed", permission="shop.nobody")
        script.add(reply("", call("parent")), "Done.")

        run = play(user_id=staff.pk)

        (child,) = children(run)
        assert (child.status, child.reason) == ("denied", "permission")


class TestWrites:
    @pytest.fixture
    def write(self, offer):
        offer(
            calling("write_effect", key="a"),
            name="write",
            effect="write",
            policy="allow",
        )

    def test_writes_in_the_transaction_of_the_parent(self, play, script, write):
        script.add(reply("", call("write")), "Done.")

        run = play()

        assert statuses(run) == ["complete", "complete"]
        assert Effect.objects.get().key == "a"

    def test_writes_are_undone_with_the_parent(self, play, script, offer):
        def parent(context: RunContext) -> None:
            context.call_tool("write_effect", key="a")
            raise ToolFailed("No.")

        offer(parent, effect="write", policy="allow")
        script.add(reply("", call("parent")), "I see.")

        run = play()

        assert statuses(run) == ["failed"]
        assert not Effect.objects.exists()

    def test_writes_of_a_failed_child_alone_are_undone(self, play, script, offer):
        def half(context: RunContext) -> None:
            Effect.objects.create(key="half", run=context.run_id)
            raise ToolFailed("No.")

        def parent(context: RunContext) -> str:
            Effect.objects.create(key="own", run=context.run_id)
            return context.call_tool("half").error

        offer(half, effect="write", policy="allow")
        offer(parent, effect="write", policy="allow")
        script.add(reply("", call("parent")), "I see.")

        run = play()

        assert statuses(run) == ["complete", "failed"]
        assert Effect.objects.get().key == "own"

    def test_writes_in_a_piece_of_a_background_tool(
        self, play, script, offer, given_out
    ):
        offer(
            calling("write_effect", key="a"),
            name="long",
            effect="write",
            policy="allow",
            background=True,
        )
        script.add(reply("", call("long")), "Done.")
        run = play()

        background.perform(given_out.pop())
        run = resume(run)

        assert (run.state, statuses(run)) == ("succeeded", ["complete"] * 2)
        assert Effect.objects.get().key == "a"

    def test_a_read_is_kept_in_the_preview_of_a_background_tool(
        self, play, script, offer, options
    ):
        def look(context: RunContext) -> Changes:
            context.call_tool("read_big", chars=3)
            return Changes(title="Work")

        options(POLICY={})
        offer(
            calling("write_effect", key="a"),
            effect="write",
            background=True,
            preview=look,
        )
        script.add(reply("", call("parent")), "Done.")

        run = play()

        assert run.state == "waiting_approval"
        assert [(one.name, one.status) for one in children(run)] == [
            ("read_big", "complete")
        ]

    def test_writes_not_in_prepare(self, play, script, offer):
        offer(
            lambda: None,
            name="write",
            effect="write",
            policy="allow",
            prepare=calling("write_effect", key="a"),
        )
        script.add(reply("", call("write")), "I see.")

        run = play()

        assert statuses(run) == ["failed"]
        assert not Effect.objects.exists()


class TestStronger:
    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("write_effect", "has the effect 'read'"),
            ("nothing", "which is not registered"),
            ("background_steps", "with 'write'"),
            ("parent", "which is already calling it"),
        ],
    )
    def test_child_with_a_stronger_effect_is_refused(
        self, play, script, offer, name, told
    ):
        offer(calling(name))
        script.add(reply("", call("parent")), "I see.")

        run = play()

        assert statuses(run) == ["failed"]
        assert told in errors_of(run)[0]

    def test_a_background_child_too(self, play, script, offer):
        offer(calling("background_steps", n=1), effect="write", policy="allow")
        script.add(reply("", call("parent")), "I see.")

        assert "cannot be part of another call" in errors_of(play())[0]

    def test_too_deep(self, play, script, offer):
        for name, child in zip("abcd", "bcde", strict=True):
            offer(calling(child), name=name)
        offer(lambda: 1, name="e")
        script.add(reply("", call("a")), "I see.")

        run = play()

        assert [c.name for c in children(run)] == ["b", "c", "d"]
        assert "too deeply" in children(run)[-1].result["error"]

    def test_an_approval_that_the_parent_did_not_have(
        self, play, script, offer, options
    ):
        options(POLICY={"write_effect": "ask"})
        offer(calling("write_effect", key="a"), effect="write", policy="allow")
        script.add(reply("", call("parent")), "I see.")

        run = play()

        (child,) = children(run)
        assert (child.status, child.result["error_type"]) == ("denied", "policy")
        assert not Effect.objects.exists()

    def test_but_not_one_that_it_had(self, play, script, offer, options):
        options(POLICY={"write_effect": "ask"})
        offer(calling("write_effect", key="a"), effect="write")
        script.add(reply("", call("parent")), "Done.")
        run = play()

        run.interrupts.update(status="approved")
        ToolCall.objects.filter(run=run).update(approved=True, status="pending")
        type(run).objects.filter(pk=run.pk).update(state="queued")
        run = resume(run)

        assert (run.state, statuses(run)) == ("succeeded", ["complete"] * 2)
        assert Effect.objects.get().key == "a"

    def test_an_async_tool_is_told_so(self, play, script, offer):
        async def parent(context: RunContext) -> None:
            context.call_tool("read_big", chars=1)

        offer(parent)
        script.add(reply("", call("parent")), "I see.")

        assert "cannot be called in an 'async def'" in errors_of(play())[0]


class TestAsk:
    def test_ask_of_a_child_asks_for_the_parent(self, play, script, offer):
        def asking(context: RunContext) -> str:
            if "colour" not in context.answers:
                raise Ask("Which colour?", key="colour")
            return context.answers["colour"]

        offer(asking)
        offer(calling("asking"))
        script.add(reply("", call("parent")), "Done.")
        run = play()

        one = run.interrupts.get()
        assert one.call.name == "parent"
        assert children(run) == []

        run.interrupts.update(status="answered", answer="red")
        ToolCall.objects.filter(run=run).update(status="pending")
        type(run).objects.filter(pk=run.pk).update(state="queued")
        run = resume(run)

        assert run.calls.get(parent=None).result["data"] == {"child": "red"}

    def test_an_answer_is_for_its_own_question_only(self, play, script, offer):
        def parent(context: RunContext) -> list:
            asked = [
                context.call_tool("ask_user", question=text, kind="confirm").data
                for text in ("Delete A?", "Delete B?")
            ]
            return [[one["question"], one["answer"]] for one in asked]

        offer(parent, effect="ui")
        script.add(reply("", call("parent")), "Done.")
        run = play()
        assert run.interrupts.get(status="open").question == "Delete A?"
        answer(given(run, text="yes"))
        run = resume(run)
        assert run.interrupts.get(status="open").question == "Delete B?"
        answer(given(run, text="no"))

        run = resume(run)

        assert run.calls.get(parent=None).result["data"] == [
            ["Delete A?", True],
            ["Delete B?", False],
        ]

    def test_a_parent_and_its_child_have_answers_of_their_own(
        self, play, script, offer
    ):
        def asking(context: RunContext) -> list:
            if "answer" not in context.answers:
                raise Ask("The child's?")
            return sorted(context.answers.items())

        def parent(context: RunContext) -> list:
            below = context.call_tool("asking").data
            if "answer" not in context.answers:
                raise Ask("The parent's?")
            return [below, sorted(context.answers.items())]

        offer(asking)
        offer(parent)
        script.add(reply("", call("parent")), "Done.")
        run = play()
        for text in ("low", "high"):
            answer(given(run, text=text))
            run = resume(run)

        assert run.calls.get(parent=None).result["data"] == [
            [["answer", "low"]],
            [["answer", "high"]],
        ]

    def test_ask_of_a_child_of_a_child(self, play, script, offer):
        def asking(context: RunContext) -> str:
            if "answer" not in context.answers:
                raise Ask("Which?")
            return context.answers["answer"]

        offer(asking)
        offer(calling("asking"), name="middle")
        offer(calling("middle"))
        script.add(reply("", call("parent")), "Done.")
        run = play()
        answer(given(run, text="red"))

        data = resume(run).calls.get(parent=None).result["data"]

        assert data == {"child": {"child": "red"}}


class TestAsync:
    def test_all_of_a_generator_is_taken(self, play, script, offer):
        async def counting():
            for number in range(3):
                yield number

        offer(counting)
        offer(calling("counting"))
        script.add(reply("", call("parent")), "Done.")

        run = play()

        assert run.calls.get(parent=None).result["data"] == {"child": 2}

    def test_a_generator_that_raises(self, play, script, offer):
        async def counting():
            yield 1
            raise ToolFailed("Halfway.")

        offer(counting)
        offer(calling("counting"))
        script.add(reply("", call("parent")), "Done.")

        (child,) = children(play())

        assert (child.status, child.result["error"]) == ("failed", "Halfway.")


class TestAtOnce:
    def test_no_two_have_the_same_number(self):
        numbers = count(1)

        with ThreadPoolExecutor(max_workers=8) as pool:
            taken = list(pool.map(lambda _: next(numbers), range(1000)))

        assert sorted(taken) == list(range(1, 1001))

    def test_no_two_have_the_same_key(self, play, script, offer):
        def key(context: RunContext, n: int) -> str:
            return context.idempotency_key

        def parent(context: RunContext) -> list:
            results = [context.call_tool(name, n=1) for name in ("boom", "key", "key")]
            return [one.data for one in results[1:]]

        offer(key)
        offer(parent)
        script.add(reply("", call("parent")), "Done.")

        keys = play().calls.get(parent=None).result["data"]

        assert [one.rpartition("/")[2] for one in keys] == ["2", "3"]


async def waiting() -> str:
    async with asyncio.timeout(20):
        await asyncio.Event().wait()
    return "It came."


async def drawing():
    yield "Nothing yet."
    yield await waiting()


async def pausing() -> str:
    for _ in range(20):
        await asyncio.sleep(0)
    return "It came."


class TestAsyncChild:
    @pytest.mark.parametrize("child", [waiting, drawing])
    def test_async_child_has_what_is_left_of_the_parents_transaction(
        self, play, script, offer, options, child
    ):
        told = []

        def parent(context: RunContext) -> None:
            Effect.objects.create(key="a", run=context.run_id)
            told.append(context.call_tool("child"))

        options(TIMEOUTS={"WRITE_S": 0.05})
        offer(child, name="child")
        offer(parent, effect="write", policy="allow")
        script.add(reply("", call("parent")), "I see.")

        run = play()

        assert "“Child” timed out: 0.0 s were left" in told[0].error
        assert (run.state, statuses(run)) == ("succeeded", ["failed"])
        assert not Effect.objects.exists()  # the parent was too slow with it

    def test_two_share_it(self, play, script, offer, options):
        told = []

        def parent(context: RunContext) -> None:
            told.extend(context.call_tool("child", n=n) for n in range(2))

        async def child(n: int) -> str:
            return await (waiting() if n == 0 else pausing())

        options(TIMEOUTS={"WRITE_S": 0.05})
        offer(child, name="child")
        offer(parent, effect="write", policy="allow")
        script.add(reply("", call("parent")), "I see.")

        play()

        assert [result.ok for result in told] == [False, False]

    @pytest.mark.parametrize("where", ["read", "prepare"])
    def test_where_no_transaction_is_open(self, play, script, offer, options, where):
        told = []

        def ask(context: RunContext) -> None:
            told.append(context.call_tool("pausing"))

        options(TIMEOUTS={"WRITE_S": 1e-9})
        offer(pausing)
        if where == "read":
            offer(ask, name="parent")
        else:
            offer(lambda context: None, name="parent", effect="write", prepare=ask)
            options(POLICY={"parent": "allow"})
        script.add(reply("", call("parent")), "Done.")

        play()

        assert told[0].data == "It came."
