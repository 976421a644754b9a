"""Operations on the page for one tab: rows and live text in, frames out."""

from typing import Any
from uuid import UUID

from django.utils.html import escape

from ai_assistant.engine.queries import conversations, is_news, undos_in
from ai_assistant.engine.storage.delegated import SUBAGENT
from ai_assistant.engine.storage.eventlog import StoredEvent, events_after
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.run import Run
from ai_assistant.providers import warmup
from ai_assistant.render.html.cards.interrupts import requests_to_page
from ai_assistant.render.html.cards.without_card import stored_plan
from ai_assistant.render.html.diffs.changes import (
    changed_objects,
    changes_of_runs,
    undo_offer,
)
from ai_assistant.render.html.fragments import (
    entry_html,
    fragment,
    part_html,
    pinned_html,
)
from ai_assistant.render.html.live.places import Places
from ai_assistant.render.html.live.texts import LiveTexts, Texts
from ai_assistant.render.html.transcript.entries import Entry, run_entry, user_entry
from ai_assistant.render.html.transcript.footer import run_footer, usage_line
from ai_assistant.render.html.transcript.groups import cards, versions_sentence, writes
from ai_assistant.render.html.transcript.growing import Op
from ai_assistant.render.html.transcript.stale import bar_of, is_stale
from ai_assistant.render.html.transcript.state import (
    panel_state,
    queue_entry,
    without_begun,
)
from ai_assistant.render.html.transcript.summaries import (
    runs_with_summaries,
    summaries_of,
)
from ai_assistant.render.html.transcript.thread import (
    Drawn,
    answers,
    is_working,
    read_pinned,
    read_thread,
)
from ai_assistant.types import UserKey


def anew(drawn: Drawn, panel: Any, conversation_id: UUID) -> list[Op]:
    """Return the operations that redraw all that is shown; that is no news."""
    html = "".join(entry_html(entry, panel) for entry in drawn.entries)
    if drawn.earlier:
        named = {"conversation": conversation_id, "thread": drawn}
        html = fragment("earlier", panel=named) + html
    if drawn.later:
        html += fragment("later", later=drawn.later, panel=panel)
    ops: list[Op] = [["innerMorph", "aia-log", html]]
    if said := versions_sentence(drawn.entries):
        ops.append(["tell", "say", said])
    return ops


def titled(conversation: Conversation) -> Op:
    """Return how the title is drawn."""
    return ["innerMorph", "aia-title", escape(conversation.title)]


def unseen(conversation: Conversation, run: Run) -> list[Op]:
    """Return the event for the page that the conversation is unread, if it is."""
    return [["tell", "unread", {}]] if is_news(conversation, run) else []


WARMING = "warming"  # the page shows the state thinking, and why that takes long
MESSAGE_EVENTS = ("TEXT_MESSAGE_", "REASONING_")
WAITS = ("aia.interrupt", SUBAGENT)  # facts: something waits, here or below
SUMMING = ("aia.summing", "aia.summed")  # facts: it begins, it is over
END_EVENTS = ("RUN_FINISHED", "RUN_ERROR")


class Projection:
    """
    One tab's view of one conversation.

    Not for two threads at once: the methods that read the database run in a
    thread, the others on the loop, one after another.
    """

    def __init__(self, conversation_id: UUID, user_id: UserKey, panel: Any) -> None:
        self.conversation_id = conversation_id
        self.user_id = user_id
        self.panel = panel  # what the forms in fragments need: urls and path
        self.run_id: UUID | None = None
        self.seq = 0
        self.is_active = False
        self.has_ended = False  # the run that is shown
        self.is_gone = False  # the conversation, deleted while it was shown
        self.state = ""
        self.texts = Texts()
        self.drafts = LiveTexts()
        self._places = Places()
        self._changed: Op = []  # how the changes of the run are drawn
        self._undos: dict[UUID, UUID] | None = None  # and redos, as they were drawn
        self._title = ""
        self._summaries = 0  # how many were made or taken back, as it was drawn
        self._queue: Entry | None = None  # as it was drawn, if that is known
        self._why = ""  # what was said of it
        self.is_waiting = False  # something will be sent without anybody's doing

    # --- from the rows; in a thread ---

    def attach(self, run_id: UUID | None, seq: int) -> list[Op]:
        """Return the operations for a page that shows event `seq` of `run_id`."""
        conversation = self._conversation()
        if conversation is None:
            return []
        self._title = conversation.title
        self._summaries = 0  # the page may be older than all
        self._undos = None  # the page may be older than some
        queued = queue_entry(conversation.pk)  # first: what was started stands below
        self._queue, self._why = None, queued["why"]
        since = self._run(conversation, run_id)
        if since is not None and self._is_last(conversation, since, seq):
            self.run_id, self.seq, self.has_ended = since.pk, seq, True
            state = self._root(panel_state(since))
            ops = [titled(conversation), *unseen(conversation, since), *state]
        else:
            ops = self._draw(conversation, since)
        last = self._run(conversation, self.run_id)
        left = self._queued(without_begun(queued, last))
        summed = self._summed(conversation)
        return [*ops, *summed, *left, *self.stale_ops()]

    def catch_up(self) -> list[Op]:
        """Return what has happened since the last call."""
        # First the events, then the row: it may be ahead of them, not behind.
        queued = queue_entry(self.conversation_id)
        events = self._events()
        runs = Run.objects.filter(
            conversation_id=self.conversation_id,
            conversation__owner_id=self.user_id,
            conversation__deleted_at=None,
        )
        last = runs.shown().select_related("conversation").first()
        if last is None:
            self.is_gone = self.run_id is not None
            return []
        conversation = last.conversation
        news = self._news(conversation, last, events)
        left = self._queued(without_begun(queued, last))
        summed = self._summed(conversation)
        return [*self._renamed(conversation), *news, *summed, *left]

    def _news(
        self, conversation: Conversation, last: Run, events: list[StoredEvent]
    ) -> list[Op]:
        if last.pk != self.run_id:
            since = self._run(conversation, self.run_id)
            return self._draw(conversation, since)
        if last.is_final and not self.has_ended:
            events = self._events()  # now to the last one
        if events:
            return self._follow(conversation, last, events)
        return self._undone(last) if self.has_ended else []

    def _undone(self, last: Run) -> list[Op]:
        """Return how changes are drawn that were undone or redone meanwhile."""
        known, self._undos = self._undos, undos_in(self.conversation_id)
        new = self._undos.keys() - (known or {}).keys()
        runs = {self._undos[change] for change in new}
        changes = changes_of_runs(runs) if runs else {}
        ops = [self._listed(run, found) for run, found in changes.items()]
        if known is not None:  # else the page may have been opened since
            ops += [["tell", "changed", changed_objects(run)] for run in changes]
        if last.pk in changes:
            ops.append(self._offered(changes[last.pk]))
        return [*ops, *self.stale_ops()] if ops else []

    def _queued(self, entry: Entry) -> list[Op]:
        """Return how what waits is drawn, if that is not as it was."""
        self.is_waiting = bool(entry["messages"]) and entry["goes_on"]
        old, self._queue = self._queue, entry
        if entry == old:
            return []
        html = fragment("queue_items", queue=entry, panel=self.panel)
        said, self._why = self._why, entry["why"]
        is_news = entry["why"] and entry["why"] != said
        ops: list[Op] = [["innerMorph", "aia-queued", html]]
        return [*ops, ["tell", "say", entry["why"]]] if is_news else ops

    def _events(self) -> list[StoredEvent]:
        return events_after(self.run_id, self.seq) if self.run_id else []

    def _conversation(self) -> Conversation | None:
        return conversations(self.user_id).filter(pk=self.conversation_id).first()

    def _renamed(self, conversation: Conversation) -> list[Op]:
        old, self._title = self._title, conversation.title
        return [] if old == conversation.title else [titled(conversation)]

    def _summed(self, conversation: Conversation) -> list[Op]:
        """Return how summaries are drawn that were made or taken back meanwhile."""
        old, self._summaries = self._summaries, conversation.summaries
        if old == conversation.summaries:
            return []
        runs = Run.objects.filter(pk__in=runs_with_summaries(conversation))
        return [self._end_of(run) for run in runs.select_related("conversation")]

    @staticmethod
    def _run(conversation: Conversation, run_id: UUID | None) -> Run | None:
        return conversation.runs.filter(pk=run_id).first() if run_id else None

    @staticmethod
    def _is_last(conversation: Conversation, run: Run, seq: int) -> bool:
        """Return whether the page that shows event `seq` of `run` lacks nothing."""
        if not run.is_final or run.next_seq - 1 != seq:
            return False
        last = conversation.runs.shown().first()
        return last is not None and last.pk == run.pk

    def _draw(self, conversation: Conversation, since: Run | None) -> list[Op]:
        drawn = read_thread(conversation, since=since)
        run = drawn.run
        if run is None:
            return []
        self.run_id, self.seq, self.has_ended = run.pk, drawn.seq, run.is_final
        self.texts.restart(self._parts, drawn, run.epoch)
        self._changed = []
        self._places.restart(drawn.entries)
        gone: list[Op] = [["delete", one, ""] for one in ("aia-empty", "aia-later")]
        return [
            *self.drafts.drop(),
            *gone,
            titled(conversation),
            *(
                self._entries(drawn)
                if drawn.goes_on
                else anew(drawn, self.panel, self.conversation_id)
            ),
            *self._pinned(drawn.pinned),
            *requests_to_page(run),
            *(self._usage(run) if run.is_final or drawn.pinned else []),
            *self._offer(drawn, run),
            *self._root(drawn.state),
        ]

    def _offer(self, drawn: Drawn, run: Run) -> list[Op]:
        """Return how the offer to undo is drawn; it goes with the next message."""
        changed = [entry.get("changes") for entry in answers(drawn.entries)]
        if not any(changed):
            return []
        return [self._offered(changed[-1] if run.is_final else None)]

    def _offered(self, changes: Entry | None) -> Op:
        html = fragment("undo_banner", offer=undo_offer(changes), panel=self.panel)
        return ["outerMorph", "aia-undo-banner", html]

    def _entries(self, drawn: Drawn) -> list[Op]:
        ops: list[Op] = [
            ["upsert", "aia-log", entry_html(entry, self.panel)]
            for entry in drawn.entries
        ]
        ops += [
            ["tell", "accepted", entry["key"]]
            for entry in drawn.entries
            if entry["kind"] == "user" and entry["key"]
        ]
        return ops

    def _follow(
        self, conversation: Conversation, run: Run, events: list[StoredEvent]
    ) -> list[Op]:
        ops: list[Op] = []
        self.texts.epoch = max(self.texts.epoch, run.epoch)
        touched = {event.call_id for event in events if event.call_id}
        shown = cards(run, touched)
        may_change = any(map(writes, shown.values()))
        may_change |= any(event.payload.get("name") == SUBAGENT for event in events)
        is_moved = self._places.move(shown.values(), events)
        for event in events:
            if event.type.startswith(MESSAGE_EVENTS):
                ops += self.texts.follow(event)
            else:
                ops += self._fact(event)
            # In the order of the log: a card stands above the text after it.
            part = shown.get(event.call_id) if event.call_id else None
            if event.call_id and part and self._places.is_due(part, event.call_id):
                ops += self._places.ops(part, self._parts, self.panel)
                shown = {key: one for key, one in shown.items() if one is not part}
        self.seq = events[-1].seq
        ops += self._changes(run) if may_change else []
        ended = any(event.type in END_EVENTS for event in events)
        ops += self.texts.settle(ended=ended)
        waits = any(event.payload.get("name") in WAITS for event in events)
        if ended or waits:
            ops += self._pinned(read_pinned(conversation))
            ops += requests_to_page(run)
        if ended:
            ops += [*self._end(run), *self._undone(run)]
        ops += self._usage(run) if ended or waits else []
        if is_moved:
            return [*ops, *self._draw(conversation, run)]
        growing = bool(self.texts.growing)
        state = panel_state(
            run, growing=growing, working=is_working(run, growing=growing)
        )
        return ops + self._root(state)

    def _fact(self, event: StoredEvent) -> list[Op]:
        if event.type == "TOOL_CALL_START":
            message_id = event.payload["message_id"]
            return [*self.drafts.drop(message_id), *self.texts.finish(message_id)]
        if event.type == "STEP_STARTED":
            old = self.drafts.drop(before=event.epoch)
            return [*old, *self.texts.drop_before(event.epoch)]
        return self._own_fact(event) if event.type == "CUSTOM" else []

    def _own_fact(self, event: StoredEvent) -> list[Op]:
        name, value = event.payload["name"], event.payload["value"]
        if name == "aia.replaced":
            drafts = self.drafts.drop(value["message_id"])
            return [*drafts, *self.texts.drop(value["message_id"])]
        if name in SUMMING:
            named = f"r-{self.run_id}-summing"  # until it is over
            if name == SUMMING[1]:
                return [["delete", named, ""]]
            return [["upsert", self._parts, fragment("summing", id=named)]]
        if name == "aia.message":
            message = Message.objects.get(pk=value["message_id"])
            part = {**user_entry(message), "kind": "said"}
            return [
                ["upsert", self._parts, part_html(part, self.panel)],
                ["tell", "accepted", message.key],
            ]
        return []

    def _changes(self, run: Run) -> list[Op]:
        """Return how the list of what the run has changed is drawn, if it grew."""
        listed = self._listed(run.pk, changes_of_runs([run.pk]).get(run.pk))
        if listed == self._changed:
            return []
        self._changed = listed
        return [listed, ["tell", "changed", changed_objects(run.pk)], *self.stale_ops()]

    def _listed(self, run_id: UUID, changes: Entry | None) -> Op:
        html = fragment("changes", entry={"changes": changes}, panel=self.panel)
        return ["innerMorph", f"r-{run_id}-changes", html]

    def stale_ops(self) -> list[Op]:
        """Return how the page says that its object is not what it shows any more."""
        path, opened = self.panel.page.path, self.panel.page.opened
        bar = bar_of(path)
        if bar is None or not is_stale(path, opened, self.user_id):
            return []
        return [["tell", "stale", bar.id]]

    def _end(self, run: Run) -> list[Op]:
        self.has_ended = True
        dots: Op = ["delete", f"r-{run.pk}-wait", ""]
        ops: list[Op] = [*self.drafts.drop(), dots, self._end_of(run)]
        if self._places.has(run.pk) and (plan := stored_plan(run)):
            ops.append(["upsert", self._parts, part_html(plan, self.panel)])
        changes = changes_of_runs([run.pk]).get(run.pk)
        return [*ops, self._offered(changes)] if changes else ops

    def _end_of(self, run: Run) -> Op:
        """Return how the end of a run is drawn, with what is summed up up to there."""
        summed = summaries_of(run.conversation, [run.pk]).get(run.pk, ())
        entry = {**run_entry(run, [], {}), **run_footer(run), "summaries": summed}
        end = fragment("run_end", entry=entry, panel=self.panel)
        return ["innerMorph", f"r-{run.pk}-end", end]

    def _usage(self, run: Run) -> list[Op]:
        if not self.panel.viewer.shows_usage:
            return []
        html = fragment("usage", usage=usage_line(run.conversation_id))
        return [["outerMorph", "aia-usage", html]]

    def _pinned(self, entries: list[Entry]) -> list[Op]:
        html = "".join(pinned_html(item, self.panel) for item in entries)
        return [["innerMorph", "aia-pinned", html]]

    def _root(self, state: str) -> list[Op]:
        # The end is what the log says: the row may be ahead of the events seen.
        self.is_active = not self.has_ended
        self.state = state
        # Seen where the web process is the one that loads the library. A run that has
        # come further has it.
        thinks = self.is_active and state == "thinking"
        is_warming = thinks and warmup.state() == "warming"
        return [["state", WARMING if is_warming else state]]

    # --- text; on the loop or in a thread ---

    def knows(self, frame: dict[str, Any]) -> bool:
        """
        Return whether the page has the element that this live text belongs to.

        If not, call `catch_up` first: what was stored before the text stands above it.
        """
        if str(self.run_id) != frame["run"]:
            return False
        if self._is_draft(frame):
            return self.drafts.knows(frame) or self.texts.has_done(frame["message"])
        # Nothing of the run stands above its first message.
        return frame.get("step") == 0 or self.texts.knows(frame["message"])

    def live(self, frame: dict[str, Any]) -> bool:
        """Take a piece of live text; True if there is something new to show."""
        if str(self.run_id) != frame["run"] or self.has_ended:
            return False
        if not self._is_draft(frame):
            return self.texts.take(frame)
        is_old = frame["epoch"] < self.texts.epoch
        if is_old or self.texts.has_done(frame["message"]):
            return False
        return self.drafts.take(frame)

    @staticmethod
    def _is_draft(frame: dict[str, Any]) -> bool:
        return "position" in frame

    def draft_ops(self) -> list[Op]:
        """Return how the calls have grown that are being written; in a thread."""
        return self.drafts.ops(self._parts, self.panel)

    def text_ops(self) -> list[Op]:
        """Return how the text has grown since the last call."""
        ops = self.texts.ops()
        if ops and self.state in ("thinking", "tool"):
            self.state = "streaming"
            ops.append(["state", self.state])
        return ops

    @property
    def _parts(self) -> str:
        return f"r-{self.run_id}-parts"
