"""What a stream takes from events that its own process has stored, and what it reads."""

import uuid
from decimal import Decimal

import pytest

from ai_assistant.engine.storage.eventlog import StoredEvent
from ai_assistant.models.usage import UsageLedger
from ai_assistant.render.agui.segment import ClientIds, Segment

TEXT = {"message_id": "m", "offset": 0, "delta": "Hello"}
USED = UsageLedger(model="x", input_tokens=7, output_tokens=2, usd=Decimal(0))


def stored(seq, kind, payload=None, epoch=1):
    return StoredEvent(seq=seq, type=kind, payload=payload or {}, epoch=epoch)


STARTED = stored(1, "RUN_STARTED")
STEP = stored(2, "STEP_STARTED", {"index": 0})
SAID = stored(3, "TEXT_MESSAGE_CONTENT", TEXT)
ENDED = stored(4, "RUN_FINISHED", {"outcome": "success"})


@pytest.fixture
def segment():
    """Of a run that has begun just now, in this process."""
    found = Segment(uuid.uuid4(), ClientIds(thread="t", run="r"))
    found.is_fresh = True
    return found


def said(segment, events, **beside):
    """Return the types of what the client gets; None if rows have to be read."""
    update = segment.heard({"events": events, **beside})
    return (
        None
        if update is None
        else [event.type.value for event in segment.translate(update)]
    )


class TestHeard:
    @pytest.mark.parametrize("first", [[STARTED, STEP, SAID], [STEP, SAID]])
    def test_heard_from_the_first_event_on(self, segment, first):
        assert said(segment, first) == [
            "STEP_STARTED",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
        ]

    def test_the_end_with_its_usage(self, segment):
        said(segment, [STEP, SAID])

        update = segment.heard({"events": [ENDED], "usage": [USED]})

        (end,) = update.last
        assert [one.total_tokens for one in end.usage] == [9]
        assert said(segment, [ENDED], usage=[USED])[-1] == "RUN_FINISHED"
        assert segment.is_over
        assert segment.has_ended

    def test_the_end_alone_is_read_for_its_usage(self, segment):
        said(segment, [STEP, SAID])

        assert said(segment, [ENDED]) is None

    def test_what_is_known_says_nothing(self, segment):
        said(segment, [STEP, SAID])

        assert said(segment, [STEP, SAID]) == []

    @pytest.mark.parametrize(
        "events",
        [
            [SAID],  # one before it is missing
            [STEP, stored(3, "TOOL_CALL_START", {"call_id": "c"})],
            [STEP, stored(3, "CUSTOM", {"name": "aia.replaced", "value": {}})],
            [STEP, stored(3, "RUN_FINISHED", {"outcome": "cancelled"})],
            [STEP, stored(3, "RUN_ERROR", {"code": "x", "message": "x"})],
            [stored(2, "STEP_STARTED", {"index": 0}, epoch=2)],  # of another process
        ],
    )
    def test_rows_are_read_for_the_rest(self, segment, events):
        assert said(segment, events, usage=[USED]) is None

    def test_a_stream_that_has_read_nothing_yet_reads(self, segment):
        segment.is_fresh = False

        assert said(segment, [STARTED, STEP]) is None
