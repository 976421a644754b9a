"""What is wrong with a posted page, so that a model can repair its call."""

from typing import Any

from django.forms import ModelChoiceField
from django.utils.translation import gettext as _

from ai_assistant.tools.data.submission import Submission
from ai_assistant.types import JSON, ToolResult

VALIDATION = "validation"
PAGE = "__all__"
NOT_OFFERED = {"invalid_choice", "invalid_pk_value"}  # their texts name the value


def refusal(submitted: Submission, text: str = "") -> ToolResult:
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


def _errors(form: Any) -> dict[str, list[str]]:  # noqa: ANN401 - a Django form
    return {name: _texts(form, name, errors) for name, errors in form.errors.items()}


def _texts(form: Any, name: str, errors: Any) -> list[str]:  # noqa: ANN401
    """Return errors as texts, without the value that a field has and does not offer."""
    codes = {one.code for one in errors.as_data()}
    if codes & NOT_OFFERED and name not in form.changed_data:
        return [str(ModelChoiceField.default_error_messages["invalid_choice"])]
    return [str(one) for one in errors]


def _rows(formset: Any) -> list[JSON]:  # noqa: ANN401
    rows: list[JSON] = [
        {"row": number, "fields": _errors(form)}
        for number, form in enumerate(formset.forms)
        if form.errors
    ]
    if formset.non_form_errors():
        rows.append({"fields": {PAGE: [str(one) for one in formset.non_form_errors()]}})
    return rows


def _sentences(submitted: Submission) -> list[str]:
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


def _label(form: Any, name: str) -> str:  # noqa: ANN401
    field = form.fields.get(name)
    return str((field and field.label) or name)
