"""
What an answer was made of, for who keeps the site: as it is stored, redacted.

No keys, digests or sealed sessions: only the fields that are named here.
"""

import json
from contextlib import suppress
from typing import Any

from ai_assistant.engine.eventlog import StoredEvent, events_after
from ai_assistant.models.call import ToolCall
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import Run
from ai_assistant.models.step import Step
from ai_assistant.models.usage import UsageLedger
from ai_assistant.render.html.hidden import visible
from ai_assistant.safety.redaction import redact, redact_json

Entry = dict[str, Any]

MOST_EVENTS = 500
EVENT_CHARS = 300
TEXT_CHARS = 20_000  # of one text; the rest is said to be there
RUN = (
    *("state", "error_code", "error_detail", "door", "profile", "module"),
    *("page_path", "page_title", "wish", "look_only", "attempts", "running_s"),
)


def raw_entry(run: Run) -> Entry:
    """Return what `raw.html` draws."""
    steps = Step.objects.filter(run=run).order_by("index")
    calls = ToolCall.objects.filter(run=run).select_related("step")
    usage = UsageLedger.objects.filter(run=run).order_by("created_at")
    said = Message.objects.filter(run=run).order_by("position")
    events = events_after(run.pk, most=MOST_EVENTS + 1)
    return {
        "run": run,
        "facts": [(name, visible(_text(getattr(run, name)))) for name in RUN],
        "context": visible(_text(run.context)),
        "tools": sorted(run.tool_versions.items()),
        "steps": list(steps),
        "usage": list(usage),
        "calls": [_call(call) for call in calls.order_by("step__index", "position")],
        "messages": [
            {
                "role": message.get_role_display(),
                "created_at": message.created_at,
                "parts": visible(_text(message.parts)),
            }
            for message in said
        ],
        "events": [_event(event) for event in events[:MOST_EVENTS]],
        "has_more": len(events) > MOST_EVENTS,
    }


def _call(call: ToolCall) -> Entry:
    begin, end = call.started_at or call.created_at, call.finished_at
    return {
        "call": call,
        "arguments": visible(_text(call.arguments or call.arguments_text)),
        "result": visible(_text(call.result_text)),
        "traceback": visible(redact(call.traceback)),
        "seconds": (end - begin).total_seconds() if end else None,
    }


def _event(event: StoredEvent) -> Entry:
    told = json.dumps(redact_json(event.payload), ensure_ascii=False)
    cut = told if len(told) <= EVENT_CHARS else f"{told[:EVENT_CHARS]} …"
    return {"seq": event.seq, "type": event.type, "told": visible(cut)}


def _text(value: object) -> str:
    """Return a value as it may be shown: once more without secrets, cut."""
    if isinstance(value, str):
        with suppress(ValueError):  # a result is told to the model as JSON mostly
            value = json.loads(value)
    is_text = isinstance(value, str)
    text = redact(str(value)) if is_text else _set_out(redact_json(value))
    return text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS]} …"


def _set_out(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
