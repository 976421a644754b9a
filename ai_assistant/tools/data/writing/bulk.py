"""The tool that changes the same fields of many objects, each by its own form."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, prefetch_related_objects
from django.utils.translation import gettext_lazy

from ai_assistant.changes.capture.images import versions
from ai_assistant.changes.values import SHOWN, Changes, ObjectChange
from ai_assistant.changes.verify.expected_values import Hiding
from ai_assistant.decorators import tool
from ai_assistant.tools.data.access.model_admin import AdminAccess, at_object, find_door
from ai_assistant.tools.data.access.sites import check_page, is_custom_page
from ai_assistant.tools.data.access.values import object_name
from ai_assistant.tools.data.arguments import Ids, are_enabled, chosen_rows, on_page
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.reading.version import Freshness
from ai_assistant.tools.data.writing.change import check_change
from ai_assistant.tools.data.writing.create import Values
from ai_assistant.tools.data.writing.differences import (
    form_changes_object,
    object_changes,
    row_changes,
)
from ai_assistant.tools.data.writing.editing import ValuesEditor
from ai_assistant.tools.data.writing.results import (
    change_many_title,
    change_verb,
    form_errors,
    many_written,
    nothing_to_change,
)
from ai_assistant.tools.data.writing.row_forms import RowForms
from ai_assistant.tools.data.writing.saving import record_rows_before, save
from ai_assistant.tools.data.writing.submission import (
    FormSubmission,
    form_submission,
    posting_list,
)
from ai_assistant.types import RunContext, ToolResult

# A thousand rows take one to three seconds; SQLite lets others wait for five.
WRITE_TIMEOUT_S = 4.0


def preview_bulk(
    context: RunContext, model: str, ids: Ids, values: Values
) -> Changes | ToolResult:
    """
    Return the first changed objects and how many there are; each is checked.

    Of the others it is kept what they become, so that they are held to it as well.
    """
    door = find_door(context, model)
    hiding = Hiding(door.model)
    shown: list[ObjectChange] = []
    changed: list[Model] = []
    labels: dict[str, None] = {}
    for submitted in _submissions(context, door, ids, values):
        if isinstance(submitted, ToolResult):
            return submitted
        if not form_changes_object(submitted):
            continue
        changed.append(submitted.obj)  # type: ignore[arg-type]
        if len(shown) < SHOWN:
            shown.extend(object_changes(submitted))
            labels |= {one.label: None for one in shown[-1].fields}
        else:
            hiding.add(submitted.obj.pk, row_changes(submitted))  # type: ignore[union-attr]
    if not changed:
        return nothing_to_change()
    return Changes(
        title=change_many_title(door.options, len(changed), list(labels)),
        verb=change_verb(door.options, len(changed)),
        model=door.label,
        objects=tuple(shown),
        total=len(changed),
        versions=versions(changed),
        rows_argument="ids",
        hidden=hiding.fields(),
    )


def _submissions(
    context: RunContext, door: AdminAccess, ids: Ids, values: Values
) -> Iterator[FormSubmission | ToolResult]:
    """Yield the valid forms of the objects, or at last the refusal of one."""
    rows = chosen_rows(door, ids, on_page("change"))
    # Each form reads the links of its object.
    links = [field.name for field in door.options.many_to_many]
    prefetch_related_objects(rows, *links)
    posting = posting_list(door, {"_save": "1"}, rows)
    freshness, forms = Freshness(context, door), RowForms(posting, values)

    def own(row: Model) -> FormSubmission:
        there = at_object(door, row.pk)
        check_page(there, "change")
        return form_submission(there, row, values)

    own_pages = is_custom_page(at_object(door, rows[0].pk), "change")
    for row in rows:
        check_change(posting, row)
        if stale := freshness.refuse(row):
            yield stale
            return
        with wrong_values():
            made = own(row) if own_pages else forms.submission(row)
            is_valid = made.is_valid()
        if not is_valid:
            yield form_errors(made, object_name(row))
            return
        yield made


def _editable(context: RunContext, arguments: dict[str, Any]) -> FormSubmission:
    """Return the form of the first of the objects."""
    door = find_door(context, arguments["model"])
    first = chosen_rows(door, arguments["ids"], on_page("change"))[0]
    there = at_object(door, first.pk)
    check_change(there, first)
    return form_submission(there, first, arguments["values"])


@dataclass(frozen=True, slots=True)
class CheckedForms:
    """The valid forms of the objects that would change, and their rows then."""

    ready: list[FormSubmission]
    versions: dict[str, str]


def prepare(
    context: RunContext, model: str, ids: Ids, values: Values
) -> CheckedForms | ToolResult:
    """Fill in all the forms: that takes long, and needs no lock."""
    door = find_door(context, model)
    ready = []
    for submitted in _submissions(context, door, ids, values):
        if isinstance(submitted, ToolResult):
            return submitted
        if submitted.has_changed():
            ready.append(submitted)
    return CheckedForms(ready, versions(_objects(ready)))


def _objects(ready: list[FormSubmission]) -> list[Model]:
    return [one.obj for one in ready if one.obj is not None]


def _still(
    context: RunContext, found: object, model: str, ids: Ids, values: Values
) -> CheckedForms | ToolResult:
    """Return what was prepared if it holds now, else what would be prepared now."""
    if not isinstance(found, CheckedForms):
        return prepare(context, model, ids, values)
    rows = _objects(found.ready)
    if versions(rows) != found.versions:
        return prepare(context, model, ids, values)
    posting = posting_list(find_door(context, model), {"_save": "1"}, rows)
    for row in rows:
        check_change(posting, row)
    return found


@tool(
    effect="write",
    label=gettext_lazy("Change objects"),
    shared=True,
    is_enabled=are_enabled,
    preview=preview_bulk,
    prepare=prepare,
    write_timeout_s=WRITE_TIMEOUT_S,
    rows_argument="ids",
    editor=ValuesEditor(_editable),
    icon="table",
)
def change_objects(
    context: RunContext, model: str, ids: Ids, values: Values
) -> ToolResult:
    """Give the same values to fields of several objects of a model."""
    checked = _still(context, context.prepared, model, ids, values)
    if isinstance(checked, ToolResult):
        return checked
    if not checked.ready:
        return nothing_to_change()
    record_rows_before(_objects(checked.ready), ())
    saved: list[Model] = [save(context, one) for one in checked.ready]
    return many_written(find_door(context, model), saved)
