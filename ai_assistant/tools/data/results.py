"""What the model reads of what was written."""

from collections.abc import Sequence

from django.db.models import Model
from django.utils.translation import gettext as _

from ai_assistant.tools.data.access import Door
from ai_assistant.tools.data.display import name_of
from ai_assistant.tools.data.titles import counted
from ai_assistant.tools.data.version import version_of
from ai_assistant.types import JSON, ToolResult

MOST_VERSIONS = 50  # of objects in one result


def one_written(door: Door, saved: Model, message: str) -> ToolResult:
    """Return the result of a call that wrote one object: its id and its version."""
    told = _named(door, saved)
    data = {**told, "version": _version(door, saved)}
    return ToolResult(ok=True, message=message, data=data, changed=(told,))


def many_written(door: Door, saved: Sequence[Model]) -> ToolResult:
    """Return the result of a call that wrote several objects."""
    named = [_named(door, one) for one in saved]
    versions = [
        {"id": told["id"], "version": _version(door, one)}
        for told, one in zip(named[:MOST_VERSIONS], saved, strict=False)
    ]
    return ToolResult(
        ok=True,
        message=_("Changed %(objects)s.")
        % {"objects": counted(door.options, len(saved))},
        data={"count": len(saved), "objects": versions},
        changed=tuple(named),
    )


def _named(door: Door, saved: Model) -> dict[str, JSON]:
    return {"model": door.label, "id": str(saved.pk), "text": name_of(saved)}


def _version(door: Door, saved: Model) -> str:
    """Return the version of the row: an instance may hold what was never stored."""
    stored = door.model._base_manager.filter(pk=saved.pk).first()  # noqa: SLF001
    return version_of(door, stored) if stored is not None else ""
