"""The context for rendering a conversation: entries by day, pinned cards, position."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from ai_assistant.engine.intake.retries import beginning
from ai_assistant.engine.interrupts.approval import withdrawn_of
from ai_assistant.engine.interrupts.base import waiting_for_person
from ai_assistant.engine.storage.branches import Tree, tree_of
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.run import UNFINISHED, Run, RunKind, RunState
from ai_assistant.render.html.cards.body import load_results
from ai_assistant.render.html.cards.without_card import followups_of
from ai_assistant.render.html.conversation_list import here_today
from ai_assistant.render.html.diffs.changes import changes_of_runs
from ai_assistant.render.html.transcript.entries import (
    Entry,
    pinned_entry,
    run_entry,
    shows_reasoning,
    user_entry,
)
from ai_assistant.render.html.transcript.faded import faded_of, mark_faded
from ai_assistant.render.html.transcript.footer import ends_of
from ai_assistant.render.html.transcript.groups import (
    UNDRAWN,
    asked_on,
    calls_of_agents,
    grouped,
    light_calls,
    versions_entry,
)
from ai_assistant.render.html.transcript.growing import Growing, read_growing
from ai_assistant.render.html.transcript.state import panel_state
from ai_assistant.render.html.transcript.summaries import summaries_of


def mark_days(entries: Iterable[Entry], before: datetime | None) -> None:
    """
    Give each message that begins a day its `day`, in words.

    `before` is when the last message was sent that stands above `entries`. The first
    one of a conversation begins a day unless that is today.
    """
    today = here_today()
    last = _day(before) if before else today
    for entry in entries:
        if entry["kind"] != "user":
            continue
        day = _day(entry["time"])
        entry["day"] = _word(day, today) if day != last else ""
        last = day


def _day(moment: datetime) -> date:
    aware = timezone.is_aware(moment)  # it is not where the site has USE_TZ off
    return timezone.localdate(moment) if aware else moment.date()


def _word(day: date, today: date) -> str:
    if day == today:
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    return date_format(day, "DATE_FORMAT")


def answers(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield what is drawn of each run, in order; user messages are no runs."""
    for entry in entries:
        if entry["kind"] == "run":
            yield entry
            yield from entry.get("later", ())


def add_run(entries: list[Entry], new: list[Entry], run: Run) -> None:
    """
    Add what is drawn of `run` to what stands above it.

    What continues the answer above becomes a part of its message: the question that
    nobody typed leaves a seam, and the footer of that answer goes.
    """
    message = entries[-1] if entries else None
    goes_on = run.kind == RunKind.CONTINUE
    above = [*answers([message])][-1:] if message else []
    if not (goes_on and above and above[0]["run_id"] == str(run.after_id)):
        entries += new
        return
    *said, answer = new
    above[0]["is_continued"] = True
    # What is copied is the whole of it.
    answer["has_text"] = any(one.get("has_text") for one in (above[0], answer))
    answer["seam"] = said[0] if said else None
    entries[-1].setdefault("later", []).append(answer)


Calls = dict[UUID, ToolCall]
Rows = tuple[Run, list[Message], Calls]

DRAWN_RUNS = 12
MOST_RUNS = 200  # that are drawn at once to reach an early one
WORKING = (CallStatus.PENDING, CallStatus.EXECUTING)


@dataclass(kw_only=True, slots=True)
class Drawn:
    """
    A conversation as it is drawn: up to event `seq` of `run`.

    `goes_on` is false if the run that it was read from is on another branch: then
    these are the entries of all that is shown.
    """

    title: str = ""
    entries: list[Entry] = field(default_factory=list)
    pinned: list[Entry] = field(default_factory=list)
    run: Run | None = None
    seq: int = 0
    state: str = "idle"
    shows_reasoning: bool = True  # of `run`
    growing: dict[str, Growing] = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)  # messages that grow no more
    goes_on: bool = True
    earlier: str = ""  # the first run drawn, if there are some above it
    later: str = ""  # the run behind the last one drawn, if the person went back

    @property
    def run_id(self) -> str:
        """Return the id of `run` for a template; empty if there is none."""
        return str(self.run.pk) if self.run else ""


def read_thread(
    conversation: Conversation | None, *, since: Run | None = None
) -> Drawn:
    """
    Return what is shown of the conversation, or of that what came from `since` on.

    The last DRAWN_RUNS runs at most, and those that their first one continues.
    """
    if conversation is None:
        return Drawn()
    tree = tree_of(conversation)
    path = tree.path
    goes_on = since is None or since.pk in path
    first = path.index(since.pk) if since is not None and goes_on else 0
    shown = stored_runs(path[beginning(path, max(first, len(path) - DRAWN_RUNS)) :])
    drawn = Drawn(title=conversation.title, run=shown[-1] if shown else None)
    drawn.goes_on = goes_on
    if drawn.run is not None:
        # First the number, then the rows: what comes in between is drawn twice.
        drawn.seq = drawn.run.next_seq - 1
        drawn.shows_reasoning = shows_reasoning(drawn.run)
        drawn.earlier = str(shown[0].pk) if shown[0].pk != path[0] else ""
        drawn.later = str(tree.behind_shown() or "")
    working = _draw_runs(drawn, conversation, shown, tree)
    if drawn.entries and not drawn.later:
        [*answers(drawn.entries)][-1]["followups"] = followups_of(drawn.run)
    mark_days(drawn.entries, time_before(conversation, shown))
    drawn.pinned = read_pinned(conversation)
    drawn.state = panel_state(drawn.run, growing=bool(drawn.growing), working=working)
    return drawn


def read_earlier(conversation: Conversation, before: UUID, to: UUID | None) -> Drawn:
    """
    Return what is shown above the run `before`: DRAWN_RUNS, or more to reach `to`.

    Nothing if that run is not shown, or has none above it.
    """
    tree = tree_of(conversation)
    path = tree.path
    end = path.index(before) if before in path else 0
    first = max(0, end - DRAWN_RUNS)
    if to in path[:first]:
        first = max(path.index(to) - 1, end - MOST_RUNS, 0)
    first = beginning(path, first)
    shown = stored_runs(path[first:end])
    drawn = Drawn(earlier=str(shown[0].pk) if first and shown else "")
    _draw_runs(drawn, conversation, shown, tree)
    mark_days(drawn.entries, time_before(conversation, shown))
    return drawn


def _draw_runs(
    drawn: Drawn, conversation: Conversation, shown: list[Run], tree: Tree
) -> bool:
    """Add the entries of these runs; return whether the last has an active call."""
    working = False
    summed = summaries_of(conversation, [run.pk for run in shown])
    changes = changes_of_runs(run.pk for run in shown)
    rows = rows_of_runs(shown)
    said = [message for _, messages, _ in rows for message in messages]
    ends = ends_of({run.pk: run for run in shown}, said)
    every = [call for _, _, calls in rows for call in calls.values()]
    faded = faded_of(shown, every, tree.path)
    for run, messages, calls in rows:
        entries = _entries(run, messages, calls, drawn)
        mark_faded(entries, run, faded)
        entries[-1]["changes"] = changes.get(run.pk)
        entries[-1]["summaries"] = summed.get(run.pk, ())
        _mark_question(entries, run, tree)
        entries[-1].update(ends.get(run.pk, {}))
        add_run(drawn.entries, entries, run)
        working = any(call.status in WORKING for call in calls.values())
    return working


def time_before(conversation: Conversation, shown: list[Run]) -> datetime | None:
    """Return when the run above the shown ones began."""
    if not shown or shown[0].after_id is None:
        return None
    before = conversation.runs.filter(pk=shown[0].after_id)
    return before.values_list("created_at", flat=True).first()


def read_pinned(conversation: Conversation) -> list[Entry]:
    """Return what waits for the person."""
    # Most conversations that are opened have ended, and agents end before their root.
    if not conversation.runs.filter(state__in=UNFINISHED).exists():
        return []
    of_agents = Run.objects.filter(root__conversation=conversation)
    runs = Run.objects.filter(Q(conversation=conversation) | Q(pk__in=of_agents))
    rows = waiting_for_person(run__in=runs.filter(state__in=UNFINISHED))
    is_again = Exists(withdrawn_of(OuterRef("call")))
    drawn = rows.select_related("call", "run").annotate(is_again=is_again)
    return [
        pinned_entry(row) for row in drawn.defer(*(f"call__{name}" for name in UNDRAWN))
    ]


def stored_runs(ids: list[UUID]) -> list[Run]:
    """Return the runs in that order, without those that have gone meanwhile."""
    found = Run.objects.in_bulk(ids)
    return [found[pk] for pk in ids if pk in found]


def _mark_question(entries: list[Entry], run: Run, tree: Tree) -> None:
    """Note on the question of a run which version it is, and where it was asked."""
    if entries[0]["kind"] == "user":
        entries[0].update(
            run_id=str(run.pk),
            versions=versions_entry(run, tree),
            asked_on=asked_on(run),
        )


def rows_of_runs(runs: list[Run]) -> list[Rows]:
    ids = [run.pk for run in runs]
    messages: dict[UUID, list[Message]] = {}
    said = Message.objects.exclude(role=Message.Role.SUMMARY).order_by("position")
    for message in said.filter(run_id__in=ids):
        messages.setdefault(message.run_id, []).append(message)
    calls: dict[UUID, Calls] = {}
    light = list(light_calls().filter(run_id__in=ids))
    load_results(light)
    for call in light:
        calls.setdefault(call.run_id, {})[call.pk] = call
    for call in calls_of_agents(light):
        if call.run.root_id is not None:
            calls[call.run.root_id][call.pk] = call
    return [(run, messages.get(run.pk, []), calls.get(run.pk, {})) for run in runs]


def _entries(
    run: Run, messages: list[Message], calls: Calls, drawn: Drawn
) -> list[Entry]:
    growing, summing = read_growing(run, messages)
    drawn.growing.update(growing)
    drawn.stored.update(str(message.pk) for message in messages)
    parts = [part for message in growing.values() for part in message.parts()]
    asked, rest = messages[:1], messages[1:]
    entries = [user_entry(message) for message in asked]
    entry = run_entry(run, rest, calls, [*parts, *summing])
    entry["parts"] = grouped(entry["parts"])
    return [*entries, entry]


def is_working(run: Run, *, growing: bool) -> bool:
    """Return whether a call of the run is under way; asks only where it matters."""
    if run.state != RunState.RUNNING or growing:
        return False
    return run.calls.filter(status__in=WORKING).exists()
