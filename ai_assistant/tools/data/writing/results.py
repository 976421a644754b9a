"""The titles and results of calls that write: saved objects or form errors."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib.admin.utils import model_ngettext
from django.core.exceptions import NON_FIELD_ERRORS
from django.db.models import Model
from django.forms import ModelChoiceField
from django.utils.text import get_text_list
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from ai_assistant.models.raw_sql import is_plain, row_by_key
from ai_assistant.safety.policy.form_limits import language_code
from ai_assistant.tools.data.access.model_admin import AdminAccess
from ai_assistant.tools.data.access.values import object_name
from ai_assistant.tools.data.reading.version import object_version
from ai_assistant.tools.data.writing.submission import FormSubmission
from ai_assistant.tools.result import VALIDATION
from ai_assistant.types import JSON, ToolResult

MOST_FIELDS = 3
OBJECT_CHARS = 80
MOST_VERSIONS = 50  # of objects in one result
NOT_OFFERED = {"invalid_choice", "invalid_pk_value"}  # their texts name the value


def counted_name(options: Any, count: int) -> str:
    """Return "3 orders", or "order" for one."""
    return options.verbose_name if count == 1 else count_with_name(options, count)


def count_with_name(options: Any, count: int) -> str:
    """Return "3 orders"."""
    name = model_ngettext(options, count)
    return _("%(count)d %(name)s") % {"count": count, "name": name}


def short_name(obj: Model) -> str:
    """Return the name of an object, cut for a title."""
    text = object_name(obj)
    return text if len(text) <= OBJECT_CHARS else f"{text[: OBJECT_CHARS - 1]}…"


def joined_labels(labels: Sequence[str]) -> str:
    """Return "status and note", or the number of fields if they are many."""
    unique = list(dict.fromkeys(labels))
    if len(unique) > MOST_FIELDS:
        return ngettext("%(count)d field", "%(count)d fields", len(unique)) % {
            "count": len(unique)
        }
    if not (get_language() or "").startswith("de"):  # which writes nouns large
        unique = [label.lower() for label in unique]
    return str(get_text_list(unique, _("and")))


def with_language(title: str, submitted: FormSubmission) -> str:
    """
    Return a title with the language of the texts that a page shows, if it shows one.

    That of django-parler does: the tab that the address names.
    """
    names = dict(settings.LANGUAGES)
    forms = (submitted.form, *submitted.formsets)
    code = next(filter(None, map(language_code, forms)), "")
    if not code or len(names) == 1:
        return title
    return f"{title} ({_(str(names[code]))})"


def one_written(access: AdminAccess, saved: Model, message: str) -> ToolResult:
    """Return the result of a call that wrote one object: its id and its version."""
    item = named_object(access, saved)
    data = {**item, "version": _version(access, saved)}
    return ToolResult(ok=True, message=message, data=data, changed=(item,))


def many_written(access: AdminAccess, saved: Sequence[Model]) -> ToolResult:
    """Return the result of a call that wrote several objects."""
    versions = [
        {"id": str(obj.pk), "version": _version(access, obj)}
        for obj in saved[:MOST_VERSIONS]
    ]
    return ToolResult(
        ok=True,
        message=_("Changed %(objects)s.")
        % {"objects": count_with_name(access.options, len(saved))},
        data={"count": len(saved), "objects": versions},
        changed=tuple(named_object(access, obj) for obj in saved),
    )


def named_object(access: AdminAccess, obj: Model) -> dict[str, JSON]:
    """Return the object as a result names it."""
    return {"model": access.label, "id": str(obj.pk), "text": object_name(obj)}


def _version(access: AdminAccess, saved: Model) -> str:
    """Return the version of the row: an instance may hold what was never stored."""
    model = access.model
    if is_plain(model):
        stored = row_by_key(model, saved.pk)
    else:
        stored = model._base_manager.filter(pk=saved.pk).first()
    return object_version(access, stored) if stored is not None else ""


def form_errors(submitted: FormSubmission, text: str = "") -> ToolResult:
    """Return the errors of a page that is not valid, by field; `text` names it."""
    errors = _errors(submitted.form)
    data: dict[str, JSON] = {"fields": errors}
    sentences = _sentences(submitted.form, errors)
    of_formsets = []
    inlines: dict[str, JSON] = {}
    for formset in submitted.formsets:
        rows: list[JSON] = []
        for number, form in enumerate(formset.forms):
            if errors := _errors(form):
                rows.append({"row": number, "fields": errors})
                sentences += _sentences(form, errors)
        if texts := [str(error) for error in formset.non_form_errors()]:
            rows.append({"fields": {NON_FIELD_ERRORS: texts}})
            of_formsets += texts
        if rows:
            inlines[formset.prefix] = rows
    if inlines:
        data["inlines"] = inlines
    values = {"object": text, "errors": "; ".join([*sentences, *of_formsets])}
    return ToolResult(
        ok=False,
        error=_("“%(object)s” cannot be saved. %(errors)s") % values
        if text
        else _("It cannot be saved. %(errors)s") % values,
        error_type=VALIDATION,
        suggestion=_("Correct these values and call again."),
        data=data,
    )


def nothing_to_change() -> ToolResult:
    """Return the result of a call that would change nothing."""
    return ToolResult(ok=True, message=_("No change: it already has these values."))


def _errors(form: Any) -> dict[str, list[str]]:
    """Return the errors by field, without values that the user may not see."""
    texts = {}
    for name, errors in form.errors.items():
        codes = {error.code for error in errors.as_data()}
        if codes & NOT_OFFERED and name not in form.changed_data:
            texts[name] = [
                str(ModelChoiceField.default_error_messages["invalid_choice"])
            ]
        else:
            texts[name] = [str(error) for error in errors]
    return texts


def _sentences(form: Any, errors: dict[str, list[str]]) -> list[str]:
    sentences = []
    for name, texts in errors.items():
        field = form.fields.get(name)
        label = str((field and field.label) or name)
        prefix = "" if name == NON_FIELD_ERRORS else f"{label}: "
        sentences.append(f"{prefix}{' '.join(texts)}")
    return sentences
