"""The footer of an ended answer: when, how long, how much, from where."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Count, Sum
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from ai_assistant.context.page import find_page
from ai_assistant.engine.accounting.meter import nearly_full
from ai_assistant.engine.intake.retries import whole_answer
from ai_assistant.engine.interrupts.base import kind_names
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.conversation import Feedback, Message
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from ai_assistant.models.usage import UsageLedger
from ai_assistant.render.html.cards.without_card import followups_of
from ai_assistant.render.html.transcript.entries import Entry

Span = tuple[datetime, datetime]
Key = tuple[str, str]  # label of the model, id of the object

LINK = re.compile(r"\]\(\s*<?(/[^\s)>]+)")  # of Markdown, into this site
MOST_SOURCES = 20
MOST_DEPTH = 6  # of a result that is looked through


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """An object that a tool has read: its name then, which one, and when."""

    text: str
    tool: str
    at: datetime | None


def sources_of(texts: Mapping[UUID, str]) -> dict[UUID, list[Entry]]:
    """Return what `sources.html` draws below each text, by the id of its run."""
    linked = {run_id: _linked(text) for run_id, text in texts.items()}
    wanted = [run_id for run_id, links in linked.items() if links]
    if not wanted:
        return {}  # results may be large: they are read where they are needed alone
    found = _readings(wanted)
    return {
        run_id: [
            _entry(key, href, found[run_id][key])
            for key, href in linked[run_id].items()
            if key in found[run_id]
        ][:MOST_SOURCES]
        for run_id in wanted
    }


def _readings(run_ids: list[UUID]) -> dict[UUID, dict[Key, Reading]]:
    """Return how each object was read last, by the id of its run."""
    found: dict[UUID, dict[Key, Reading]] = {run_id: {} for run_id in run_ids}
    calls = ToolCall.objects.filter(run_id__in=run_ids, status=CallStatus.COMPLETE)
    fields = ("run_id", "result", "label", "name", "finished_at")
    in_order = calls.order_by("finished_at", "pk").values_list(*fields)
    for run_id, result, label, name, at in in_order.iterator():
        for key, text in _objects((result or {}).get("data"), ""):
            found[run_id][key] = Reading(text=text, tool=label or name, at=at)
    return found


def _linked(text: str) -> dict[Key, str]:
    """Return the objects that `text` links, with the address of each."""
    found: dict[Key, str] = {}
    for href in LINK.findall(text):
        if key := _object_at(href):
            found.setdefault(key, href)
    return found


def _object_at(href: str) -> Key | None:
    """Return the object whose admin page is at `href`."""
    page = find_page(href)
    if page is None or page.model_admin is None or page.info.action != "change":
        return None
    return page.model_admin.opts.label_lower, page.info.object_id


def _objects(data: object, model: str, depth: int = 0) -> Iterator[tuple[Key, str]]:
    """Yield the objects in a result: what has an id and a name, below its model."""
    if depth > MOST_DEPTH:
        return
    if isinstance(data, list):
        for one in data:
            yield from _objects(one, model, depth + 1)
    elif isinstance(data, dict):
        said = data.get("model")
        model = said.lower() if isinstance(said, str) else model
        text = data.get("text")
        if model and "id" in data and isinstance(text, str) and text:
            yield (model, str(data["id"])), text
        for name, value in data.items():
            if isinstance(value, list | dict):
                yield from _objects(value, _model_at(model, name), depth + 1)


def _model_at(model: str, name: str) -> str:
    """Return whose objects stand below a name: a field of the model has others."""
    try:
        field = apps.get_model(model)._meta.get_field(name)
    except (LookupError, ValueError, FieldDoesNotExist):
        return model  # such as "fields", or "objects"
    related: Any = field.related_model
    return str(related._meta.label_lower) if related else ""


def _entry(key: Key, href: str, read: Reading) -> Entry:
    label, _ = key
    known = {"url": href, "text": read.text, "tool": read.tool, "read_at": read.at}
    try:
        meta = apps.get_model(label)._meta
    except (LookupError, ValueError):
        return {**known, "model": label, "app": ""}
    return {
        **known,
        "model": str(meta.verbose_name),
        "app": str(meta.app_config.verbose_name),
    }


PLACES = 4  # of a cost: most conversations cost less than a cent


def usage_line(conversation_id: UUID) -> str:
    """Return "12,345 tokens, 0.0210 US dollars"; empty if it has used nothing."""
    total = UsageLedger.objects.filter(run__conversation=conversation_id).aggregate(
        tokens=Sum("tokens"),
        cost=Sum("cost_usd"),
        calls=Count("pk"),
        priced=Count("cost_usd"),
    )
    if not total["tokens"]:
        return ""
    names = {
        "tokens": number_format(total["tokens"], force_grouping=True),
        "usd": number_format(total["cost"] or 0, decimal_pos=PLACES),
    }
    if not total["cost"]:
        return _("%(tokens)s tokens") % names
    if total["priced"] < total["calls"]:
        return _("%(tokens)s tokens, more than %(usd)s US dollars") % names
    return _("%(tokens)s tokens, %(usd)s US dollars") % names


MINUTE_S = 60
HOUR_S = 3600


def ends_of(runs: Mapping[UUID, Run], messages: Iterable[Message]) -> dict[UUID, Entry]:
    """
    Return what `run_end.html` draws of each run beside how it ended, by its id.

    `messages` are all of these runs; a run that has not ended gets nothing.
    """
    texts: dict[UUID, str] = {}
    for message in messages:
        if message.role == Message.Role.ASSISTANT:
            said = texts.get(message.run_id, "")
            texts[message.run_id] = f"{said}\n\n{message.text}".strip()
    ended = [run for run in runs.values() if run.is_final]
    told, waited, full = _feedback(ended), _waited_s(ended), nearly_full(ended)
    sources = sources_of({run.pk: texts.get(run.pk, "") for run in ended})
    return {
        run.pk: {
            "ended_at": run.finished_at,
            "duration": duration(_lived_s(run) - waited.get(run.pk, 0.0)),
            "has_text": bool(texts.get(run.pk)),
            "full": full.get(run.pk),
            "feedback": told.get(run.pk),
            "reasons": _reasons(told.get(run.pk)),
            "sources": sources.get(run.pk, []),
        }
        for run in ended
    }


def _lived_s(run: Run) -> float:
    """Return how long the run took, with all that it waited for."""
    if run.finished_at is None:
        return run.running_s
    lasted: timedelta = run.finished_at - run.created_at
    return lasted.total_seconds()


def _waited_s(runs: list[Run]) -> dict[UUID, float]:
    """Return how long each run has waited for its person, in seconds."""
    ends = {run.pk: run.finished_at for run in runs}
    rows = Interrupt.objects.filter(
        run_id__in=ends, kind__in=kind_names(for_person=True)
    )
    spans: dict[UUID, list[Span]] = defaultdict(list)
    for run_id, begin, end in rows.values_list("run_id", "created_at", "decided_at"):
        if until := end or ends[run_id]:
            spans[run_id].append((begin, until))
    return {run_id: covered_s(found) for run_id, found in spans.items()}


def run_footer(run: Run) -> Entry:
    """Return the same for one run and those that it continues, from the rows."""
    rows = Message.objects.filter(run_id__in=whole_answer(run)).order_by("position")
    messages = list(rows)
    end = ends_of({run.pk: run}, messages).get(run.pk, {})
    said = (one.text for one in messages if one.role == Message.Role.ASSISTANT)
    if not end:
        return {}
    has_text = any(map(str.strip, said))
    return {**end, "has_text": has_text, "followups": followups_of(run)}


def duration(seconds: float) -> str:
    """Return how long it was worked, as "6 s", "2 min 5 s" or "1 h 4 min"."""
    whole = max(1, round(seconds))
    if whole < MINUTE_S:
        return _("%(seconds)d s") % {"seconds": whole}
    minutes, rest = divmod(whole, MINUTE_S)
    if whole < HOUR_S:
        return _("%(minutes)d min %(seconds)d s") % {
            "minutes": minutes,
            "seconds": rest,
        }
    hours, minutes = divmod(minutes, MINUTE_S)
    return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": minutes}


def _feedback(runs: list[Run]) -> dict[UUID, Feedback]:
    """Return what each run's own person thinks of it."""
    owners = {run.pk: run.user_id for run in runs}
    rows = Feedback.objects.filter(run_id__in=owners)
    return {row.run_id: row for row in rows if row.user_id == owners[row.run_id]}


def _reasons(feedback: Feedback | None) -> list[Entry]:
    """Return the reasons that can be ticked, and which are."""
    ticked = feedback.reasons if feedback else ()
    return [
        {"value": value, "label": label, "ticked": value in ticked}
        for value, label in Feedback.Reason.choices
    ]


def covered_s(spans: Iterable[Span]) -> float:
    """Return for how long at least one of the spans lasted, in seconds."""
    total, until = 0.0, None
    for start, end in sorted(spans):
        begin = start if until is None else max(start, until)
        total += max(0.0, (end - begin).total_seconds())
        until = end if until is None else max(until, end)
    return total
