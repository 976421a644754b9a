"""The facts of a run: names of AG-UI 1.0, and of our own."""

from dataclasses import FrozenInstanceError
from typing import get_args

import pytest

from ai_assistant import events

FACTS = get_args(events.Event)
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
        kinds = [kind.__dataclass_fields__["type"].default for kind in FACTS]

        assert set(kinds) == STANDARD
        assert len(kinds) == len(STANDARD)

    def test_cannot_be_changed(self):
        with pytest.raises(FrozenInstanceError):
            events.StepStarted(index=0).index = 1


class TestPayload:
    def test_has_all_but_the_type(self):
        fact = events.TextContent(message_id="m", offset=3, delta="x")

        assert events.payload(fact) == {"message_id": "m", "offset": 3, "delta": "x"}

    def test_of_our_own(self):
        fact = events.Custom(name="aia.stopping", value={})

        assert events.payload(fact) == {"name": "aia.stopping", "value": {}}
