"""What the admin's own log says of an object."""

from typing import Any

from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.admin.options import get_content_type_for_model
from django.utils.translation import gettext_lazy as _

from ai_assistant.decorators import tool
from ai_assistant.tools.data.access.model_admin import find_door, find_object
from ai_assistant.tools.data.access.values import object_text, short_value
from ai_assistant.tools.data.arguments import ObjectId, are_enabled
from ai_assistant.types import JSON, RunContext

MOST_ENTRIES = 50
MESSAGE_CHARS = 500
DONE = {ADDITION: "added", CHANGE: "changed", DELETION: "deleted"}


@tool(
    effect="read",
    label=_("History"),
    icon="clock",
    shared=True,
    is_enabled=are_enabled,
)
def object_history(
    context: RunContext,
    model: str,
    id: ObjectId,
) -> dict[str, JSON]:
    """Tell who changed an object in the admin, when and what; the newest first."""
    door = find_door(context, model)
    obj = find_object(door, id, "history")
    entries = LogEntry.objects.filter(
        object_id=str(obj.pk), content_type=get_content_type_for_model(door.model)
    )
    newest = entries.select_related("user").order_by("-action_time", "-pk")
    return {
        "model": door.label,
        "id": obj.pk,
        "text": object_text(obj),
        "total": entries.count(),
        "entries": [_told(entry) for entry in newest[:MOST_ENTRIES]],
    }


def _told(entry: Any) -> dict[str, JSON]:
    return {
        "time": entry.action_time.isoformat(timespec="seconds"),
        "user": object_text(entry.user),
        "action": DONE.get(entry.action_flag, ""),
        "message": short_value(entry.get_change_message(), MESSAGE_CHARS),
    }
