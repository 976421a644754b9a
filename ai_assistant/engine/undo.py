"""Undo changes: the plan of it, and all the pieces that do what the plan says."""

import logging
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import DatabaseError, OperationalError
from django.db.models import Count
from django.utils.translation import gettext as _

from ai_assistant.changes.undo.groups import Group, Piece
from ai_assistant.changes.undo.values import (
    UndoPlan,
    UndoRequest,
    UndoRow,
    UndoTarget,
)
from ai_assistant.engine.storage.units import refusal_of, unit
from ai_assistant.engine.undo_pieces import (
    Begun,
    Moved,
    PieceDone,
    begin,
    do_piece,
)
from ai_assistant.engine.undo_snapshots import plan_of
from ai_assistant.engine.undo_stops import (
    STOPPED,
    ask_to_stop,
    forget_stops,
    stops_of,
)
from ai_assistant.engine.undo_targets import change_sets, checked_user
from ai_assistant.exceptions import Refused, ToolFailed
from ai_assistant.models.change import RowChange
from ai_assistant.models.clock import now
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.tools.adapters.site_request import in_session
from ai_assistant.tools.data.undo.permissions import AdminPermissions
from ai_assistant.types import UserKey

logger = logging.getLogger("ai_assistant")


@dataclass(kw_only=True, slots=True)
class Undone:
    """What an undo has done; `moved` is the new plan if nothing was done."""

    conversation_id: UUID | None = None
    run_id: UUID | None = None
    change_id: UUID | None = None
    rows: list[UndoRow] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)  # keys of what is not as planned
    moved: UndoPlan | None = None
    reason: str = ""  # why it ended before its end
    failed: list[UndoRow] = field(default_factory=list)
    untouched: list[UndoRow] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether the plan was the one that was shown."""
        return self.moved is None


@dataclass(frozen=True, kw_only=True, slots=True)
class UndoProgress:
    """How many changed rows are undone by now, and of how many."""

    done: int
    total: int
    is_stopping: bool  # a person has asked for it


def read_plan(
    user_id: UserKey, target: UndoTarget, stamp: SessionStamp | None = None
) -> UndoPlan:
    """
    Return what an undo would do now that is asked for in the session of `stamp`.

    Raise Refused not_found.
    """
    user = checked_user(user_id)
    with in_session(stamp or SessionStamp()):
        return plan_of(change_sets(user, target), AdminPermissions(user), user)


def read_progress(user_id: UserKey, target: UndoTarget) -> UndoProgress:
    """Return how far the undo of changes is by now."""
    user = checked_user(user_id)
    sets = change_sets(user, target)
    rows = RowChange.objects.filter(change_set__in=sets)
    found = rows.aggregate(done=Count("undone_by"), total=Count("pk"))
    return UndoProgress(**found, is_stopping=stops_of(sets).exists())


@unit
def stop_undo(user_id: UserKey, target: UndoTarget) -> None:
    """End the undo that is under way, or about to begin, before its next piece."""
    ask_to_stop(change_sets(checked_user(user_id), target))


def forget_earlier_stops(request: UndoRequest, asked_at: datetime) -> None:
    """Let no stop of an earlier undo be one of this."""
    sets = change_sets(checked_user(request.user_id), request.target)
    if stops_of(sets).exists():
        unit(forget_stops)(sets, asked_at)


def undo(request: UndoRequest) -> Undone:
    """
    Do what the plan of `request.digest` says, as far as it goes.

    If something has moved since, nothing is done and the new plan is returned. Raise
    Refused if nothing is done: not_found, busy, nothing, too_many, incomplete, or
    undo_failed if the code of the site or its database refuses.
    """
    undoing = Undoing(request)
    while undoing.step():
        pass
    return undoing.undone


class Undoing:
    """
    An undo under way. Each step is a transaction, and holds whole groups of rows.

    Few rows are one step. An error ends it after the last whole group, and `undone`
    says what is left: the plan, asked again, is that of the rest.
    """

    def __init__(self, request: UndoRequest) -> None:
        """Note when it was asked for: a stop since then is one of this."""
        self.undone = Undone()
        self._request, self._asked_at = request, now()
        self._begun: Begun | None = None
        self._pieces: list[Piece] = []

    def step(self) -> bool:
        """Do the next piece; return whether another one follows. Raise Refused."""
        try:
            with in_session(self._request.stamp):
                self._do_next()
        except Exception as error:
            refused = self._end(error)
            if refused is error:
                raise
            if refused is not None:
                raise refused from error
        return bool(self._pieces)

    def _do_next(self) -> None:
        if self._begun is None:
            self._begin()
        else:
            self._note(do_piece(self._begun, self._pieces[0]))
            del self._pieces[0]

    def _begin(self) -> None:
        request, undone = self._request, self.undone
        forget_earlier_stops(request, self._asked_at)
        self._begun = begun = begin(request, self._asked_at)
        undone.moved, self._pieces = begun.moved, begun.pieces
        if begun.run is not None:
            undone.conversation_id = begun.run.conversation_id
            undone.run_id = begun.run.pk
        if begun.done is not None:
            self._note(begun.done)
        undone.untouched = begun.work[len(undone.rows) :]

    def _note(self, done: PieceDone) -> None:
        """Note what a piece has done."""
        undone, begun = self.undone, self._begun
        undone.rows += done.rows
        undone.differing += done.differing
        if begun is None:
            return
        begun.change = done.change or begun.change
        undone.change_id = begun.change.pk if begun.change else None
        self._leave(undone.failed)

    def _leave(self, failed: Group) -> None:
        """Note what has failed, and with it what is still to be done."""
        undone = self.undone
        undone.failed = failed
        finished = {row.key for row in (*undone.rows, *failed)}
        work = self._begun.work if self._begun else ()
        undone.untouched = [row for row in work if row.key not in finished]

    def _end(self, error: Exception) -> Exception | None:
        """End after the last whole group; return what is raised if there is none."""
        request = self._request
        before: list[Group] = []
        failed: Group = []
        if self._pieces and not _is_of_all(error):
            before, failed = self._pieces[0].split()
        self._pieces = [Piece(groups=before)] if before else []
        is_stopped = isinstance(error, Refused) and error.code == STOPPED
        if before or self.undone.rows or is_stopped:
            self.undone.reason = str(_refused(error, request, is_begun=True))
            self._leave(failed)
            return None
        if isinstance(error, Moved):
            plan = read_plan(request.user_id, request.target, request.stamp)
            self.undone.moved = plan
            return None
        if isinstance(error, Refused) or _is_ours(error):
            return refusal_of(error) or error
        return _refused(error, request, is_begun=False)


def _is_of_all(error: Exception) -> bool:
    """Return whether an error is to blame on none of the rows."""
    return isinstance(error, Refused | ToolFailed) or _is_ours(error)


def _is_ours(error: Exception) -> bool:
    """Return whether the database could not do it now, whatever was asked of it."""
    is_busy = isinstance(error, OperationalError) or refusal_of(error) is not None
    return isinstance(error, DatabaseError) and is_busy


def _refused(error: Exception, request: UndoRequest, *, is_begun: bool) -> Refused:
    """Return why an undo has ended, in words for its person."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, ToolFailed):  # another run works on one of the rows
        return Refused("busy", str(error))
    if isinstance(error, Moved):
        return Refused("moved", _("An object has changed since the plan was read."))
    logger.error("an undo of %s failed", request.target, exc_info=error)
    if not is_begun:
        sentence = _(
            "Nothing was undone: the code of this site, or its database, refused "
            "one of the changes. Undo fewer of them, or look at the log."
        )
        return Refused("undo_failed", sentence)
    sentence = _(
        "The code of this site, or its database, refused one of the changes. Undo the "
        "others without it, or look at the log."
    )
    return refusal_of(error) or Refused("undo_failed", sentence)
