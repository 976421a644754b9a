"""The tools that add an object and change one, as their pages in the admin do."""

from typing import Any

from django.db.models import Model
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant.changes.capture.images import versions
from ai_assistant.changes.values import Changes
from ai_assistant.exceptions import ToolFailed
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    check_writable,
    find_access,
    find_object,
)
from ai_assistant.tools.data.access.values import object_name
from ai_assistant.tools.data.arguments import Inlines, Values, data_tool
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.reading.version import Freshness
from ai_assistant.tools.data.writing import results
from ai_assistant.tools.data.writing.delete import Cascade
from ai_assistant.tools.data.writing.differences import (
    form_changes,
    object_changes,
    removed_inlines,
)
from ai_assistant.tools.data.writing.editing import ValuesEditor
from ai_assistant.tools.data.writing.saving import save_page
from ai_assistant.tools.data.writing.submission import (
    FormSubmission,
    form_submission,
    with_post,
)
from ai_assistant.tools.summary import name_in
from ai_assistant.types import RunContext, ToolResult


def preview_create(
    context: RunContext, model: str, values: Values, inlines: Inlines = None
) -> Changes | ToolResult:
    """Return the object that would be added."""
    submitted = add_page(context, model, values, inlines)
    with wrong_values():
        if not submitted.is_valid():
            return results.form_errors(submitted)
    changes = object_changes(submitted)
    title = _("Add %(name)s") % {"name": submitted.form.instance._meta.verbose_name}
    return Changes(
        title=results.with_language(title, submitted),
        verb=title,
        model=submitted.access.label,
        objects=tuple(changes),
        total=len(changes),
        needs_trial=submitted.needs_trial(context),
    )


def add_page(
    context: RunContext, model: str, values: Values, inlines: Inlines
) -> FormSubmission:
    """Return the add form as it would be posted. Raise ToolFailed if it is closed."""
    access = find_access(context, model, perm="add").at_page("add")
    check_writable(access)
    posting = with_post(access, access.request.POST)
    if not access.model_admin.has_add_permission(posting.request):
        raise ToolFailed(
            _("You may not add %(names)s.")
            % {"names": access.options.verbose_name_plural}
        )
    access.check_page()
    with wrong_values():
        return form_submission(access, None, values, inlines)


def _added(_arguments: dict[str, Any], data: Any) -> str:
    return _("Added %(object)s") % {"object": name_in(data)} if data else ""


def _changed(_arguments: dict[str, Any], data: Any) -> str:
    return _("Changed %(object)s") % {"object": name_in(data)} if data else ""


@data_tool(
    effect="write",
    label=gettext_lazy("Add object"),
    summary=_added,
    preview=preview_create,
    editor=ValuesEditor(
        lambda context, given: add_page(context, given["model"], given["values"], None)
    ),
    icon="new",
)
def create_object(
    context: RunContext, model: str, values: Values, inlines: Inlines = None
) -> ToolResult:
    """
    Add an object. describe_model tells the fields.

    model: app.model
    values: by field; relations are ids, many-to-many lists of ids, times ISO
    inlines: new rows by inline; those of an inline in a row stand in that row
    """
    submitted = add_page(context, model, values, inlines)
    saved = save_page(context, submitted)
    if isinstance(saved, ToolResult):
        return saved
    return results.one_written(submitted.access, saved, _("Added."))


def preview_change(
    context: RunContext,
    model: str,
    id: str | int,
    values: Values,
    inlines: Inlines = None,
    version: str = "",
) -> Changes | ToolResult:
    """Return what the page of the object would change."""
    submitted, obj = change_page(context, model, id, values, inlines)
    access = submitted.access
    if stale := Freshness(context, access).refuse(obj, version):
        return stale
    with wrong_values():
        if not submitted.is_valid():
            return results.form_errors(submitted)
    changes = object_changes(submitted)
    if not changes:
        return results.nothing_to_change()
    cascades = _cascades(access, submitted)
    rows = form_changes(submitted)
    rows += [row for cascade in cascades for row in cascade.rows()]
    name = submitted.form.instance._meta.verbose_name
    title_values = {"name": name, "object": results.short_name(obj)}
    title = _("Change %(name)s “%(object)s”") % title_values
    if len(changes) == 1 and changes[0].kind == "change":
        title_values["fields"] = results.joined_labels(
            [field.label for field in changes[0].fields]
        )
        title = _("Change %(fields)s of %(name)s “%(object)s”") % title_values
    return Changes(
        title=results.with_language(title, submitted),
        verb=_("Change %(name)s") % {"name": name},
        model=access.label,
        objects=tuple(changes),
        total=len(changes),
        related=tuple(part for cascade in cascades for part in cascade.related()),
        versions=versions(rows),
        needs_trial=submitted.needs_trial(context),
    )


def check_change(access: AdminAccess, obj: Model) -> None:
    """Make sure that the user may change `obj`, by a request that posts."""
    if not access.model_admin.has_change_permission(access.request, obj):
        raise ToolFailed(
            _("You may not change %(name)s “%(object)s”.")
            % {"name": access.options.verbose_name, "object": object_name(obj)}
        )


def change_page(
    context: RunContext,
    model: str,
    object_id: str | int,
    values: Values,
    inlines: Inlines,
) -> tuple[FormSubmission, Model]:
    """Return the page as it would be posted, and the object as it is."""
    access = find_access(context, model)
    check_writable(access)
    obj = find_object(access, object_id)
    page = access.at_object(obj.pk)
    check_change(with_post(page, page.request.POST), obj)
    with wrong_values():
        return form_submission(page, obj, values, inlines), obj


def _check_cascades(access: AdminAccess, submitted: FormSubmission) -> None:
    _cascades(access, submitted)


def _cascades(access: AdminAccess, submitted: FormSubmission) -> list[Cascade]:
    """Return what is deleted with the rows of inlines that are removed."""
    cascades = [Cascade([row]) for row in removed_inlines(submitted)]
    for cascade in cascades:
        cascade.check_closed(access)
    return cascades


def _editable_change(context: RunContext, arguments: dict[str, Any]) -> FormSubmission:
    model, object_id = arguments["model"], arguments["id"]
    return change_page(context, model, object_id, arguments["values"], None)[0]


def removes_inline_rows(arguments: dict[str, Any]) -> bool:
    """Return whether these arguments delete rows of inlines, or rows within rows."""
    return _removes_rows(arguments.get("inlines"))


def _removes_rows(inlines: Any) -> bool:
    row_lists = inlines.values() if isinstance(inlines, dict) else ()
    rows = [row for rows in row_lists if isinstance(rows, list) for row in rows]
    deleted = [isinstance(row, dict) and row.get("DELETE") for row in rows]
    return any(deleted) or any(map(_removes_rows, rows))


@data_tool(
    effect="write",
    removes=removes_inline_rows,
    label=gettext_lazy("Change object"),
    summary=_changed,
    preview=preview_change,
    editor=ValuesEditor(_editable_change),
    icon="edit",
)
def change_object(
    context: RunContext,
    model: str,
    id: str | int,
    values: Values,
    inlines: Inlines = None,
    version: str = "",
) -> ToolResult:
    """
    Change fields of one object. Fields that are not given stay.

    values: by field, as in create_object
    inlines: rows by inline: with an id changed, with "DELETE": true removed, else new;
        those of an inline in a row stand in that row
    version: as it was read
    """
    submitted, obj = change_page(context, model, id, values, inlines)
    access = submitted.access
    # Once it is approved, a person has seen what the object holds.
    freshness = Freshness(context, access)
    if not context.is_as_shown and (stale := freshness.refuse(obj, version)):
        return stale
    saved = save_page(context, submitted, lambda: _check_cascades(access, submitted))
    if isinstance(saved, ToolResult):
        return saved
    return results.one_written(access, saved, _("Changed."))
