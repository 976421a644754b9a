"""What may stand in a relation: the choices of a form of the admin as a tool."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.contrib.admin.widgets import (
    AutocompleteMixin,
    ForeignKeyRawIdWidget,
    RelatedFieldWidgetWrapper,
)
from django.db.models import QuerySet
from django.forms import ModelChoiceField
from django.forms.models import apply_limit_choices_to_to_formfield
from django.utils.translation import gettext_lazy as _

from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry
from ai_assistant.tools.data.access.fields import is_open_field, is_own
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    at_add,
    at_object,
    find_door,
    related_door,
)
from ai_assistant.tools.data.access.paths import unknown_path
from ai_assistant.tools.data.access.shown import changelist_rows, opens_form, opens_page
from ai_assistant.tools.data.access.values import object_text
from ai_assistant.tools.data.arguments import PageNumber, are_enabled
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.reading.read import open_inlines
from ai_assistant.tools.data.reading.rows import search_rows
from ai_assistant.types import JSON, RunContext

PAGE_ROWS = 20
MOST_OPTIONS = 1000  # that are looked through by their texts


@tool(
    effect="read",
    label=_("Find choices"),
    icon="link",
    shared=True,
    is_enabled=are_enabled,
)
def find_related(
    context: RunContext, model: str, field: str, search: str = "", page: PageNumber = 1
) -> dict[str, JSON]:
    """Find objects that a relation may be set to; of an inline: inline_model.field."""
    door = find_door(context, model)
    choices = next(_formfields(door, field), None)
    if choices is None:
        raise unknown_path(door, field)
    with wrong_values():
        found = _found(door, choices, search)
        first = (page - 1) * PAGE_ROWS
        rows = list(islice(found, first, first + PAGE_ROWS + 1))
    told = [
        {"id": choices.prepare_value(one), "text": object_text(one)}
        for one in rows[:PAGE_ROWS]
    ]
    return {"field": field, "rows": told, "more": len(rows) > PAGE_ROWS}


def _formfields(door: AdminAccess, name: str) -> Iterator[Any]:
    """Yield the fields of that name in the forms that the user may fill in."""
    inline, _dot, own = name.rpartition(".")
    for form, model in _forms(door, inline):
        field = form.base_fields.get(own)
        known = {one.name: one for one in model._meta.get_fields()}
        relation = known.get(own)
        if relation is None or not isinstance(field, ModelChoiceField):
            continue
        if is_own(relation) and is_open_field(relation):
            apply_limit_choices_to_to_formfield(field)
            yield field


def _forms(door: AdminAccess, inline: str) -> Iterator[tuple[Any, Any]]:
    """Yield the forms of pages that add and change and open, or of one inline there."""
    admin = door.model_admin
    there = at_add(door)
    if admin.has_add_permission(there.request) and opens_page(there, "add"):
        if not inline:
            yield admin.get_form(there.request, None, change=False), door.model
        yield from _inline_forms(there, inline, None)
    if admin.has_change_permission(door.request) and opens_form(door):
        there, blank = at_object(door, ""), door.model()
        if not inline:
            yield admin.get_form(there.request, blank, change=True), door.model
        yield from _inline_forms(there, inline, blank)


def _inline_forms(door: AdminAccess, name: str, obj: Any) -> Iterator[tuple[Any, Any]]:
    if not name:
        return
    for formset, inline in open_inlines(door, obj):
        if inline.opts.label_lower == name.lower():
            yield formset.form, inline.model


def _found(door: AdminAccess, choices: Any, search: str) -> Any:
    """Return an iterable of the objects that the form lets the user choose."""
    options: QuerySet[Any] = choices.queryset
    there = related_door(door, options.model)
    if _is_looked_up(choices):
        # The form shows none of them: what the user finds is behind that door.
        if there is None:
            raise ModelRetry("The user may not look for objects of this relation.")
        seen = changelist_rows(there).order_by().values("pk")
        options = options.filter(pk__in=seen)
    if not search.strip():
        return _in_order(options).iterator(PAGE_ROWS + 1)
    if there and there.model_admin.get_search_fields(there.request):
        return _in_order(search_rows(there, options, search)).iterator(PAGE_ROWS + 1)
    return _with_text(options, search)


def _is_looked_up(choices: Any) -> bool:
    """Tell whether the form has a search in the place of a list."""
    widget: Any = choices.widget
    if isinstance(widget, RelatedFieldWidgetWrapper):
        widget = widget.widget
    return isinstance(widget, AutocompleteMixin | ForeignKeyRawIdWidget)


def _in_order(rows: QuerySet[Any]) -> QuerySet[Any]:
    return rows if rows.ordered else rows.order_by("pk")


def _with_text(options: QuerySet[Any], search: str) -> Iterator[Any]:
    wanted = search.casefold()
    looked_at = islice(_in_order(options).iterator(), MOST_OPTIONS)
    return (one for one in looked_at if wanted in object_text(one).casefold())
