"""What must be true of every run, whatever has happened to it."""

from ai_assistant.models.call import OPEN_CALL, CallStatus
from ai_assistant.models.conversation import Message
from ai_assistant.models.event import RunEvent
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run, RunState


def check_all_runs():
    for run in Run.objects.all():
        check_run(run)


def check_run(run):
    """Assert what holds at any time, and what holds at the end of a run."""
    events = list(RunEvent.objects.filter(run=run).order_by("seq"))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert run.next_seq == len(events) + 1
    check_results(run, events)
    check_texts(run, events)
    if run.state != RunState.RUNNING:
        assert run.owner == ""
    if run.is_final:
        check_end(run, events)


def check_results(run, events):
    """A call has one result, told once, and nothing before it is told."""
    told = [e.payload["call_id"] for e in events if e.type == "TOOL_CALL_RESULT"]
    assert len(told) == len(set(told))
    for call in run.calls.all():
        closed = call.status not in OPEN_CALL
        assert closed == (str(call.pk) in told), call
        assert closed == (call.result is not None), call
        assert bool(call.result_text) == closed or call.result_text == "", call
        assert call.status != CallStatus.COMPLETE or call.result["ok"], call


def check_texts(run, events):
    """The log and the stored messages tell the same text, without gap or doubling."""
    texts = {}
    for event in events:
        if event.type == "TEXT_MESSAGE_CONTENT":
            text = texts.setdefault(event.payload["message_id"], "")
            assert event.payload["offset"] == len(text)
            texts[event.payload["message_id"]] = text + event.payload["delta"]
    replaced = {
        event.payload["value"]["message_id"]
        for event in events
        if event.type == "CUSTOM" and event.payload["name"] == "aia.replaced"
    }
    stored = {
        str(message.pk): message.text
        for message in run.messages.filter(role=Message.Role.ASSISTANT)
    }
    assert not replaced & set(stored)
    for message_id, text in stored.items():
        assert text == texts.get(message_id, "")
    if run.is_final:
        assert set(texts) - replaced <= set(stored)


def check_end(run, events):
    """Nothing is open, and the last event says how it ended."""
    assert not run.calls.filter(status__in=OPEN_CALL).exists()
    assert not run.interrupts.filter(status=Interrupt.Status.OPEN).exists()
    assert run.finished_at is not None
    last = events[-1]
    ends = [e for e in events if e.type in ("RUN_FINISHED", "RUN_ERROR")]
    assert ends == [last]
    if run.state in (RunState.SUCCEEDED, RunState.CANCELLED):
        outcome = "success" if run.state == RunState.SUCCEEDED else "cancelled"
        assert (last.type, last.payload["outcome"]) == ("RUN_FINISHED", outcome)
    else:
        assert (last.type, last.payload["state"]) == ("RUN_ERROR", run.state)
        assert last.payload["message"] == run.error_text != ""
