"""What a run did, and when: the picture on its page in the admin."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.template.defaultfilters import floatformat
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.engine.storage.eventlog import TracedFact, traced_facts
from ai_assistant.models import clock
from ai_assistant.models.call import WORKED_CALL, ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run, RunState, Step
from ai_assistant.render.html.trace.rows import TraceRows
from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.render.html.transcript.footer import duration
from ai_assistant.text.hidden_characters import mark_hidden_characters

WIDTH = 1000  # of a bar's picture
LEAST = 4  # of it, that a bar takes
BRIEF_S = 10.0
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


def timeline_entry(rows: TraceRows) -> Entry:
    """Return what `trace.html` draws: what took time, and the agents that were asked."""
    spans = _spans_of(rows)
    return {
        "spans": _drawn_all(rows.run, spans[rows.run.pk]),
        "children": [
            {"run": one, "spans": _drawn_all(one, spans[one.pk])}
            for one in rows.runs[1:]
        ],
    }


# --- what took time ---


def _spans_of(rows: TraceRows) -> Mapping[UUID, list[TraceSpan]]:
    """Return what took the time of each run."""
    facts: dict[UUID, list[TracedFact]] = defaultdict(list)
    for fact in traced_facts([run.pk for run in rows.runs]):
        facts[fact.run_id].append(fact)
    found = {
        run.pk: [
            *_of_model(run, facts[run.pk], rows.steps.get(run.pk, [])),
            *_of_calls(rows.calls.get(run.pk, [])),
            *_of_people(run, rows),
        ]
        for run in rows.runs
    }
    found[rows.run.pk] += map(_of_agent, rows.children)
    return found


def _of_model(
    run: Run, facts: list[TracedFact], steps: list[Step]
) -> Iterator[TraceSpan]:
    begun = [(one.value["index"], one.at) for one in facts if "index" in one.value]
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
    for number, fact in enumerate(facts):
        after = facts[number + 1].at if number + 1 < len(facts) else run.finished_at
        if fact.value.get("state") == RunState.WAITING_RETRY:
            title = _("Wait before another try")
            yield TraceSpan(kind="wait", title=title, start=fact.at, end=after)
        elif fact.name == "aia.resumed":
            attempt = {"number": fact.value.get("attempt", "")}
            yield TraceSpan(
                kind="wait",
                title=_("Taken over by another process"),
                detail=_("interruption %(number)s") % attempt,
                start=fact.at,
                end=fact.at,
            )


def _name_of(step: Step | None) -> str:
    return step.model if step else ""


def _of_calls(calls: Iterable[ToolCall]) -> Iterator[TraceSpan]:
    for call in calls:
        # What only reads is not claimed: it has no time at which it was started.
        if call.started_at is None and call.status not in WORKED_CALL:
            continue
        yield TraceSpan(
            kind="tool",
            title=mark_hidden_characters(call.name),
            detail=str(call.get_status_display()),
            start=call.work_started_at,
            end=call.finished_at,
            key=call.pk,
            depth=1 if call.parent_id else 0,
        )


def _of_people(run: Run, rows: TraceRows) -> Iterator[TraceSpan]:
    names = {call.pk: call.name for call in rows.calls.get(run.pk, [])}
    kinds = {str(kind): kind.label for kind in Interrupt.Kind}
    for interrupt in rows.asked.get(run.pk, []):
        who = f", {interrupt.decided_by}" if interrupt.decided_by else ""
        kind = capfirst(kinds.get(interrupt.kind, interrupt.kind))
        name = mark_hidden_characters(names.get(interrupt.call_id, ""))
        yield TraceSpan(
            kind="person",
            title=f"{kind}: {name}",
            detail=f"{interrupt.get_status_display()}{who}",
            start=interrupt.created_at,
            end=interrupt.decided_at or run.finished_at,
            key=interrupt.call_id,
        )


def _of_agent(child: Run) -> TraceSpan:
    return TraceSpan(
        kind="agent",
        title=_("Agent %(name)s") % {"name": child.agent},
        detail=str(child.get_state_display()),
        start=child.created_at,
        end=child.finished_at,
        key=child.pk,
    )


# --- where it stands in the picture ---


def _drawn_all(run: Run, spans: Iterable[TraceSpan]) -> list[Entry]:
    ordered = sorted(spans, key=lambda span: (span.start, span.depth))
    now = run.finished_at or clock.now()
    places = _places(ordered, now)
    return [_drawn(span, places, run.created_at, now) for span in ordered]


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
        "after": seconds_words(span.start - began),
        "took": seconds_words(end - span.start),
        "goes_on": span.end is None,
        "x": round(x),
        "width": round(max(places.get(end, x) - x, LEAST)),
    }


def seconds_words(took: timedelta) -> str:
    """Return a time in words, of which parts of a second count if it is short."""
    seconds = max(took.total_seconds(), 0.0)
    if seconds >= BRIEF_S:
        return duration(seconds)
    return _("%(seconds)s s") % {"seconds": floatformat(seconds, 2)}
