"""The tool that adds an object, as the add page of the admin does."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant.changes.values import Changes
from ai_assistant.exceptions import ToolFailed
from ai_assistant.tools.data.access.model_admin import (
    at_page,
    check_distinguishable,
    find_access,
)
from ai_assistant.tools.data.access.sites import check_page
from ai_assistant.tools.data.arguments import Inlines, Values, data_tool
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


def preview_create(
    context: RunContext, model: str, values: Values, inlines: Inlines = None
) -> Changes | ToolResult:
    """Return the object that would be added."""
    submitted = _submitted(context, model, values, inlines)
    if not submitted.is_valid():
        return form_errors(submitted)
    changes = object_changes(submitted)
    title = add_title(submitted.access.options)
    return Changes(
        title=title,
        verb=title,
        model=submitted.access.label,
        objects=tuple(changes),
        total=len(changes),
    )


def _submitted(
    context: RunContext, model: str, values: Values, inlines: Inlines
) -> FormSubmission:
    """Return the add page as it would be posted. Raise ToolFailed if it is closed."""
    access = at_page(find_access(context, model, also="add"), "add")
    check_distinguishable(access.model)
    posting = with_post(access, access.request.POST)
    if not access.model_admin.has_add_permission(posting.request):
        raise ToolFailed(
            _("You may not add %(names)s.")
            % {"names": access.options.verbose_name_plural}
        )
    check_page(access, "add")
    with wrong_values():
        return form_submission(access, None, values, inlines)


def _editable(context: RunContext, arguments: dict[str, Any]) -> FormSubmission:
    return _submitted(context, arguments["model"], arguments["values"], None)


@data_tool(
    effect="write",
    label=gettext_lazy("Add object"),
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
    submitted = _submitted(context, model, values, inlines)
    with wrong_values():
        if not submitted.is_valid():
            return form_errors(submitted)
    saved = save(context, submitted)
    return one_written(submitted.access, saved, _("Added."))
