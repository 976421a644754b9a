"""What a run did, and when: the picture on its page in the admin."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.db.models import Q
from django.template.defaultfilters import floatformat
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.engine.interrupts.base import kind_names
from ai_assistant.engine.storage.eventlog import step_starts
from ai_assistant.models import clock
from ai_assistant.models.call import WORKED_CALL, ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run, Step
from ai_assistant.models.usage import UsageLedger
from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.render.html.transcript.footer import duration
from ai_assistant.text.hidden_characters import mark_hidden_characters

WIDTH = 1000  # of a bar's picture
LEAST = 4  # of it, that a bar takes
BRIEF_S = 10.0
# Not its result and its arguments, which may be long.
OF_CALL = ("name", "status", "parent", "started_at", "finished_at", "created_at")
IDLE_SHARE = 0.1  # of the work, that a time without any takes at most


@dataclass(frozen=True, kw_only=True, slots=True)
class TraceSpan:
    """
    Something that took a part of the time of a run.

    `kind` is one of wait, model, tool, person and agent; `end` is None while it goes on.
    """

    kind: str
    title: str
    start: datetime
    end: datetime | None
    detail: str = ""
    key: Any = None  # of the call, or the run of an agent
    depth: int = 0

    @property
    def is_work(self) -> bool:
        """Whether something of ours is at work, and nobody is waited for."""
        return self.kind in ("model", "tool")


def trace_entry(run: Run) -> Entry:
    """Return what `trace.html` draws: what took time, and the model calls."""
    steps = list(run.steps.order_by("index"))
    spans = sorted(_spans(run, steps), key=lambda span: (span.start, span.depth))
    now = run.finished_at or clock.now()
    places = _places(spans, now)
    return {
        "spans": [_drawn(span, places, run.created_at, now) for span in spans],
        "steps": _model_calls(run, steps),
    }


# --- what took time ---


def _spans(run: Run, steps: list[Step]) -> Iterator[TraceSpan]:
    yield from _of_model(run, steps)
    yield from _of_calls(run)
    yield from _of_people(run)
    yield from _of_agents(run)


def _of_model(run: Run, steps: list[Step]) -> Iterator[TraceSpan]:
    begun = step_starts(run.pk)
    first = begun[0][1] if begun else run.finished_at
    yield TraceSpan(kind="wait", title=_("Queue"), start=run.created_at, end=first)
    stored = {step.index: step for step in steps}
    for number, (index, start) in enumerate(begun):
        later = begun[number + 1 :]
        again = next((at for other, at in later if other == index), None)
        step = stored.get(index)
        yield TraceSpan(
            kind="model",
            title=_("Model call %(number)s") % {"number": index + 1},
            detail=_("begun again") if again else _name_of(step),
            start=start,
            end=again or (step.created_at if step else run.finished_at),
        )


def _name_of(step: Step | None) -> str:
    return step.model if step else ""


def _of_calls(run: Run) -> Iterator[TraceSpan]:
    # What only reads is not claimed: it has no time at which it was started.
    worked = Q(started_at__isnull=False) | Q(status__in=WORKED_CALL)
    for call in ToolCall.objects.filter(worked, run=run).only(*OF_CALL):
        yield TraceSpan(
            kind="tool",
            title=mark_hidden_characters(call.name),
            detail=str(call.get_status_display()),
            start=call.work_started_at,
            end=call.finished_at,
            key=call.pk,
            depth=1 if call.parent_id else 0,
        )


def _of_people(run: Run) -> Iterator[TraceSpan]:
    asked = Interrupt.objects.filter(run=run, kind__in=kind_names(for_person=True))
    names = {str(kind): kind.label for kind in Interrupt.Kind}
    asked = asked.select_related("call", "decided_by")
    for interrupt in asked.defer("proposal", "request", "call__result", "call__shown"):
        who = f", {interrupt.decided_by}" if interrupt.decided_by else ""
        kind = capfirst(names.get(interrupt.kind, interrupt.kind))
        yield TraceSpan(
            kind="person",
            title=f"{kind}: {mark_hidden_characters(interrupt.call.name)}",
            detail=f"{interrupt.get_status_display()}{who}",
            start=interrupt.created_at,
            end=interrupt.decided_at or run.finished_at,
            key=interrupt.call_id,
        )


def _of_agents(run: Run) -> Iterator[TraceSpan]:
    asked = Run.objects.filter(conversation__parent_call__run=run)
    for child in asked:
        yield TraceSpan(
            kind="agent",
            title=_("Agent %(name)s") % {"name": child.agent},
            detail=str(child.get_state_display()),
            start=child.created_at,
            end=child.finished_at,
            key=child.pk,
        )


# --- where it stands in the picture ---


def _places(spans: Iterable[TraceSpan], now: datetime) -> dict[datetime, float]:
    """
    Return the place of each beginning and end, from 0 to WIDTH.

    A night in which a person is waited for would leave no room for the work: times
    without work are shortened.
    """
    spans = list(spans)
    moments = sorted({at for span in spans for at in (span.start, span.end or now)})
    work = [
        any(s.is_work and s.start <= begin and (s.end or now) >= end for s in spans)
        for begin, end in pairwise(moments)
    ]
    took = [(end - begin).total_seconds() for begin, end in pairwise(moments)]
    worked = sum(t for t, is_work in zip(took, work, strict=True) if is_work)
    longest = worked * IDLE_SHARE or max(took, default=0.0)
    widths = [t if w else min(t, longest) for t, w in zip(took, work, strict=True)]
    scale = WIDTH / (sum(widths) or 1.0)
    places, place = dict.fromkeys(moments[:1], 0.0), 0.0
    for moment, width in zip(moments[1:], widths, strict=True):
        place += width * scale
        places[moment] = place
    return places


def _drawn(
    span: TraceSpan, places: dict[datetime, float], began: datetime, now: datetime
) -> Entry:
    end = span.end or now
    x = min(places[span.start], WIDTH - LEAST)
    return {
        "kind": span.kind,
        "title": span.title,
        "detail": span.detail,
        "key": span.key,
        "depth": span.depth,
        "after": _seconds(span.start - began),
        "took": _seconds(end - span.start),
        "goes_on": span.end is None,
        "x": round(x),
        "width": round(max(places.get(end, x) - x, LEAST)),
    }


def _seconds(took: timedelta) -> str:
    """Return a time in words, of which parts of a second count if it is short."""
    seconds = max(took.total_seconds(), 0.0)
    if seconds >= BRIEF_S:
        return duration(seconds)
    return _("%(seconds)s s") % {"seconds": floatformat(seconds, 2)}


# --- model calls ---


def _model_calls(run: Run, steps: list[Step]) -> list[Entry]:
    settled = UsageLedger.objects.filter(run=run, state=UsageLedger.State.SETTLED)
    took = {row.step_index: row for row in settled}
    return [{"step": step, "took": took.get(step.index)} for step in steps]
