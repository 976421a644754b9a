"""The branches of a conversation, and which of them is shown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.utils.translation import gettext as _

from ai_assistant.engine.storage.lease import db_id
from ai_assistant.engine.storage.units import unit
from ai_assistant.exceptions import Refused
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.raw_sql import read_row
from ai_assistant.models.run import UNFINISHED, Run, RunKind
from ai_assistant.types import WRITING, UserKey

Row = tuple[UUID, UUID | None, datetime]  # a run, the one before it, when it began
DONE = (CallStatus.COMPLETE, CallStatus.UNKNOWN)

# How many more runs there are than runs that others stand behind: one, without branches.
# Asked for each message, so not composed anew.
ENDS = (
    "SELECT COUNT(*) - COUNT(DISTINCT after_id) FROM {run} WHERE conversation_id = %s"
)
# As `shown().first()` finds it. In a long conversation that has to sort all runs.
SHOWN = """
conversation_id = %s AND id = COALESCE(
 (SELECT shown_run_id FROM ai_assistant_conversation WHERE id = %s),
 (SELECT id FROM ai_assistant_run WHERE conversation_id = %s
  ORDER BY created_at DESC, id DESC LIMIT 1)
)
"""
# What the next run begins with: read at once with the run before it.
LEFT_TO_NEXT = (
    "conversation",
    "loaded_tools",
    "state_values",
    "state_version",
    "state_data",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Versions:
    """The runs behind the same one, the oldest first, and which of them is meant."""

    runs: tuple[UUID, ...]
    index: int

    @property
    def count(self) -> int:
        return len(self.runs)

    @property
    def previous(self) -> UUID | None:
        return self.runs[self.index - 1] if self.index else None

    @property
    def next(self) -> UUID | None:
        return self.runs[self.index + 1] if self.index + 1 < self.count else None


class Tree:
    """The runs of one conversation. `shown` is the end of the path, if one was chosen."""

    def __init__(self, rows: Iterable[Row], shown: UUID | None = None) -> None:
        # Of two that began at the same moment each reader takes the same for newer.
        ordered = sorted(rows, key=lambda row: (row[2], row[0]))
        self._rank = {row[0]: rank for rank, row in enumerate(ordered)}
        self._after: dict[UUID, UUID | None] = {}
        self._behind: dict[UUID | None, list[UUID]] = {}
        for run_id, after, _began in ordered:
            known = after if after in self._rank and after != run_id else None
            self._after[run_id] = known
            self._behind.setdefault(known, []).append(run_id)
        self.shown = shown if shown in self._rank else self._newest_end(self._rank)

    @property
    def path(self) -> list[UUID]:
        """The runs that are shown, the first one first."""
        return self.path_to(self.shown)

    def path_to(self, run_id: UUID | None) -> list[UUID]:
        """Return the runs from the first one to `run_id`; none for one from elsewhere."""
        found: dict[UUID, None] = {}
        here = run_id if run_id in self._rank else None
        while here is not None and here not in found:
            found[here] = None
            here = self._after[here]
        return list(reversed(found))

    def versions(self, run_id: UUID) -> Versions:
        """Return `run_id` among the runs behind the same one. Raise KeyError."""
        runs = tuple(self._behind[self._after[run_id]])
        return Versions(runs=runs, index=runs.index(run_id))

    def below(self, run_id: UUID) -> list[UUID]:
        """Return `run_id` and all that came behind it, on each of its branches."""
        found = {run_id: None}
        waiting = [run_id]
        while waiting:
            behind = self._behind.get(waiting.pop(), ())
            more = [one for one in behind if one not in found]
            found.update(dict.fromkeys(more))
            waiting += more
        return list(found)

    def end_below(self, run_id: UUID) -> UUID:
        """Return the newest run below `run_id` that has none behind it; maybe itself."""
        return self._newest_end(self.below(run_id)) or run_id

    def behind_shown(self) -> UUID | None:
        """Return the newest run behind the last one that is shown; None at an end."""
        found = self._behind.get(self.shown, ()) if self.shown else ()
        return max(found, key=self._rank.__getitem__, default=None)

    def elsewhere(self, path: Sequence[UUID]) -> list[UUID]:
        """Return the runs that are not on `path`."""
        return sorted(self._rank.keys() - set(path), key=self._rank.__getitem__)

    def _newest_end(self, runs: Iterable[UUID]) -> UUID | None:
        ends = [one for one in runs if not self._behind.get(one)]
        return max(ends, key=self._rank.__getitem__, default=None)


def tree_of(conversation: Conversation) -> Tree:
    """Return the runs of a conversation, with one query."""
    return Tree(_rows(conversation.pk), conversation.shown_run_id)


def path_of(conversation: Conversation) -> list[UUID]:
    """Return the ids of the runs that are shown, the first one first."""
    return tree_of(conversation).path


def seen_by(run: Run) -> tuple[list[UUID] | None, list[UUID]]:
    """
    Return the runs up to `run`, the first one first, and those on other branches.

    None for the first if there are no branches: it is all that began before, and a long
    conversation is not read whole for each of its messages. The first message of one
    stands beside nothing: there no query is made.
    """
    if run.after_id is None and run.kind == RunKind.MESSAGE:
        return [run.pk], []
    if not _has_branches(run.conversation_id):
        return None, []
    tree = Tree(_rows(run.conversation_id))
    path = tree.path_to(run.pk)
    return path, tree.elsewhere(path)


def _has_branches(conversation_id: UUID) -> bool:
    with connection.cursor() as cursor:
        statement = ENDS.format(run=Run._meta.db_table)
        cursor.execute(statement, [db_id(conversation_id)])
        (ends,) = cursor.fetchone()
    return int(ends) > 1  # two stand behind the same one, or at the beginning


def before_next(
    conversation: Conversation, *, beside: UUID | None, behind: UUID | None
) -> Run | None:
    """
    Return the run behind which the next one is to stand; None at the beginning.

    `beside` names a run of which it is another version, `behind` one that it continues;
    with neither it is at the end of the shown branch. Raise Refused not_found.
    """
    named = behind if beside is None else beside
    if named is None:
        return last_shown(conversation.pk)
    found = conversation.runs.filter(pk=named).select_related("after").first()
    if found is None:
        raise Refused("not_found", "")
    return found if beside is None else found.after


def last_shown(conversation_id: UUID) -> Run | None:
    """Return the run that ends what is shown; asked for each message."""
    return read_row(Run, SHOWN, [db_id(conversation_id)] * 3, LEFT_TO_NEXT)


def has_changed_rows(run_ids: Iterable[UUID]) -> bool:
    """Return whether one of the runs has changed something, as far as is known."""
    named = list(run_ids)
    if not named:
        return False
    calls = ToolCall.objects.filter(run_id__in=named, effect__in=WRITING)
    return (
        ChangeSet.objects.filter(run_id__in=named).exists()
        or calls.filter(status__in=DONE).exists()
    )


def _rows(conversation_id: UUID) -> Iterable[Row]:
    runs = Run.objects.filter(conversation_id=conversation_id).order_by()
    return runs.values_list("pk", "after_id", "created_at")


@unit
def show_branch(user_id: UserKey, run_id: UUID) -> UUID:
    """
    Show the newest branch through `run_id`; return the id of the conversation.

    Raise Refused: not_found for another user's, busy while a run is unfinished.
    """
    conversation = _locked(user_id, run_id)
    _show(conversation, tree_of(conversation).end_below(run_id))
    return conversation.pk


@unit
def show_before(user_id: UserKey, run_id: UUID) -> UUID:
    """
    Show what stands above `run_id`; the next message is another version of its own.

    Nothing can be shown where nothing stands: then all stays as it is. Return and raise
    as `show_branch` does.
    """
    conversation = _locked(user_id, run_id)
    above = conversation.runs.get(pk=run_id).after_id
    if above is not None:
        _show(conversation, above)
    return conversation.pk


def _locked(user_id: UserKey, run_id: UUID) -> Conversation:
    own = Conversation.objects.filter(owner_id=user_id, runs=run_id)
    found = own.values_list("pk", flat=True).first()
    if found is None:
        raise Refused("not_found", "")
    named = Conversation.objects.filter(pk=found)
    named.lock_row()  # a message that comes now waits
    conversation = named.get()
    if conversation.runs.filter(state__in=UNFINISHED).exists():
        raise Refused(
            "busy",
            _("An answer is under way. Wait for it or stop it, then change versions."),
        )
    return conversation


def _show(conversation: Conversation, run_id: UUID) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(shown_run=run_id)
