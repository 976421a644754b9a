"""Whether an object is still as the model has read it."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Model
from django.utils.translation import gettext as _

from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.tools.data.access import Door
from ai_assistant.tools.data.display import name_of, shown_value
from ai_assistant.tools.data.version import changed_since, version_of
from ai_assistant.types import JSON, RunContext, ToolResult

READING = ("get_object", "search_objects")
WRITING = ("create_object", "change_object", "change_objects")
MOST_CALLS = 30


class Freshness:
    """Compares objects with what tools of this conversation have told of them."""

    def __init__(self, context: RunContext, door: Door) -> None:
        self.context, self.door = context, door
        self.told: dict[str, str] | None = None  # newest versions, by id

    def refuse(self, obj: Model, token: str = "") -> ToolResult | None:
        """
        Return the refusal of a change of `obj`, if it is not as it was read.

        `token` is the version that the model gives; without it, that of the newest
        call that read or wrote the object. None: nothing is in the way.
        """
        token = token or self._newest().get(str(obj.pk), "")
        names = _changed(self.door, obj, token) if token else []
        if not names:
            return None
        return ToolResult(
            ok=False,
            error=_("“%(object)s” was changed since it was read: %(fields)s.")
            % {"object": name_of(obj), "fields": ", ".join(names)},
            error_type="changed",
            suggestion=_("Look at what it holds now, then decide again."),
            data={
                "id": str(obj.pk),
                "changed": {name: _now(self.door, obj, name) for name in names},
                "version": version_of(self.door, obj),
            },
        )

    def _newest(self) -> dict[str, str]:
        if self.told is None:
            self.told = {}
            for own, version in _told(self.context, self.door):
                self.told.setdefault(own, version)
        return self.told


def _changed(door: Door, obj: Model, token: str) -> list[str]:
    """Return the changed fields, but for those that every save sets by itself."""
    return [
        name for name in changed_since(door, obj, token) if not _is_stamp(door, name)
    ]


def _is_stamp(door: Door, name: str) -> bool:
    return bool(getattr(door.options.get_field(name), "auto_now", False))


def _now(door: Door, obj: Model, name: str) -> JSON:
    field = door.options.get_field(name)
    text = shown_value(field, obj)
    if not field.is_relation:
        return text
    return {"id": str(getattr(obj, field.attname)), "text": text}


def _told(context: RunContext, door: Door) -> Iterator[tuple[str, str]]:
    """Yield ids and versions that tools have told of this model, newest first."""
    calls = ToolCall.objects.filter(
        run__conversation_id=context.conversation_id,
        name__in=(*READING, *WRITING),
        status=CallStatus.COMPLETE,
    ).order_by("-created_at", "-step__index", "-position")[:MOST_CALLS]
    for arguments, result in calls.values_list("arguments", "result"):
        if str(arguments.get("model", "")).lower() == door.label:
            yield from _versions((result or {}).get("data"))


def _versions(data: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - JSON
    """Yield the versions of a result: of itself, or of the objects in its lists."""
    if not isinstance(data, dict):
        return
    lists = [one for one in data.values() if isinstance(one, list)]
    for told in [data, *(one for listed in lists for one in listed)]:
        found = told.get("version") if isinstance(told, dict) else None
        if isinstance(found, str) and found and told.get("id") not in (None, ""):
            yield str(told["id"]), found
