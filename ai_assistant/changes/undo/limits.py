"""What an undo could not take back of a change, and until when it can, said before."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from django.db import models
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.changes.capture.images import all_rows, can_be_found
from ai_assistant.changes.undo.values import Permissions
from ai_assistant.changes.values import Changes, meta, model_name, model_of_label
from ai_assistant.safety.site_code import value_or

GOES = ("delete",)


class PermissionsBefore(Permissions, Protocol):
    """The permissions of the person, asked before there is an object too."""

    def to_delete_any(self, model: Any) -> str:
        """Return why no object of this model may be deleted."""


def with_undo_limits(changes: Changes, permissions: PermissionsBefore) -> Changes:
    """
    Return `changes` with what could not be undone of them, as far as it is known.

    Asks code of the site. It is looked at one object of each model.
    """
    if not changes.undoable or changes.plan or changes.is_empty:
        return changes
    kinds = _kinds(changes)
    found = {one: _limit(changes, *one, permissions) for one in kinds}
    limits = [limit for limit in found.values() if limit]
    # Of its own objects nothing comes back: then the rest would be no undo.
    own = [one for one in kinds if one[0] == changes.model] or kinds
    is_lost = bool(own) and all(found[one] for one in own)
    limits += _of_all(changes)
    return replace(
        changes,
        undoable=not is_lost,
        undo_limits=(*changes.undo_limits, *dict.fromkeys(limits)),
    )


def _kinds(changes: Changes) -> list[tuple[str, str]]:
    """Return the models that change, each with what happens to its objects."""
    pairs = [(one.model, one.kind) for one in changes.objects]
    pairs += [(one.model, one.kind) for one in changes.related]
    return list(dict.fromkeys((model, str(kind)) for model, kind in pairs if model))


def _limit(
    changes: Changes, model: str, kind: str, permissions: PermissionsBefore
) -> str:
    """Return why objects of this model could not be undone; empty if they could."""
    found = model_of_label(model)
    if found is None or meta(found).auto_created or kind in ("link", "action"):
        return ""  # links go with the objects that they link
    name = model_name(model, plural=True)
    if not can_be_found(found):
        return _("%(names)s: the keys of these rows are not kept.") % {"names": name}
    if kind == "create":
        reason = value_or("", lambda: permissions.to_delete_any(found))
    else:
        reason = value_or("", lambda: _refusal(changes, found, kind, permissions))
    return f"{name}: {reason}" if reason else ""


def _refusal(
    changes: Changes, model: Any, kind: str, permissions: PermissionsBefore
) -> str:
    own = _one_of(changes, model)
    if own is None:
        return ""
    if kind in GOES:
        return permissions.to_create(own) or _files_refusal(own)
    return permissions.to_change(own, {}).get("", "")


def _one_of(changes: Changes, model: Any) -> models.Model | None:
    """Return an object of this model that is changed or deleted."""
    label = meta(model).label_lower
    start = f"{meta(meta(model).concrete_model).label_lower}:"
    shown = [one.object_id for one in changes.objects if one.model == label]
    keys = [
        key.removeprefix(start) for key in changes.versions if key.startswith(start)
    ]
    own = next(filter(None, [*shown, *keys]), None)
    if own is None:
        return None
    found: models.Model | None = all_rows(model, "default").filter(pk=own).first()
    return found


def _files_refusal(own: models.Model) -> str:
    fields = [one for one in meta(own).fields if isinstance(one, models.FileField)]
    for field in fields:
        size = value_or(0, lambda: getattr(own, field.name).size)  # noqa: B023
        if size > conf.CHANGED_BYTES:
            return _("a file of it is too large to be kept.")
    return ""


def _of_all(changes: Changes) -> Iterator[str]:
    if any(one.kind == "action" for one in changes.objects):
        yield _("What an action does outside of the database stays.")
    if changes.total + sum(one.count for one in changes.related) > conf.CHANGED_ROWS:
        yield _("Images of at most %(most)d rows are kept.") % {
            "most": conf.CHANGED_ROWS
        }


def kept_until(made: datetime) -> datetime | None:
    """Return until when a change can be undone at least; None: as long as it is kept."""
    named = ("UNDO_DAYS", "CONVERSATION_DAYS")
    days = [one for name in named if (one := conf.get("RETENTION", name)) is not None]
    return made + timedelta(days=min(days)) if days else None
