"""Read one object: its page in the admin, and its history, as tools."""

from typing import Annotated, Any

from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.admin.options import get_content_type_for_model
from django.db.models import Model
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from ai_assistant.safety.policy.form_limits import form_language, form_only_values
from ai_assistant.safety.policy.sensitive import is_read_only
from ai_assistant.safety.site_code import value_or
from ai_assistant.text.unicode import short_value
from ai_assistant.tools.data.access.form_classes import real_object
from ai_assistant.tools.data.access.lookups import unknown_path
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    find_access,
    find_object,
)
from ai_assistant.tools.data.access.values import object_text, value_of
from ai_assistant.tools.data.access.visibility import admin_fields, limits_of
from ai_assistant.tools.data.arguments import Names, ObjectId, data_tool
from ai_assistant.tools.data.reading.inlines import inlines_of
from ai_assistant.tools.data.reading.version import version_from
from ai_assistant.tools.summary import name_in
from ai_assistant.types import JSON, RunContext

FIELD_CHARS = 4000
CHOSEN_CHARS = 30_000  # of a field that is asked for by name
MOST_ENTRIES = 50
MESSAGE_CHARS = 500
ACTIONS = {ADDITION: "added", CHANGE: "changed", DELETION: "deleted"}
Chosen = Annotated[Names, Field(description="only these; long texts are not cut")]


def _summary(_arguments: dict[str, Any], data: Any) -> str:
    return gettext("Opened %(object)s") % {"object": name_in(data)}


def _history_summary(_arguments: dict[str, Any], data: Any) -> str:
    return ngettext(
        "History of %(object)s: %(count)d entry",
        "History of %(object)s: %(count)d entries",
        data["total"],
    ) % {"object": name_in(data), "count": data["total"]}


@data_tool(
    effect="read",
    label=_("Read"),
    label_plural=_("Read"),
    icon="file",
    summary=_summary,
)
def get_object(
    context: RunContext, model: str, id: ObjectId, fields: Chosen = []
) -> dict[str, JSON]:
    """Read an object with all that its page shows, and its `version`."""
    access = find_access(context, model)
    obj = find_object(access, id)
    page, obj = real_object(access.at_object(obj.pk), obj)
    access = page.at_page("changelist")
    visible = admin_fields(access, obj)
    only_shown = _form_only(page, obj)
    by_name = {field.name: field for field in visible}
    for name in fields:
        if name not in by_name and name not in only_shown:
            raise unknown_path(access, name)
    chosen = visible
    if fields:
        chosen = [by_name[name] for name in dict.fromkeys(fields) if name in by_name]
        only_shown = {name: only_shown[name] for name in fields if name in only_shown}
    limits = limits_of(access, obj, chosen)
    chars = CHOSEN_CHARS if fields else FIELD_CHARS
    result: dict[str, JSON] = {
        "model": access.label,
        "id": obj.pk,
        "text": object_text(obj),
        "version": version_from(visible, obj),
        "fields": {
            **{field.name: value_of(field, obj, chars, limits) for field in chosen},
            **{name: short_value(value, chars) for name, value in only_shown.items()},
        },
        "may": [
            name
            for name in ("change", "delete")
            if not is_read_only(access.model, access.model_admin)
            and getattr(page.model_admin, f"has_{name}_permission")(page.request, obj)
        ],
    }
    if only_shown and (code := form_language(page.model_admin, page.request, obj)):
        result["language"] = code
    if not fields and (inlines := inlines_of(page, obj)):
        result["inlines"] = inlines
    return result


def _form_only(page: AdminAccess, obj: Model) -> dict[str, Any]:
    """Return what the form of the page shows beyond the fields of the model."""
    nothing: dict[str, Any] = {}
    return value_or(
        nothing,
        lambda: form_only_values(page.model_admin, page.request, obj),
        "%s does not tell the form of an object",
        page.label,
    )


@data_tool(effect="read", label=_("History"), icon="clock", summary=_history_summary)
def object_history(context: RunContext, model: str, id: ObjectId) -> dict[str, JSON]:
    """Tell who changed an object in the admin, when and what; the newest first."""
    access = find_access(context, model)
    obj = find_object(access, id, "history")
    entries = LogEntry.objects.filter(
        object_id=str(obj.pk), content_type=get_content_type_for_model(access.model)
    )
    newest = entries.select_related("user").order_by("-action_time", "-pk")
    return {
        "model": access.label,
        "id": obj.pk,
        "text": object_text(obj),
        "total": entries.count(),
        "entries": [
            {
                "time": entry.action_time.isoformat(timespec="seconds"),
                "user": object_text(entry.user),
                "action": ACTIONS.get(entry.action_flag, ""),
                "message": short_value(entry.get_change_message(), MESSAGE_CHARS),
            }
            for entry in newest[:MOST_ENTRIES]
        ],
    }
