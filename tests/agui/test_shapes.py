import pytest

from tests.agui.shapes import EVENTS, shape_faults
from tests.agui.streams import event, finished, interrupt, result, started


def snapshot(**message):
    return event("MESSAGES_SNAPSHOT", messages=[{"id": "a", **message}])


def outcome(**members):
    return finished(outcome=members)


class TestShapes:
    def test_all_of_the_protocol_are_there(self):
        chunks = {
            "TEXT_MESSAGE_CHUNK",
            "TOOL_CALL_CHUNK",
            "REASONING_MESSAGE_CHUNK",
        }
        assert len({*EVENTS, *chunks}) == 31

    @pytest.mark.parametrize(
        "good",
        [
            started(timestamp=1, metadata={"a": None}),
            finished(usage=[{"inputTokens": 1, "totalTokens": 1}], result=None),
            outcome(type="success", pendingToolCallIds=[]),
            interrupt(expiresAt="2026-11-22T10:00:00+00:00", responseSchema={}),
            result(content=[{"type": "text", "text": "x"}]),
            event("CUSTOM", name="aia.x", value=None),
            event("STATE_SNAPSHOT", snapshot=None),
            snapshot(role="assistant", toolCalls=[]),
            event("ACTIVITY_SNAPSHOT", messageId="a", activityType="x", content={}),
        ],
    )
    def test_good_one_has_no_faults(self, good):
        assert shape_faults(good) == []

    @pytest.mark.parametrize(
        ("broken", "fault"),
        [
            (event("THINKING_START"), "no type"),
            (event("META", name="x"), "no type"),
            (event("STEP_STARTED"), "lacks “stepName”"),
            (event("STEP_STARTED", step_name="a", stepName="a"), "not define"),
            (event("STEP_STARTED", stepName=1), "no name"),
            (started(parentRunId=None), "null"),
            (started(timestamp=1.5), "whole number"),
            (started(timestamp=True), "whole number"),
            (started(metadata=None), "null"),
            (started(runId=7), "no name"),
            (event("CUSTOM", name="aia.x"), "lacks “value”"),
            (event("TEXT_MESSAGE_CONTENT", messageId="a", delta=None), "null"),
            (event("TEXT_MESSAGE_START", messageId="a", role="tool"), "none of"),
            (event("REASONING_MESSAGE_START", messageId="a"), "lacks “role”"),
            (
                event("REASONING_MESSAGE_START", messageId="a", role="assistant"),
                "none of",
            ),
            (event("RUN_ERROR", message=""), "no name"),
            (event("RUN_ERROR", message="x", code=None), "null"),
            (outcome(type="stopped"), "outcome.type"),
            (finished(outcome=None), "null"),
            (outcome(type="cancelled", reason="x"), "not define"),
            (outcome(type="success", pendingToolCallIds=None), "null"),
            (outcome(type="interrupt", interrupts=[]), "1 or more"),
            (interrupt(expiresAt="tomorrow"), "moment"),
            (interrupt(expiresAt="2026-11-22T10:00:00"), "moment"),
            (interrupt(message=None), "null"),
            (interrupt(responseSchema="x"), "no object"),
            (finished(usage=[]), "1 or more"),
            (finished(usage=[{"inputTokens": None}]), "null"),
            (finished(usage=[{"input_tokens": 1}]), "not define"),
            (snapshot(role="assistant", content=None), "null"),
            (snapshot(role="robot", content=""), "role"),
            (snapshot(role="tool", content="x"), "lacks “toolCallId”"),
            (
                snapshot(role="assistant", toolCalls=[{"id": "c", "type": "function"}]),
                "lacks “function”",
            ),
            (snapshot(role="user", content=[{"type": "binary"}]), "type"),
            (
                snapshot(
                    role="user",
                    content=[
                        {"type": "image", "source": {"type": "ftp", "value": "x"}}
                    ],
                ),
                "source.type",
            ),
            (
                event("ACTIVITY_SNAPSHOT", messageId="a", activityType="x", content=1),
                "no",
            ),
        ],
    )
    def test_fault(self, broken, fault):
        (found, *_more) = shape_faults(broken)
        assert fault in found

    @pytest.mark.parametrize(
        "broken",
        [
            outcome(type="cancelled"),
            outcome(type="success", pendingToolCallIds=["c"]),
            result(content=[]),
        ],
    )
    def test_what_kills_an_old_client(self, broken):
        assert shape_faults(broken) == []
        assert len(shape_faults(broken, is_new=False)) == 1
