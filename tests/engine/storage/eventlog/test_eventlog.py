"""The numbered facts of a run."""

from uuid import uuid4

import pytest
from django.db import IntegrityError

from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.storage.eventlog import (
    StoredEvent,
    append_by_state,
    append_events,
    events_after,
    open_messages,
    partial_texts,
    steps_until,
    traced_facts,
    under_way,
)
from ai_assistant.events import (
    Custom,
    ReasoningContent,
    ReasoningStart,
    StepStarted,
    TextContent,
    TextStart,
)
from ai_assistant.exceptions import LostLease
from ai_assistant.models.run import Run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run_id(submission):
    """A run whose log has one event, RUN_STARTED."""
    return accept(submission()).run_id


def store(run_id, *facts):
    first = events_after(run_id)[-1].seq + 1
    append_events(run_id, facts, first_seq=first, epoch=3)
    Run.objects.update(next_seq=first + len(facts))


def stored(kind, payload):
    return StoredEvent(seq=1, type=kind, payload=payload, epoch=1)


class TestAppend:
    @pytest.mark.row("D12")
    def test_a_number_is_given_once(self, run_id):
        with pytest.raises(IntegrityError):
            append_events(run_id, [StepStarted(index=0)], first_seq=1, epoch=1)

    def test_append_of_no_events_adds_none(self, run_id):
        append_events(run_id, [], first_seq=2, epoch=1)

        assert [event.seq for event in events_after(run_id)] == [1]

    def test_append_by_state_takes_the_next_numbers(self, run_id):
        append_by_state(run_id, [StepStarted(index=0), StepStarted(index=1)])
        append_by_state(run_id, [StepStarted(index=2)])

        assert [event.seq for event in events_after(run_id)] == [1, 2, 3, 4]

    def test_append_by_state_refuses_a_run_of_another_state(self, run_id):
        with pytest.raises(LostLease):
            append_by_state(run_id, [StepStarted(index=0)], states=("succeeded",))

        assert len(events_after(run_id)) == 1


class TestCallId:
    def test_call_of_an_event(self):
        call = uuid4()
        told = {"name": "aia.waiting", "value": {"call_id": str(call)}}

        assert stored("TOOL_CALL_END", {"call_id": str(call)}).call_id == call
        assert stored("CUSTOM", told).call_id == call

    def test_event_of_no_call_has_none(self):
        assert stored("STEP_STARTED", {"index": 0}).call_id is None
        assert stored("CUSTOM", {"name": "aia.summing", "value": {}}).call_id is None


class TestStepsUntil:
    def test_steps_until_counts_steps_up_to_the_event(self, run_id):
        store(run_id, StepStarted(index=0), StepStarted(index=1))

        assert [steps_until(run_id, seq) for seq in (1, 2, 3)] == [0, 1, 2]


class TestTracedFacts:
    def test_steps_waits_and_takeovers_in_order_and_nothing_else(self, run_id):
        waits = Custom(name="aia.waiting", value={"state": "waiting_retry"})
        store(run_id, StepStarted(index=0), waits, Custom(name="aia.call", value={}))
        resumed = Custom(name="aia.resumed", value={"attempt": 1})
        store(run_id, resumed, StepStarted(index=0))

        facts = traced_facts([run_id])
        assert [(fact.name, fact.value) for fact in facts] == [
            ("STEP_STARTED", {"index": 0}),
            ("aia.waiting", {"state": "waiting_retry"}),
            ("aia.resumed", {"attempt": 1}),
            ("STEP_STARTED", {"index": 0}),
        ]
        assert [fact.at for fact in facts] == sorted(fact.at for fact in facts)


class TestEventsAfter:
    def test_events_after_in_order(self, run_id):
        store(run_id, StepStarted(index=0), StepStarted(index=1))

        assert events_after(run_id, 1) == [
            StoredEvent(seq=2, type="STEP_STARTED", payload={"index": 0}, epoch=3),
            StoredEvent(seq=3, type="STEP_STARTED", payload={"index": 1}, epoch=3),
        ]
        assert len(events_after(run_id)) == 3
        assert events_after(run_id, 3) == []


class TestOpenMessages:
    def test_begun_and_not_stored(self, run_id):
        store(
            run_id,
            ReasoningStart(message_id="a"),
            TextStart(message_id="a"),
            TextStart(message_id="b"),
            TextStart(message_id="c"),
            Custom(name="aia.waiting", value={"state": "waiting_task"}),
            Custom(name="aia.replaced", value={"message_id": "b"}),
        )

        assert open_messages(run_id, {"c"}) == ["a"]

    def test_summary_is_under_way_until_it_is_over(self, run_id):
        assert under_way(run_id, set()) == ([], False)
        store(run_id, Custom(name="aia.summing", value={}))
        assert under_way(run_id, set()) == ([], True)
        store(run_id, Custom(name="aia.summed", value={}))
        assert under_way(run_id, set()) == ([], False)


class TestPartialTexts:
    def test_text_and_reasoning_apart(self, run_id):
        store(
            run_id,
            ReasoningContent(message_id="a", offset=0, delta="Hm"),
            ReasoningContent(message_id="a", offset=2, delta="."),
            TextContent(message_id="a", offset=0, delta="Yes"),
            TextContent(message_id="b", offset=0, delta="No"),
            TextContent(message_id="a", offset=3, delta="."),
        )

        assert partial_texts(run_id, "a") == ("Yes.", "Hm.")
        assert partial_texts(run_id, "z") == ("", "")
