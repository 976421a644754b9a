"""The facts of a run: names of AG-UI 1.0, and of our own."""

from dataclasses import FrozenInstanceError, asdict

import pytest

from ai_assistant import events

STANDARD = {
    "RUN_STARTED",
    "RUN_FINISHED",
    "RUN_ERROR",
    "STEP_STARTED",
    "STEP_FINISHED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "REASONING_START",
    "REASONING_MESSAGE_CONTENT",
    "REASONING_END",
    "TOOL_CALL_START",
    "TOOL_CALL_ARGS",
    "TOOL_CALL_END",
    "TOOL_CALL_RESULT",
    "CUSTOM",
}


class TestEvents:
    def test_types(self):
        kinds = [fact.type for fact in events.Event.__subclasses__()]

        assert set(kinds) == STANDARD
        assert len(kinds) == len(STANDARD)

    def test_events_cannot_be_changed(self):
        with pytest.raises(FrozenInstanceError):
            events.StepStarted(index=0).index = 1

    def test_fields_are_all_but_the_type(self):
        fact = events.TextContent(message_id="m", offset=3, delta="x")

        assert asdict(fact) == {"message_id": "m", "offset": 3, "delta": "x"}
