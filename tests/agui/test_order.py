import pytest

from tests.agui.order import Known, outline
from tests.agui.streams import (
    event,
    faults_of,
    finished,
    interrupt,
    made,
    result,
    said,
    started,
    step,
    thought,
)

CALLED = [*said("m", "x"), *made("c"), result("c")]
FAILED = event("RUN_ERROR", message="It failed.")


def asked(**more):
    call = {"parentToolCallId": "c", "name": "analyst"}
    return event("SUBAGENT_STARTED", subagentRunId="s", **call, **more)


def answered():
    return event("SUBAGENT_FINISHED", subagentRunId="s")


def snapshot(*messages):
    return event("MESSAGES_SNAPSHOT", messages=[*messages])


def answer(own="m", *calls, content="x"):
    told = {"id": own, "role": "assistant", "content": content}
    made_calls = [
        {"id": c, "type": "function", "function": {"name": "echo", "arguments": ""}}
        for c in calls
    ]
    return {**told, "toolCalls": made_calls} if calls else told


def tool(call="c", own="c-result"):
    return {"id": own, "role": "tool", "toolCallId": call, "content": "x"}


def usage(**counts):
    return finished(usage=[{f"{name}Tokens": n for name, n in counts.items()}])


def pending(*calls):
    return finished(outcome={"type": "success", "pendingToolCallIds": [*calls]})


class TestGood:
    @pytest.mark.parametrize(
        "stream",
        [
            [started(), finished()],
            [FAILED],
            [started(), *said("m", "a", "b"), *said("n"), finished()],
            [started(), *thought(), *CALLED, *step("s", *said("n")), FAILED],
            [started(), *CALLED, usage(input=3, output=2, total=5, reasoning=2)],
            [started(), *made("a"), *made("b"), result("b"), result("a"), finished()],
            [started(), snapshot(answer("m", "c"), tool()), *said("n"), finished()],
        ],
    )
    def test_good_has_no_faults(self, stream):
        assert faults_of(*stream) == []

    def test_good_calls_of_the_client_may_stay(self):
        stream = [started(), *made("a"), *made("b", "mine"), result("a")]
        assert faults_of(*stream, pending("b"), mine=["mine"]) == []
        assert faults_of(*stream, finished(), mine=["mine"]) == []

    def test_interrupted_call_may_stay_and_is_answered_later(self):
        known = Known()
        assert faults_of(started(), *made("c"), interrupt("c"), known=known) == []
        assert faults_of(started(), result("c"), finished(), known=known) == []

    def test_activity_may_be_told_again(self):
        told = event("ACTIVITY_SNAPSHOT", messageId="p", activityType="x", content={})
        assert faults_of(started(), told, told, finished()) == []


BROKEN = {
    "first": ([*said(), finished()], "is first"),
    "two starts": ([started(), started(), finished()], "second run"),
    "no end": ([started(), *said()], "without RUN_FINISHED"),
    "nothing": ([], "without RUN_FINISHED"),
    "after the end": ([started(), finished(), *said()], "after RUN_FINISHED"),
    "two ends": ([started(), finished(), finished()], "after RUN_FINISHED"),
    "error after the end": ([started(), finished(), FAILED], "after RUN_FINISHED"),
    "after an error": ([started(), FAILED, finished()], "after RUN_ERROR"),
    "other run": ([started(runId="x"), finished()], "names"),
    "other thread": ([started(threadId="x"), finished()], "names"),
    "other run at the end": ([started(), finished(runId="x")], "names"),
    "other thread at the end": ([started(), finished(threadId="x")], "names"),
    "no version": ([event("RUN_STARTED", threadId="t", runId="r")], "1.0"),
    "the client's version": ([started(protocolVersion="1.9"), finished()], "1.0"),
    "echo": ([started(input={"messages": []}), finished()], "echoes"),
    "text is open": ([started(), said()[0], said()[0]], "open already"),
    "text is not open": ([started(), *said("m", "x")[1:]], "not open"),
    "text ends unopened": ([started(), said()[-1]], "not open"),
    "text at the end": ([started(), said()[0], finished()], "leaves open"),
    "text at an error": ([started(), said()[0], FAILED], "leaves open"),
    "text told twice": ([started(), *said("m"), *said("m"), finished()], "fresh"),
    "call is open": ([started(), made()[0], made()[0]], "open already"),
    "call is not open": ([started(), made()[1]], "not open"),
    "call ends unopened": ([started(), made()[2]], "not open"),
    "call at the end": ([started(), *made()[:2], finished()], "leaves open"),
    "call made twice": ([started(), *CALLED, *made("c")], "made before"),
    "span is open": ([started(), thought()[0], thought()[0]], "open already"),
    "span is not open": ([started(), thought()[-1]], "not open"),
    "span at the end": ([started(), thought()[0], finished()], "leaves open"),
    "thought is not open": ([started(), thought()[2]], "not open"),
    "thought at the end": ([started(), thought()[1], finished()], "leaves open"),
    "thought told twice": ([started(), *thought(), *thought()], "fresh"),
    "thought named as text": ([started(), *said("m"), *thought("m")], "fresh"),
    "step is open": ([started(), step()[0], step()[0]], "open already"),
    "step is not open": ([started(), step()[-1]], "not open"),
    "step at the end": ([started(), step()[0], finished()], "leaves open"),
    "shorthand": ([started(), event("TEXT_MESSAGE_CHUNK", messageId="m")], "no type"),
    "result for nobody": ([started(), result("x"), finished()], "nobody made"),
    "two results": ([started(), *CALLED, result("c", "n")], "second time"),
    "result while open": ([started(), made()[0], result("c")], "which is open"),
    "result named as text": (
        [started(), *said("m"), *made(), result("c", "m")],
        "fresh",
    ),
    "no result": ([started(), *made(), finished()], "not the client's"),
    "no result at an error": ([started(), *made(), FAILED], "without a result"),
    "no result when stopped": (
        [started(), *made(), finished(outcome={"type": "cancelled"})],
        "without a result",
    ),
    "hangs on a thought": ([started(), *thought("m"), *made("c")], "hangs on"),
    "text behind its call": ([started(), *made("c"), *said("m")], "fresh"),
    "interrupt for nothing": ([started(), interrupt("c")], "no open calls"),
    "interrupt for a done call": (
        [started(), *CALLED, interrupt("c")],
        "no open calls",
    ),
    "call without interrupt": (
        [started(), *made("c"), *made("d"), interrupt("c")],
        "without an interrupt",
    ),
    "two interrupts of one id": (
        [
            started(),
            *made("c"),
            finished(
                outcome={
                    "type": "interrupt",
                    "interrupts": [{"id": "i", "reason": "x", "toolCallId": "c"}] * 2,
                }
            ),
        ],
        "two interrupts",
    ),
    "sum": ([started(), usage(input=3, output=2, total=6)], "counts wrong"),
    "no sum": ([started(), usage(input=3, output=2)], "counts wrong"),
    "cached": ([started(), usage(input=3, total=3, cachedInput=4)], "more than"),
    "reasoning": ([started(), usage(output=3, total=3, reasoning=4)], "more than"),
    "unknown is 0": ([started(), usage(input=0, output=0, total=0)], "not known"),
    "custom": ([started(), event("CUSTOM", name="x", value=1)], "not ours"),
    "activity": (
        [started(), event("ACTIVITY_DELTA", messageId="a", activityType="x", patch=[])],
        "nobody told",
    ),
    "snapshot while open": ([started(), said()[0], snapshot()], "is open"),
    "snapshot with one id": ([started(), snapshot(answer(), answer())], "one id"),
    "snapshot with nothing": ([started(), snapshot(answer(content=""))], "empty"),
    "snapshot with one call twice": (
        [started(), snapshot(answer("m", "c"), answer("n", "c"))],
        "twice",
    ),
    "snapshot with a result too many": (
        [started(), snapshot(answer("m", "c"), tool(), tool("c", "n"))],
        "too many",
    ),
    "snapshot with a strange result": ([started(), snapshot(tool())], "too many"),
    "told after its snapshot": (
        [started(), snapshot(answer("m")), *said("m"), finished()],
        "fresh",
    ),
    "made after its snapshot": (
        [started(), snapshot(answer("m", "c"), tool()), *made("c", parent="n")],
        "made before",
    ),
    "agent left open": ([started(), *made("c"), asked(), finished()], "open"),
    "agent ends twice": (
        [started(), *made("c"), asked(), answered(), answered(), finished()],
        "“s” is not open",
    ),
    "agent begins twice": (
        [started(), *made("c"), asked(), answered(), asked(), finished()],
        "“s” was begun before",
    ),
    "agent below one that is not there": (
        [started(), *made("c"), asked(parentSubagentRunId="x"), finished()],
        "hangs on “x”",
    ),
    "agent of a call that has ended": (
        [started(), *made("c"), result("c"), asked(), answered(), finished()],
        "hangs on a call",
    ),
}


class TestBroken:
    @pytest.mark.parametrize("name", BROKEN)
    def test_fault_of_a_broken_stream_is_told(self, name):
        stream, fault = BROKEN[name]
        assert fault in "\n".join(faults_of(*stream))

    @pytest.mark.parametrize(
        "told", [["c"], ["b", "c"], ["c", "b", "x"], ["c", "c", "b"], []]
    )
    def test_pending_calls_are_all_in_order(self, told):
        stream = [started(), *made("c", "mine"), *made("b", "mine"), pending(*told)]
        assert "as pending" in "\n".join(faults_of(*stream, mine=["mine"]))

    def test_ids_are_fresh_across_the_runs_of_a_thread(self):
        known = Known()
        assert faults_of(started(), *CALLED, finished(), known=known) == []
        again = faults_of(started(), *said("m"), *made("c"), finished(), known=known)
        assert "“m” is fresh no more" in again[0]
        assert "“c” was made before" in again[1]

    def test_results_come_once_across_the_runs_of_a_thread(self):
        known = Known()
        assert faults_of(started(), *CALLED, finished(), known=known) == []
        (found,) = faults_of(started(), result("c", "n"), finished(), known=known)
        assert "second time" in found


def test_outline():
    stream = [started(), *said("m", "a", "b"), finished()]
    told = "RUN_STARTED, TEXT_MESSAGE_START, TEXT_MESSAGE_CONTENT x2"
    assert outline(stream) == f"{told}, TEXT_MESSAGE_END, RUN_FINISHED"
