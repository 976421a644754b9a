"""The tool that changes the same fields of many objects, each by its own form."""

from collections.abc import Iterator
from copy import copy
from functools import cache
from typing import Any

from django import forms
from django.contrib.admin.options import BaseModelAdmin, ModelAdmin
from django.contrib.admin.utils import flatten, flatten_fieldsets
from django.db.models import Model, prefetch_related_objects
from django.forms.models import apply_limit_choices_to_to_formfield
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant.changes.capture.images import versions
from ai_assistant.changes.values import SHOWN, Changes, ObjectChange
from ai_assistant.changes.verify.expected_values import Hiding
from ai_assistant.safety.policy.form_limits import admin_form_class
from ai_assistant.tools.data.access.form_classes import FIELD_METHODS
from ai_assistant.tools.data.access.model_admin import AdminAccess, find_access
from ai_assistant.tools.data.access.values import object_name
from ai_assistant.tools.data.arguments import Ids, Values, chosen_rows, data_tool
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.reading.version import Freshness
from ai_assistant.tools.data.writing import results
from ai_assistant.tools.data.writing.change import check_change
from ai_assistant.tools.data.writing.differences import (
    field_changes,
    form_changes_object,
    object_changes,
)
from ai_assistant.tools.data.writing.editing import ValuesEditor
from ai_assistant.tools.data.writing.harvest import is_django_form
from ai_assistant.tools.data.writing.posting import check_names, post_form, post_values
from ai_assistant.tools.data.writing.saving import (
    record_rows_before,
    save_page,
    save_row,
)
from ai_assistant.tools.data.writing.submission import (
    FormSubmission,
    form_submission,
    posting_list,
)
from ai_assistant.types import RunContext, ToolResult

# A thousand rows take one to three seconds; SQLite waits for a lock for five.
WRITE_TIMEOUT_S = 4.0


def preview_bulk(
    context: RunContext, model: str, ids: Ids, values: Values
) -> Changes | ToolResult:
    """Return the first changed objects, the values of the others, and their number."""
    access = find_access(context, model)
    hiding = Hiding(access.model)
    previewed: list[ObjectChange] = []
    changed: list[Model] = []
    labels: list[str] = []
    needs_trial = False
    first: FormSubmission | None = None
    for submitted in _submissions(context, access, ids, values):
        if isinstance(submitted, ToolResult):
            return submitted
        if not form_changes_object(submitted):
            continue
        first = first or submitted
        changed.append(submitted.obj)  # type: ignore[arg-type]
        needs_trial = needs_trial or submitted.needs_trial(context)
        if len(previewed) < SHOWN:
            previewed.extend(object_changes(submitted))
            labels += [field.label for field in previewed[-1].fields]
        else:
            fields = field_changes(submitted.form, submitted.obj, with_texts=False)
            hiding.add(changed[-1].pk, list(fields))
    if first is None:
        return results.nothing_to_change()
    title = _("Change %(fields)s of %(objects)s") % {
        "fields": results.joined_labels(labels),
        "objects": results.count_with_name(access.options, len(changed)),
    }
    return Changes(
        title=results.with_language(title, first),
        verb=_("Change %(name)s")
        % {"name": results.counted_name(access.options, len(changed))},
        model=access.label,
        objects=tuple(previewed),
        total=len(changed),
        versions=versions(changed),
        rows_argument="ids",
        hidden=hiding.fields(),
        needs_trial=needs_trial,
    )


def _submissions(
    context: RunContext, access: AdminAccess, ids: Ids, values: Values
) -> Iterator[FormSubmission | ToolResult]:
    """Yield the valid forms of the objects, or the refusal of the first other."""
    rows = chosen_rows(access, ids, "change")
    # Each form reads the links of its object.
    links = [field.name for field in access.options.many_to_many]
    prefetch_related_objects(rows, *links)
    posting = posting_list(access, {"_save": "1"}, rows)
    freshness, row_forms = Freshness(context, access), RowForms(posting, values)
    has_custom_pages = not is_django_form(access.at_object(rows[0].pk))
    for row in rows:
        check_change(posting, row)
        if stale := freshness.refuse(row):
            yield stale
            return
        with wrong_values():
            if has_custom_pages:
                page = access.at_object(row.pk)
                page.check_page()
                submitted = form_submission(page, row, values)
            else:
                submitted = row_forms.submission(row)
            is_valid = submitted.is_valid()
        if not is_valid:
            yield results.form_errors(submitted, object_name(row))
            return
        yield submitted


def _editable(context: RunContext, arguments: dict[str, Any]) -> FormSubmission:
    """Return the form of the first of the objects."""
    access = find_access(context, arguments["model"])
    first = chosen_rows(access, arguments["ids"], "change")[0]
    page = access.at_object(first.pk)
    check_change(page, first)
    return form_submission(page, first, arguments["values"])


class CheckedForms:
    """The valid forms of the objects that would change, and the state of their rows."""

    def __init__(self, submissions: list[FormSubmission]) -> None:
        self.submissions = submissions
        self.rows = [form.obj for form in submissions if form.obj is not None]
        self.versions = versions(self.rows)


def prepare(
    context: RunContext, model: str, ids: Ids, values: Values
) -> CheckedForms | ToolResult:
    """Fill in all forms before the transaction: it takes long and needs no lock."""
    access = find_access(context, model)
    submissions = []
    for submitted in _submissions(context, access, ids, values):
        if isinstance(submitted, ToolResult):
            return submitted
        if submitted.has_changed():
            submissions.append(submitted)
    return CheckedForms(submissions)


def _still_valid(context: RunContext, model: str) -> CheckedForms | None:
    """Return the prepared forms, or None if the rows have changed since."""
    checked = context.prepared
    if not isinstance(checked, CheckedForms):
        return None
    if versions(checked.rows) != checked.versions:
        return None
    posting = posting_list(find_access(context, model), {"_save": "1"}, checked.rows)
    for row in checked.rows:
        check_change(posting, row)
    return checked


@data_tool(
    effect="write",
    label=gettext_lazy("Change objects"),
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
    checked = _still_valid(context, model) or prepare(context, model, ids, values)
    if isinstance(checked, ToolResult):
        return checked
    if not checked.submissions:
        return results.nothing_to_change()
    record_rows_before(checked.rows, ())
    saved = []
    for submitted in checked.submissions:
        is_row = submitted.access.page == "changelist"
        save = save_row if is_row else save_page
        obj = save(context, submitted)
        if isinstance(obj, ToolResult):
            return obj
        saved.append(obj)
    return results.many_written(find_access(context, model), saved)


class RowForms:
    """
    Make the form of each of many objects, with the same new values.

    It is that of the object's own page, without inlines, as where the list of the
    admin edits. A class is made once for all objects that have the same one.
    """

    def __init__(self, access: AdminAccess, values: Values) -> None:
        self.access, self.values = access, values  # the request posts already
        admin_class = type(access.model_admin)
        self.is_custom_form = admin_class.get_form is not ModelAdmin.get_form
        self.overridden = [
            name
            for name in FIELD_METHODS
            if getattr(admin_class, name) is not getattr(BaseModelAdmin, name)
        ]
        # By the answers of the overridden methods.
        self.classes: dict[Any, tuple[Any, list[str]]] = {}

    def submission(self, obj: Model) -> FormSubmission:
        """Return the page of `obj`. Raise ModelRetry as `form_submission` does."""
        form_class, names = self._class(obj)
        data, files = QueryDict(mutable=True), self.access.request.FILES
        is_plain = isinstance(form_class.base_fields, SharedFields)
        if is_plain:
            form = source = form_class(data, files, instance=copy(obj))
        else:  # code of the site may look at the data as soon as the form is made
            source = form_class(instance=copy(obj))
            check_names(source, names, self.values, self.access.model_admin)
        post_form(data, source, names, is_limited=False)
        post_values(data, source, self.values)
        if not is_plain:
            form = form_class(data, files, instance=copy(obj))
        return FormSubmission(
            access=self.access,
            obj=obj,
            form=form,
            named_fields={"": self.values.keys()},
        )

    def _class(self, obj: Model) -> tuple[Any, list[str]]:
        """Return the form class of `obj`, and the fields that its page shows."""
        admin, request = self.access.model_admin, self.access.request
        if self.is_custom_form:
            return _with_names(admin, request, obj)
        answers = []
        for name in self.overridden:
            answer = getattr(admin, name)(request, obj) or ()
            is_nested = name == "get_fieldsets"
            names = flatten_fieldsets(answer) if is_nested else flatten(answer)
            answers.append(tuple(names))
        key = tuple(answers)
        if key not in self.classes:
            form_class, names = self.classes[key] = _with_names(admin, request, obj)
            if _is_plain(form_class):
                check_names(form_class(instance=copy(obj)), names, self.values, admin)
                _share_fields(form_class)
        return self.classes[key]


def _with_names(admin: Any, request: HttpRequest, obj: Model) -> tuple[Any, list[str]]:
    form_class = admin_form_class(admin, request, obj)
    shown = flatten_fieldsets(admin.get_fieldsets(request, obj))
    return form_class, [name for name in shown if name in form_class.base_fields]


class SharedFields(dict[str, forms.Field]):
    """Form fields that all forms of a class share, instead of copying them."""

    def __deepcopy__(self, _memo: dict[int, Any]) -> "SharedFields":
        return self


def _share_fields(form_class: Any) -> None:
    """Let all forms of a class share its fields, and what they look up."""
    form_class.base_fields = SharedFields(form_class.base_fields)
    for field in form_class.base_fields.values():
        if isinstance(field, forms.ModelChoiceField):
            # Each form would do it again, on top of the last one's result.
            apply_limit_choices_to_to_formfield(field)
            field.limit_choices_to = None
        if type(field) is forms.ModelChoiceField:
            # A thousand forms ask once for the object that they all choose.
            shared: Any = field
            shared.to_python = cache(field.to_python)


def _is_plain(form_class: type) -> bool:
    """Return whether the form has no code of the site, which may change its fields."""
    return not any(
        callable(value) or isinstance(value, property | classmethod | staticmethod)
        for base in form_class.__mro__
        if not base.__module__.startswith("django.") and base is not object
        for name, value in vars(base).items()
        if name != "Meta"
    )
