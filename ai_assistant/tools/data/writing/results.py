"""What the model reads of what was written, or of what is wrong with it."""

from collections.abc import Sequence
from typing import Any

from django.contrib.admin.utils import model_ngettext
from django.db.models import Model
from django.forms import ModelChoiceField
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ai_assistant.tools.data.access.model_admin import AdminAccess
from ai_assistant.tools.data.access.values import object_name
from ai_assistant.tools.data.reading.version import object_version
from ai_assistant.tools.data.writing.submission import FormSubmission
from ai_assistant.types import JSON, ToolResult

MOST_FIELDS = 3
NAME_CHARS = 80


def add_title(options: Any) -> str:
    """Return "Add order"."""
    return _("Add %(name)s") % {"name": options.verbose_name}


def change_title(options: Any, text: str, labels: Sequence[str]) -> str:
    """Return "Change status of order “X”"."""
    named = {"name": options.verbose_name, "object": short_title(text)}
    if not labels:
        return _("Change %(name)s “%(object)s”") % named
    named["fields"] = _fields(labels)
    return _("Change %(fields)s of %(name)s “%(object)s”") % named


def change_many_title(options: Any, count: int, labels: Sequence[str]) -> str:
    """Return "Change status of 3 orders"."""
    return _("Change %(fields)s of %(objects)s") % {
        "fields": _fields(labels),
        "objects": count_with_name(options, count),
    }


def change_verb(options: Any, count: int) -> str:
    """Return "Change 3 orders", or "Change order" for one."""
    name = options.verbose_name if count == 1 else count_with_name(options, count)
    return _("Change %(name)s") % {"name": name}


def delete_title(options: Any, count: int, text: str) -> str:
    """Return "Delete order “X” and 4 more"."""
    named = {"name": options.verbose_name, "object": short_title(text)}
    if count == 1:
        return _("Delete %(name)s “%(object)s”") % named
    named["count"] = count - 1
    return (
        ngettext(
            "Delete %(name)s “%(object)s” and %(count)d more",
            "Delete %(name)s “%(object)s” and %(count)d more",
            count - 1,
        )
        % named
    )


def delete_verb(options: Any, count: int) -> str:
    """Return "Delete 3 orders", or "Delete order" for one."""
    name = options.verbose_name if count == 1 else count_with_name(options, count)
    return _("Delete %(name)s") % {"name": name}


def count_with_name(options: Any, count: int) -> str:
    """Return "3 orders"."""
    name = model_ngettext(options, count)
    return _("%(count)d %(name)s") % {"count": count, "name": name}


def short_title(text: str) -> str:
    """Return a name that fits into a title."""
    return text if len(text) <= NAME_CHARS else f"{text[: NAME_CHARS - 1]}…"


def _fields(labels: Sequence[str]) -> str:
    unique = list(dict.fromkeys(labels))
    if len(unique) > MOST_FIELDS:
        return ngettext("%(count)d field", "%(count)d fields", len(unique)) % {
            "count": len(unique)
        }
    return str(get_text_list([label.lower() for label in unique], _("and")))


MOST_VERSIONS = 50  # of objects in one result


def one_written(door: AdminAccess, saved: Model, message: str) -> ToolResult:
    """Return the result of a call that wrote one object: its id and its version."""
    told = _named(door, saved)
    data = {**told, "version": _version(door, saved)}
    return ToolResult(ok=True, message=message, data=data, changed=(told,))


def many_written(door: AdminAccess, saved: Sequence[Model]) -> ToolResult:
    """Return the result of a call that wrote several objects."""
    named = [_named(door, one) for one in saved]
    versions = [
        {"id": told["id"], "version": _version(door, one)}
        for told, one in zip(named[:MOST_VERSIONS], saved, strict=False)
    ]
    return ToolResult(
        ok=True,
        message=_("Changed %(objects)s.")
        % {"objects": count_with_name(door.options, len(saved))},
        data={"count": len(saved), "objects": versions},
        changed=tuple(named),
    )


def _named(door: AdminAccess, saved: Model) -> dict[str, JSON]:
    return {"model": door.label, "id": str(saved.pk), "text": object_name(saved)}


def _version(door: AdminAccess, saved: Model) -> str:
    """Return the version of the row: an instance may hold what was never stored."""
    stored = door.model._base_manager.filter(pk=saved.pk).first()
    return object_version(door, stored) if stored is not None else ""


VALIDATION = "validation"
PAGE = "__all__"
NOT_OFFERED = {"invalid_choice", "invalid_pk_value"}  # their texts name the value


def form_errors(submitted: FormSubmission, text: str = "") -> ToolResult:
    """Return the errors of a page that is not valid, by field; `text` names it."""
    data: dict[str, JSON] = {"fields": _errors(submitted.form)}
    inlines = {formset.prefix: _rows(formset) for formset in submitted.formsets}
    if wrong := {prefix: rows for prefix, rows in inlines.items() if rows}:
        data["inlines"] = wrong
    told = "; ".join(_sentences(submitted))
    return ToolResult(
        ok=False,
        error=_("“%(object)s” cannot be saved. %(errors)s")
        % {"object": text, "errors": told}
        if text
        else _("It cannot be saved. %(errors)s") % {"errors": told},
        error_type=VALIDATION,
        suggestion=_("Correct these values and call again."),
        data=data,
    )


def nothing_to_change() -> ToolResult:
    """Return the result of a call that would leave all as it is."""
    return ToolResult(ok=True, message=_("Nothing to change: it is so already."))


def _errors(form: Any) -> dict[str, list[str]]:
    return {name: _texts(form, name, errors) for name, errors in form.errors.items()}


def _texts(form: Any, name: str, errors: Any) -> list[str]:
    """Return errors as texts, without the value that a field has and does not offer."""
    codes = {one.code for one in errors.as_data()}
    if codes & NOT_OFFERED and name not in form.changed_data:
        return [str(ModelChoiceField.default_error_messages["invalid_choice"])]
    return [str(one) for one in errors]


def _rows(formset: Any) -> list[JSON]:
    rows: list[JSON] = [
        {"row": number, "fields": _errors(form)}
        for number, form in enumerate(formset.forms)
        if form.errors
    ]
    if formset.non_form_errors():
        rows.append({"fields": {PAGE: [str(one) for one in formset.non_form_errors()]}})
    return rows


def _sentences(submitted: FormSubmission) -> list[str]:
    forms = [
        submitted.form,
        *(form for one in submitted.formsets for form in one.forms),
    ]
    found = []
    for form in forms:
        for name, errors in _errors(form).items():
            label = "" if name == PAGE else f"{_label(form, name)}: "
            found.append(f"{label}{' '.join(errors)}")
    for formset in submitted.formsets:
        found.extend(str(one) for one in formset.non_form_errors())
    return found


def _label(form: Any, name: str) -> str:
    field = form.fields.get(name)
    return str((field and field.label) or name)
