"""Fill in the form of the page; the person looks at it, and saves."""

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS
from django.forms import ModelChoiceField
from django.forms.formsets import DELETION_FIELD_NAME
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.tools.data.access.sites import are_enabled
from ai_assistant.tools.data.arguments import Inlines, Values
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.writing.change import add_page, change_page
from ai_assistant.tools.data.writing.submission import FormSubmission
from ai_assistant.tools.page.page_forms import is_site_page, site_form
from ai_assistant.types import JSON, PageInfo, RunContext

FILL_FORM = "fill_form"
FORM_PAGES = ("add", "change")


def has_form(page: PageInfo) -> bool:
    """Return whether the page may have a form that is filled in here."""
    return page.action in FORM_PAGES or is_site_page(page.path)


def _is_open(context: RunContext) -> bool:
    """Return whether there is something to fill in: for the admin, with its tools."""
    return is_site_page(context.page_path) or are_enabled(context)


def _summary(_arguments: dict[str, Any], data: Any) -> str:
    filled = data.get("filled") if isinstance(data, dict) else None
    if not isinstance(filled, list) or not filled:
        return ""
    text = ngettext("Filled in %d field", "Filled in %d fields", len(filled))
    return text % len(filled)


@tool(
    effect="ui",
    name=FILL_FORM,
    browser=True,
    shared=True,
    is_enabled=_is_open,
    label=gettext_lazy("Fill in the form"),
    summary=_summary,
)
def fill_form(
    context: RunContext, values: Values, inlines: Inlines = None, form: str = ""
) -> dict[str, JSON]:
    """
    Fill in the form of the open page; the user looks at it and saves.

    Use it there instead of create_object and change_object.

    values, inlines: as in change_object; outside the admin by input name
    form: if several have them
    """
    if context.actions.locked is not None:
        raise ToolFailed(context.actions.locked.refusal)
    if is_site_page(context.page_path):
        return site_form(context, values, inlines, form)
    wanted, as_it_is = (
        _page(context, *given) for given in ((values, inlines), ({}, None))
    )
    with wrong_values():
        wanted.is_valid()
    _check_given(wanted)
    return {
        "page": context.page_path,
        "fields": list(_inputs(wanted, as_it_is.data)),
        "rows": _rows(wanted, as_it_is.data),
    }


def _page(context: RunContext, values: Values, inlines: Inlines) -> FormSubmission:
    """Return the page of the person as it would be posted."""
    page = context.page
    model = f"{page.app_label}.{page.model_name}"
    if page.action == "add":
        return add_page(context, model, values, inlines)
    if page.action == "change":
        return change_page(context, model, page.object_id, values, inlines)[0]
    raise ToolFailed(
        _("The page shows no form of an object."),
        suggestion=_("Use create_object or change_object, or go to the page first."),
    )


def _check_given(page: FormSubmission) -> None:
    """Raise ModelRetry for values that the form refuses; what is not given may be empty."""
    wrong = [
        f"{name}: {' '.join(map(str, errors))}"
        for form, given in _forms(page)
        for name, errors in form.errors.items()
        if name in given and name != NON_FIELD_ERRORS
    ]
    if wrong:
        raise ModelRetry(f"The form refuses this. {' '.join(wrong)}")


def _forms(page: FormSubmission) -> Iterable[tuple[Any, Any]]:
    """Yield each form of the page with the names of the fields that are given in it."""
    yield page.form, page.named_fields.get("", ())
    for formset in page.formsets:
        for form in formset.forms:
            yield form, page.named_fields.get(form.prefix, ())


def _inputs(page: FormSubmission, before: QueryDict) -> Iterable[dict[str, JSON]]:
    """Yield the inputs of what is given, and how their choices are called."""
    after = page.data
    given = {
        form.add_prefix(name): str(form[name].label)
        for form, names in _forms(page)
        for name in names
    }
    texts = _choices(page)
    for name in dict.fromkeys([*given, *after]):
        owner = _owner(name, given)
        is_removed = name.endswith(f"-{DELETION_FIELD_NAME}") and name not in before
        if not (owner or is_removed) or (name not in after and f"{name}_0" in after):
            continue  # of a field of several inputs only these are there
        yield {
            "name": name,
            "label": given.get(owner, ""),
            "values": [str(value) for value in after.getlist(name)],
            "texts": texts.get(name, {}),
        }


def _owner(name: str, given: Iterable[str]) -> str:
    """Return the field that an input belongs to: "at_0" is a part of "at"."""
    head, _line, number = name.rpartition("_")
    owner = head if number.isdigit() and head in given else name
    return owner if owner in given else ""


def _choices(page: FormSubmission) -> dict[str, dict[str, str]]:
    """Return the names of the objects that are chosen: the page may not have them yet."""
    found = {}
    for form, names in _forms(page):
        for name in names:
            field, chosen = (
                form.fields[name],
                getattr(form, "cleaned_data", {}).get(name),
            )
            if not isinstance(field, ModelChoiceField) or not chosen:
                continue
            objects = [chosen] if hasattr(chosen, "pk") else list(chosen)
            found[form.add_prefix(name)] = {
                str(field.prepare_value(obj)): str(field.label_from_instance(obj))
                for obj in objects
            }
    return found


def _rows(page: FormSubmission, before: QueryDict) -> dict[str, list[int]]:
    """Return for each inline with new rows how many the page has, and how many it needs."""
    names = {
        formset.prefix: f"{formset.prefix}-TOTAL_FORMS" for formset in page.formsets
    }
    counts = {
        prefix: [int(before.get(name, 0)), int(page.data.get(name, 0))]
        for prefix, name in names.items()
    }
    return {prefix: pair for prefix, pair in counts.items() if pair[0] != pair[1]}
