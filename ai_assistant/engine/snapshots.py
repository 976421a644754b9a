"""The snapshots that a module takes of its root object, around the writes of a call."""

import hashlib
import json
import logging
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from ai_assistant.changes.values import label
from ai_assistant.models.change import ChangeSet
from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.resolve import module_by_id
from ai_assistant.safety.site_code import value_or
from ai_assistant.types import RunContext

logger = logging.getLogger("ai_assistant")

ROLLBACK = "rollback"  # the feature of a module
SNAPSHOT_BYTES = 1024**2  # of one, as JSON; a larger one is not kept
GAP = {"table": "", "kind": "snapshot", "count": 0}


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
    module = module_by_id(context.module)
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

    def __init__(self, context: RunContext) -> None:
        self._has_failed = False
        self._before = self._taken(context)

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
