"""The tool that adds an object, as the page that adds one does."""

from typing import Annotated, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field

from ai_assistant.changes.values import Changes
from ai_assistant.decorators import tool
from ai_assistant.exceptions import ToolFailed
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    at_add,
    check_told,
    find_door,
)
from ai_assistant.tools.data.access.sites import check_page
from ai_assistant.tools.data.arguments import are_enabled
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.writing.differences import object_changes
from ai_assistant.tools.data.writing.editing import ValuesEditor
from ai_assistant.tools.data.writing.results import add_title, form_errors, one_written
from ai_assistant.tools.data.writing.saving import save
from ai_assistant.tools.data.writing.submission import (
    FormSubmission,
    form_submission,
    with_post,
)
from ai_assistant.types import RunContext, ToolResult

Values = Annotated[dict[str, Any], Field(max_length=200)]
Inlines = Annotated[dict[str, list[dict[str, Any]]] | None, Field(max_length=50)]


def preview_create(
    context: RunContext, model: str, values: Values, inlines: Inlines = None
) -> Changes | ToolResult:
    """Return the object that would be added."""
    door, submitted = _submitted(context, model, values, inlines)
    if not submitted.is_valid():
        return form_errors(submitted)
    found = object_changes(submitted)
    title = add_title(door.options)
    return Changes(
        title=title,
        verb=title,
        model=door.label,
        objects=tuple(found),
        total=len(found),
    )


def add_door(context: RunContext, model: str) -> AdminAccess:
    """Return the page that adds an object of `model`. Raise if the user may not."""
    door = at_add(find_door(context, model, also="add"))
    check_told(door.model)
    posting = with_post(door, door.request.POST)
    if not door.model_admin.has_add_permission(posting.request):
        raise ToolFailed(
            _("You may not add %(names)s.")
            % {"names": door.options.verbose_name_plural}
        )
    check_page(door, "add")
    return door


def _submitted(
    context: RunContext, model: str, values: Values, inlines: Inlines
) -> tuple[AdminAccess, FormSubmission]:
    door = add_door(context, model)
    with wrong_values():
        return door, form_submission(door, None, values, inlines)


def _editable(context: RunContext, arguments: dict[str, Any]) -> FormSubmission:
    return _submitted(context, arguments["model"], arguments["values"], None)[1]


@tool(
    effect="write",
    label=gettext_lazy("Add object"),
    shared=True,
    is_enabled=are_enabled,
    preview=preview_create,
    editor=ValuesEditor(_editable),
    icon="new",
)
def create_object(
    context: RunContext, model: str, values: Values, inlines: Inlines = None
) -> ToolResult:
    """
    Add an object. describe_model tells the fields.

    model: app.model
    values: by field; relations are ids, many-to-many lists of ids, times ISO
    inlines: new rows by inline
    """
    door, submitted = _submitted(context, model, values, inlines)
    with wrong_values():
        if not submitted.is_valid():
            return form_errors(submitted)
    saved = save(context, submitted)
    return one_written(door, saved, _("Added."))
