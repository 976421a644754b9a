"""The snapshots that a module takes of its root object, and goes back to."""

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q

from ai_assistant.changes.undo.values import UndoRow
from ai_assistant.changes.values import label
from ai_assistant.context.page import page_info
from ai_assistant.models.change import ChangeSet
from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.resolve import module_by_id
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.sites import user_on_site
from ai_assistant.tools.data.undo.saving import as_writing
from ai_assistant.types import RunContext

logger = logging.getLogger("ai_assistant")

ROLLBACK = "rollback"  # the feature of a module
SNAPSHOT_BYTES = 1024**2  # of one, as JSON; a larger one is not kept
GAP = {"table": "", "kind": "snapshot"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """What a module has taken of its root object, as JSON."""

    module: ContextModule
    context: RunContext
    root: Any
    data: Any

    @property
    def digest(self) -> str:
        """The digest of what was taken."""
        return digest_of(self.data)

    def kept(self, after: str) -> dict[str, Any]:
        """Return it as a change keeps it; `after` is the digest after the change."""
        return {
            "module": self.module.id,
            "page": self.context.page_path,
            "model": label(type(self.root)),
            "object_id": str(self.root.pk),
            "text": str(self.root)[:200],
            "before": self.data,
            "after": after,
        }


class NotTaken(Exception):
    """A module has failed to take its snapshot, or it is too large."""


def digest_of(data: Any) -> str:
    """Return the digest of a snapshot, as hex."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def take_snapshot(context: RunContext) -> Snapshot | None:
    """
    Return the snapshot of the root object as it is; None if there is none.

    Raise NotTaken.
    """
    module = module_by_id(context.module, context.user)
    if not module.has(ROLLBACK):
        return None

    def asked() -> tuple[Any, Any]:
        with transaction.atomic():  # an error of its own breaks nothing
            root = module.get_root(context)
            data = None if root is None else module.take_snapshot(context)
        text = json.dumps(data)
        if len(text) > SNAPSHOT_BYTES:
            raise ValueError(
                f"The snapshot of module {module.id!r} has {len(text):,} bytes, and at "
                f"most {SNAPSHOT_BYTES:,} are kept. Leave out what needs no rollback."
            )
        return root, json.loads(text)

    failed = "module %r has taken no snapshot"
    found = value_or(None, asked, failed, module.id)
    if found is None:
        raise NotTaken
    root, data = found
    if data is None:
        return None
    return Snapshot(module=module, context=context, root=root, data=data)


class Keeper:
    """Keeps the snapshot from before the writes of a call with what they changed."""

    def __init__(self, module_id: str, context: Callable[[], RunContext]) -> None:
        self._has_failed = False
        wants_it = module_by_id(module_id).has(ROLLBACK)
        self._before = self._taken(context()) if wants_it else None

    def keep(self, change: ChangeSet | None) -> None:
        """Keep it, once the writes are stored as a change."""
        before = self._before
        if change is None or (before is None and not self._has_failed):
            return
        # Without the object, its rows are brought back alone.
        after = self._taken(before.context) if before is not None else None
        if self._has_failed:
            change.gaps, change.is_partial = [*change.gaps, GAP], True
            change.save(update_fields=["gaps", "is_partial"])
        elif before is not None and after is not None and before.data != after.data:
            add_snapshot(change, before, after.digest)

    def _taken(self, context: RunContext) -> Snapshot | None:
        try:
            return take_snapshot(context)
        except NotTaken:
            self._has_failed = True
            return None


def add_snapshot(change: ChangeSet, before: Snapshot, after: str) -> None:
    """Keep a snapshot with a change; `after` is the digest after it."""
    change.snapshots = [*(change.snapshots or ()), before.kept(after)]
    change.save(update_fields=["snapshots"])


# --- what modules can bring back ---


@dataclass(kw_only=True, slots=True)
class ModuleRollback:
    """Brings back the root object of a module from a snapshot."""

    now: Snapshot
    sets: list[ChangeSet]
    kept: list[dict[str, Any]]  # the snapshots of these changes, oldest first

    @property
    def key(self) -> str:
        """The key of its row in a plan."""
        first = self.kept[0]
        return f"{first['module']}/{first['model']}:{first['object_id']}"

    @property
    def before(self) -> Any:
        """What the module had taken before the first of the changes."""
        return self.kept[0]["before"]

    @property
    def was_touched(self) -> bool:
        """Whether somebody else has changed the object since, or in between."""
        found = [*(digest_of(one["before"]) for one in self.kept[1:]), self.now.digest]
        return [one["after"] for one in self.kept] != found

    def apply(self) -> None:
        """Do it. Raises what the code of the site raises."""
        module, context = self.now.module, self.now.context
        as_writing(context.user, lambda: module.apply_rollback(context, self.before))

    def is_done(self) -> bool:
        """Return whether all is as it was."""
        try:
            found = take_snapshot(self.now.context)
        except NotTaken:
            return False
        return found is not None and found.data == self.before

    def says(self, data: Any) -> str:
        """Return what a person is told of a snapshot."""
        module, context = self.now.module, self.now.context
        return value_or(
            "",
            lambda: str(module.describe_rollback(context, data)),
            "module %r describes no rollback",
            module.id,
        )


def rollbacks_of(sets: list[ChangeSet], user: Any) -> Iterator[ModuleRollback]:
    """Yield what modules can bring back, of what is not as before already."""
    found: dict[tuple[str, str, str], list[tuple[ChangeSet, dict[str, Any]]]] = {}
    for one in sorted(_not_undone(sets), key=lambda one: (one.created_at, one.pk)):
        for kept in one.snapshots or ():
            name = kept["module"], kept["model"], kept["object_id"]
            found.setdefault(name, []).append((one, kept))
    for pairs in found.values():
        own = [one for one, _kept in pairs]
        now = _now(own[-1], pairs[-1][1], user)
        rollback = now and ModuleRollback(
            now=now, sets=own, kept=[kept for _one, kept in pairs]
        )
        if rollback and rollback.before != rollback.now.data:
            yield rollback


def _not_undone(sets: list[ChangeSet]) -> Iterable[ChangeSet]:
    """Return the changes with a snapshot of which something is not undone yet."""
    kept = ChangeSet.objects.filter(pk__in=[one.pk for one in sets])
    kept = kept.filter(Q(rows=None) | Q(rows__undone_by=None), snapshots__isnull=False)
    keys = set(kept.values_list("pk", flat=True))
    return [one for one in sets if one.pk in keys]


def _now(change: ChangeSet, kept: dict[str, Any], user: Any) -> Snapshot | None:
    """Return the root object as it is now, as the person's module takes it."""
    if not module_by_id(kept["module"]).has(ROLLBACK):
        return None
    run = change.run
    context = RunContext(
        user=user_on_site(user, change.run_id),
        run_id=run.pk if run else change.pk,
        conversation_id=run.conversation_id if run else change.pk,
        page=page_info(kept["page"]),
        module=kept["module"],
    )
    try:
        now = take_snapshot(context)
    except NotTaken:
        return None
    is_same = now is not None and str(now.root.pk) == kept["object_id"]
    return now if is_same else None


def keep_snapshots(change: ChangeSet, rows: Iterable[UndoRow]) -> None:
    """Keep with the change of an undo what was there before, so that it can be redone."""
    for row in rows:
        rollback = row.rollback
        if isinstance(rollback, ModuleRollback) and rollback.is_done():
            add_snapshot(change, rollback.now, digest_of(rollback.before))


def left_differing(rows: Iterable[UndoRow]) -> list[UndoRow]:
    """Return those that are not as before after all."""
    return [
        row for row in rows if row.rollback is not None and not row.rollback.is_done()
    ]
