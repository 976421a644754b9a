"""The tool that deletes objects, as the admin does, with all that goes along."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant.changes.capture.images import versions
from ai_assistant.changes.values import SHOWN, Changes, ObjectChange
from ai_assistant.decorators import tool
from ai_assistant.tools.data.access.model_admin import AdminAccess, at_object, find_door
from ai_assistant.tools.data.access.sites import check_page
from ai_assistant.tools.data.access.values import object_name
from ai_assistant.tools.data.arguments import Ids, are_enabled, chosen_rows, on_page
from ai_assistant.tools.data.writing.cascade import (
    Cascade,
    check_closed,
    check_deletion,
)
from ai_assistant.tools.data.writing.results import (
    count_with_name,
    delete_title,
    delete_verb,
)
from ai_assistant.tools.data.writing.saving import delete_as_admin
from ai_assistant.tools.data.writing.submission import posting_list
from ai_assistant.types import RunContext, ToolResult


def preview_delete(context: RunContext, model: str, ids: Ids) -> Changes:
    """Return what would be deleted and changed."""
    door, cascade = _checked(context, model, ids)
    objects = cascade.objects
    return Changes(
        title=delete_title(door.options, len(objects), object_name(objects[0])),
        verb=delete_verb(door.options, len(objects)),
        model=door.label,
        objects=tuple(
            ObjectChange(
                kind="delete",
                model=door.label,
                object_id=str(one.pk),
                text=object_name(one),
            )
            for one in objects[:SHOWN]
        ),
        total=len(objects),
        related=cascade.related(),
        versions=versions(cascade.rows()),
        rows_argument="ids",
    )


def _checked(context: RunContext, model: str, ids: Ids) -> tuple[AdminAccess, Cascade]:
    door = find_door(context, model, also="delete")
    objects = chosen_rows(door, ids, on_page("delete"))
    door = posting_list(door, {"action": "delete_selected", "post": "yes"}, objects)
    check_deletion(door, objects)
    for one in objects:
        check_page(at_object(door, one.pk, "delete"), "delete")
    cascade = Cascade(objects)
    check_closed(door, cascade)
    return door, cascade


@tool(
    effect="destructive",
    label=gettext_lazy("Delete objects"),
    shared=True,
    is_enabled=are_enabled,
    preview=preview_delete,
    rows_argument="ids",
    icon="close",
)
def delete_objects(context: RunContext, model: str, ids: Ids) -> ToolResult:
    """Delete objects, with all that depends on them."""
    door, cascade = _checked(context, model, ids)
    objects = list(cascade.objects)
    changed = [
        {"model": door.label, "id": str(one.pk), "text": object_name(one)}
        for one in objects
    ]
    count = len(objects)
    delete_as_admin(context, door, objects)
    return ToolResult(
        ok=True,
        message=_("Deleted %(objects)s.")
        % {"objects": count_with_name(door.options, count)},
        changed=tuple(changed),
    )
