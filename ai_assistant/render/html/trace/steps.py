"""The model calls of a run: what was said, which tools were called, and who approved."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from django.urls import NoReverseMatch, reverse
from django.utils.text import Truncator, capfirst
from django.utils.translation import gettext as _

from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import RowChange
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run, Step
from ai_assistant.models.usage import UsageLedger
from ai_assistant.render.html.cards.body import shown_text
from ai_assistant.render.html.run_texts import object_words
from ai_assistant.render.html.trace.rows import TraceRows
from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.text.hidden_characters import mark_hidden_characters
from ai_assistant.text.redaction.redact import redact

TEXT_CHARS = 2000  # of a text, of arguments and of a result
MOST_OBJECTS = 5  # of a change
MOST_ROWS = 500


def step_entries(rows: TraceRows, *, names_objects: bool) -> list[Entry]:
    """Return what `trace_step.html` draws of each model call of a run."""
    run = rows.run
    settled = UsageLedger.objects.filter(run=run, state=UsageLedger.State.SETTLED)
    took = {row.step_index: row for row in settled}
    calls = _calls(rows, _changed(run) if names_objects else {})
    return [
        {
            "step": step,
            "took": took.get(step.index),
            **_said(step),
            "calls": calls.get(step.pk, []),
        }
        for step in rows.steps.get(run.pk, [])
    ]


def hook_failures(run: Run) -> list[Entry]:
    """Return the failures of hooks that are kept with a run."""
    return [
        {**one, "error": mark_hidden_characters(redact(str(one.get("error", ""))))}
        for one in run.hook_errors
        if isinstance(one, dict)
    ]


def _said(step: Step) -> Entry:
    parts = [part for part in step.message.parts if isinstance(part, dict)]
    thought = (part.get("text", "") for part in parts if part["type"] == "reasoning")
    return {
        "text": _cut(step.message.text),
        "reasoning": _cut("\n\n".join(thought)),
    }


def _cut(text: str) -> str:
    shown = Truncator(redact(text)).chars(TEXT_CHARS)
    return mark_hidden_characters(shown)


# --- calls ---


def _calls(
    rows: TraceRows, changed: Mapping[UUID, list[Entry]]
) -> Mapping[int, list[Entry]]:
    """Return the calls of each step, in order, with all that belongs to them."""
    asked = _asked(rows)
    agents = {one.conversation.parent_call_id: one.pk for one in rows.children}
    found: dict[int, list[Entry]] = defaultdict(list)
    for call in rows.calls.get(rows.run.pk, []):
        arguments = call.arguments or call.arguments_text
        found[call.step_id].append(
            {
                "call": call,
                "title": mark_hidden_characters(call.label or call.name),
                "seconds": call.worked_s,
                "arguments": shown_text(arguments, TEXT_CHARS) if arguments else "",
                "result": shown_text(call.told, TEXT_CHARS) if call.told else "",
                "error": mark_hidden_characters(redact(call.error)),
                "hooks": [*_hooks(call)],
                "asked": asked.get(call.pk, []),
                "changes": changed.get(call.pk, []),
                "agent": agents.get(call.pk),
            }
        )
    return found


def _hooks(call: ToolCall) -> Iterator[str]:
    """Yield what hooks made of a call, in sentences."""
    kept: Mapping[str, Any] = call.hooked if isinstance(call.hooked, dict) else {}
    by = kept.get("by", "")
    if why := kept.get("refused"):
        yield _("The hook “%(hook)s” refused it: %(why)s") % {"hook": by, "why": why}
    if why := kept.get("approval"):
        yield _("The hook “%(hook)s” asked for an approval: %(why)s") % {
            "hook": by,
            "why": why,
        }
    for name in kept.get("changed_by", ()):
        yield _("The hook “%(hook)s” changed its arguments.") % {"hook": name}


def _asked(rows: TraceRows) -> Mapping[UUID, list[Entry]]:
    """Return what people were asked of each call: who answered, when, and what."""
    labels = {str(kind): kind.label for kind in Interrupt.Kind}
    found: dict[UUID, list[Entry]] = defaultdict(list)
    for one in rows.asked.get(rows.run.pk, []):
        found[one.call_id].append(
            {
                "kind": capfirst(labels.get(one.kind, one.kind)),
                "status": one.get_status_display(),
                "question": _cut(one.question),
                "by": one.decided_by,
                "created_at": one.created_at,
                "decided_at": one.decided_at,
            }
        )
    return found


def _changed(run: Run) -> Mapping[UUID, list[Entry]]:
    """Return the changes of each call, each with the first of its objects."""
    objects: dict[tuple[UUID, UUID], list[Entry]] = defaultdict(list)
    rows = RowChange.objects.filter(change_set__run=run).exclude(change_set__call=None)
    columns = ("change_set_id", "change_set__call_id", "model", "object_id", "text")
    ordered = rows.order_by("change_set__created_at", "order")
    for key, call, label, object_id, text in ordered.values_list(*columns)[:MOST_ROWS]:
        objects[key, call].append(
            {
                "text": mark_hidden_characters(object_words(label, object_id, text)),
                "url": _object_url(label, object_id),
            }
        )
    found: dict[UUID, list[Entry]] = defaultdict(list)
    for (key, call), own in objects.items():
        rest = len(own) - MOST_OBJECTS
        found[call].append({"pk": key, "objects": own[:MOST_OBJECTS], "rest": rest})
    return found


def _object_url(label: str, object_id: str) -> str:
    app, _dot, name = label.partition(".")
    try:
        return reverse(f"admin:{app}_{name}_change", args=[object_id])
    except NoReverseMatch:
        return ""
