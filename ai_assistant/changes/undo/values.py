"""The plan of an undo: what it would do to each object, and why not more."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Protocol
from uuid import UUID

from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ai_assistant.changes.capture.images import Image, image_digest
from ai_assistant.changes.verify.differences import RecordedObject
from ai_assistant.models.change import FileChange
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.types import UserKey


class Outcome(StrEnum):
    """What becomes of an object, or of one of its fields."""

    RESTORE = "restore"
    MERGE = "merge"  # of a text: what a person wrote since stays in it
    SAME = "same"  # it is as before already
    CONFLICT = "conflict"  # somebody has changed it since
    GONE = "gone"  # somebody has deleted it since
    BLOCKED = "blocked"  # it cannot be restored


DOES = (Outcome.RESTORE, Outcome.MERGE)
PLAIN = (Outcome.RESTORE, Outcome.SAME)
PLAIN_ROWS = 20  # in a plan that need not be read first


@dataclass(kw_only=True, slots=True)
class UndoField:
    """
    One field of an object that stays: as it is now, and as it would be.

    `left` is what the assistant had written; `raw` the JSON of the restored column.
    """

    name: str
    label: str
    outcome: Outcome
    now: str = ""
    restored: str = ""
    left: str = ""
    reason: str = ""
    attname: str = ""
    raw: Any = None


@dataclass(kw_only=True, slots=True)
class UndoRow:
    """
    One object, as the plan shows it.

    `action` is what the undo does: "change" it, "create" it again, "delete" it, or
    "link" and "unlink" two objects.
    """

    key: str  # app.model:pk
    action: str
    model: str
    object_id: str
    text: str
    outcome: Outcome
    reason: str = ""
    fields: list[UndoField] = field(default_factory=list)
    changed_by: str = ""  # of a conflict
    changed_at: datetime | None = None
    can_overrule: bool = False
    obj: RecordedObject | None = None  # None: there is nothing to work with
    now: Image | None = None  # with the columns of all its tables
    files: Sequence[FileChange] = ()
    change_sets: frozenset[UUID] = frozenset()  # in which it was changed
    rollback: "Rollback | None" = None  # of all that belongs to it, by a module
    covered: "list[UndoRow]" = field(default_factory=list)  # what comes back with that
    version: str = ""  # of what the rollback starts from, and leads to

    @property
    def does_something(self) -> bool:
        """Whether the undo changes it, unless the person says otherwise."""
        if self.outcome in DOES:
            return True
        return any(one.outcome in DOES for one in self.fields)

    @property
    def is_plain(self) -> bool:
        """Whether it is restored as it was, and nothing has to be decided."""
        fields = all(one.outcome in PLAIN for one in self.fields)
        return self.outcome == Outcome.RESTORE and fields and not self.reason

    @property
    def shown_fields(self) -> list[UndoField]:
        """Return the fields that a person is shown: none of which both texts are one."""
        found = [one for one in self.fields if one.outcome != Outcome.SAME]
        told = [
            one for one in found if one.outcome not in DOES or one.now != one.restored
        ]
        return told or found

    @property
    def why(self) -> str:
        """Why it, or some of its fields, stay."""
        return self.reason or " ".join(one.reason for one in self.fields if one.reason)

    def block(self, reason: str) -> None:
        """Leave the object as it is."""
        self.outcome, self.reason = Outcome.BLOCKED, reason
        self.can_overrule = False

    def settle(self) -> None:
        """Decide what becomes of the object from its fields."""
        found = {one.outcome for one in self.fields}
        in_order = (Outcome.CONFLICT, *DOES, Outcome.BLOCKED)
        outcome = next((one for one in in_order if one in found), Outcome.SAME)
        self.outcome = Outcome.RESTORE if outcome in DOES else outcome
        self.can_overrule = self.outcome == Outcome.CONFLICT

    @property
    def alias(self) -> str:
        """Return the alias of its database."""
        return self.obj.row.alias if self.obj else "default"

    def digest(self) -> list[Any]:
        """Return what has to be the same when it is carried out."""
        now = None if self.now is None else image_digest(self.now)
        fields = [[one.attname, one.outcome, one.reason] for one in self.fields]
        said = [self.key, self.action, self.outcome, self.reason]
        return [*said, now or self.version, fields]

    @property
    def restored(self) -> "list[UndoRow]":
        """Return it, with what comes back along."""
        return [self, *self.covered]


@dataclass(kw_only=True, slots=True)
class UndoPlan:
    """What undoing some changes would do now, newest first."""

    rows: list[UndoRow]
    gaps: list[dict[str, Any]] = field(default_factory=list)
    is_redo: bool = False  # it undoes an undo

    @property
    def digest(self) -> str:
        """The digest of all that is shown, with the versions of the rows, as hex."""
        lines = json.dumps([[row.digest() for row in self.rows], self.gaps])
        return hashlib.sha256(lines.encode()).hexdigest()

    @property
    def does_something(self) -> bool:
        """Whether anything would change."""
        return any(row.does_something or row.can_overrule for row in self.rows)

    @property
    def is_plain(self) -> bool:
        """Whether few objects come back whole, as nobody has changed them since."""
        few = 0 < len(self.rows) <= PLAIN_ROWS and not self.gaps
        return few and all(row.is_plain for row in self.rows)

    @property
    def verb(self) -> str:
        """Return what its button says."""
        return _("Redo") if self.is_redo else _("Undo")

    def title(self, count: int) -> str:
        """Return what undoing so many of its objects is called."""
        if not count:
            return self.verb
        if self.is_redo:
            text = ngettext("Redo %(count)d change", "Redo %(count)d changes", count)
        else:
            text = ngettext("Undo %(count)d change", "Undo %(count)d changes", count)
        return text % {"count": count}

    def chosen(self, choice: "Choice") -> list[UndoRow]:
        """Return the rows that a person has chosen."""
        return [row for row in self.rows if choice.takes(row.key)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """Which rows of a plan are undone, and in which people's changes are given up."""

    rows: frozenset[str] | None = None  # None: all, but for those left out
    left_out: frozenset[str] = frozenset()
    overruled: frozenset[str] = frozenset()

    def takes(self, key: str) -> bool:
        """Return whether the row of this key is undone."""
        return key not in self.left_out and (self.rows is None or key in self.rows)


TargetKind = Literal["run", "call", "change", "since"]


@dataclass(frozen=True, kw_only=True, slots=True)
class UndoTarget:
    """
    Whose changes are undone: those of a run, of a call, or one change.

    "since" is a run with all that came after it in its conversation.
    """

    kind: TargetKind
    id: UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class UndoRequest:
    """What a person has decided, who was shown the plan with the digest."""

    user_id: UserKey
    target: UndoTarget
    digest: str
    choice: Choice = field(default_factory=Choice)
    # Of the request that asks for it: who may do what is asked with this session.
    stamp: SessionStamp = field(default_factory=SessionStamp)
    asked_in: UUID | None = None  # the run in which the assistant was told to


class Rollback(Protocol):
    """Brings back an object with all that belongs to it."""

    def apply(self) -> None:
        """Do it. Raises what the code of the site raises."""

    def is_done(self) -> bool:
        """Return whether all is as it was."""


class Permissions(Protocol):
    """
    Why the person may not do something in the admin; empty texts if they may.

    The instances are those of the database, or one that would be created again.
    """

    def look_at(self, objects: Iterable[models.Model]) -> None:
        """Read at once what is to be known of all of these, before each is asked."""

    def to_change(self, obj: models.Model, raws: Mapping[str, Any]) -> dict[str, str]:
        """Return reasons by attname; that under "" is for the whole object."""

    def to_create(self, instance: models.Model) -> str:
        """Return why it may not be added."""

    def to_delete(self, obj: models.Model) -> str:
        """Return why it may not be deleted."""

    def to_link(self, through: Any, image: Image) -> str:
        """Return why a many-to-many link may not be changed."""


class Saver(Protocol):
    """Saves what an undo restores, where the site says how; False where it does not."""

    def save(
        self, instance: models.Model, values: Mapping[str, Any], *, is_new: bool
    ) -> bool:
        """Save an instance with these new values, by attname."""

    def delete(self, instance: models.Model) -> bool:
        """Delete an object."""
