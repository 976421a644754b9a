"""Find the choices of a relation, as a form of the admin offers them."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from django.contrib.admin.widgets import AutocompleteMixin, ForeignKeyRawIdWidget
from django.forms import ModelChoiceField
from django.forms.models import apply_limit_choices_to_to_formfield
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy.form_limits import unwrapped_widget
from ai_assistant.tools.data.access.lookups import unknown_path
from ai_assistant.tools.data.access.model_admin import AdminAccess, find_access
from ai_assistant.tools.data.access.values import object_text
from ai_assistant.tools.data.access.visibility import (
    changelist_rows,
    is_forward_field,
    is_open_field,
    opens_form,
)
from ai_assistant.tools.data.arguments import PageNumber, data_tool
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.reading.inlines import inlines_at_any_level
from ai_assistant.tools.data.reading.search import search_rows
from ai_assistant.tools.summary import found
from ai_assistant.types import JSON, RunContext

PAGE_ROWS = 20
MOST_SCANNED = 1000  # objects whose texts are compared with a search


def _summary(_arguments: dict[str, Any], data: Any) -> str:
    field = data["field"].rpartition(".")[2].replace("_", " ")
    return gettext("Looked up choices of %(field)s: %(found)s") % {
        "field": field,
        "found": found(len(data["rows"])),
    }


@data_tool(effect="read", label=_("Find choices"), icon="link", summary=_summary)
def find_related(
    context: RunContext, model: str, field: str, search: str = "", page: PageNumber = 1
) -> dict[str, JSON]:
    """Find objects that a relation may be set to; of an inline: inline_model.field."""
    access = find_access(context, model)
    choices = next(_formfields(access, field), None)
    if choices is None:
        raise unknown_path(access, field)
    with wrong_values():
        first = (page - 1) * PAGE_ROWS
        matching = _matching(access, choices, search)
        rows = list(islice(matching, first, first + PAGE_ROWS + 1))
    return {
        "field": field,
        "rows": [
            {"id": choices.prepare_value(row), "text": object_text(row)}
            for row in rows[:PAGE_ROWS]
        ],
        "more": len(rows) > PAGE_ROWS,
    }


def _formfields(access: AdminAccess, name: str) -> Iterator[Any]:
    """Yield the form fields of that name that the user may fill in."""
    inline_label, _dot, field_name = name.rpartition(".")
    for page, obj in _form_pages(access):
        if inline_label:
            forms = [
                (formset.form, inline.model)
                for formset, inline in inlines_at_any_level(page, obj)
                if inline.opts.label_lower == inline_label.lower()
            ]
        else:
            change = obj is not None
            form = page.model_admin.get_form(page.request, obj, change=change)
            forms = [(form, access.model)]
        for form, model in forms:
            field = form.base_fields.get(field_name)
            relations = {item.name: item for item in model._meta.get_fields()}
            relation = relations.get(field_name)
            if relation is None or not isinstance(field, ModelChoiceField):
                continue
            if is_forward_field(relation) and is_open_field(relation):
                apply_limit_choices_to_to_formfield(field)
                yield field


def _form_pages(access: AdminAccess) -> Iterator[tuple[AdminAccess, Any]]:
    """Yield the pages that add and change objects, each with an object for its form."""
    admin, add_page = access.model_admin, access.at_page("add")
    if admin.has_add_permission(add_page.request) and add_page.opens_page():
        yield add_page, None
    if admin.has_change_permission(access.request) and opens_form(access):
        yield access.at_object(""), access.model()


def _matching(access: AdminAccess, choices: Any, search: str) -> Iterable[Any]:
    """Return the objects that the form lets the user choose."""
    rows = choices.queryset
    related = access.related(rows.model)
    widget = unwrapped_widget(choices.widget)
    if isinstance(widget, AutocompleteMixin | ForeignKeyRawIdWidget):
        # The form has a search instead of a list: it finds what that admin shows.
        if related is None:
            raise ModelRetry("The user may not look for objects of this relation.")
        rows = rows.filter(pk__in=changelist_rows(related).order_by().values("pk"))
    text = ""
    if search.strip():
        if related and related.model_admin.get_search_fields(related.request):
            rows = search_rows(related, rows, search)
        else:
            text = search.casefold()
    ordered = rows if rows.ordered else rows.order_by("pk")
    if not text:
        return ordered.iterator(PAGE_ROWS + 1)  # type: ignore[no-any-return]
    scanned = islice(ordered.iterator(), MOST_SCANNED)
    return (row for row in scanned if text in object_text(row).casefold())
