"""Read one object: its page in the admin, and its history, as tools."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Annotated, Any

from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.admin.options import get_content_type_for_model
from django.db.models import Model
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from ai_assistant.safety.policy.form_limits import (
    Limits,
    form_language,
    form_limits,
    form_only_values,
    may_limit,
    values_of_form,
)
from ai_assistant.safety.policy.sensitive import is_read_only
from ai_assistant.safety.site_code import value_or
from ai_assistant.text.unicode import short_value
from ai_assistant.tools.data.access.form_classes import real_object, row_forms
from ai_assistant.tools.data.access.lookups import unknown_path
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    find_access,
    find_object,
    is_closed_inline,
)
from ai_assistant.tools.data.access.values import object_text, value_of, with_related
from ai_assistant.tools.data.access.visibility import (
    admin_fields,
    inline_fields,
    limits_of,
)
from ai_assistant.tools.data.arguments import Names, ObjectId, data_tool
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.reading.version import version_from
from ai_assistant.tools.summary import name_in
from ai_assistant.types import JSON, RunContext

FIELD_CHARS = 4000
CHOSEN_CHARS = 30_000  # of a field that is asked for by name
INLINE_CHARS = 500
MOST_INLINE_ROWS = 50
MOST_ENTRIES = 50
MESSAGE_CHARS = 500
ACTIONS = {ADDITION: "added", CHANGE: "changed", DELETION: "deleted"}
Chosen = Annotated[Names, Field(description="only these; long texts are not cut")]


def _summary(_arguments: dict[str, Any], data: Any) -> str:
    return gettext("Opened %(object)s") % {"object": name_in(data)}


def _history_summary(_arguments: dict[str, Any], data: Any) -> str:
    return ngettext(
        "History of %(object)s: %(count)d entry",
        "History of %(object)s: %(count)d entries",
        data["total"],
    ) % {"object": name_in(data), "count": data["total"]}


@data_tool(
    effect="read",
    label=_("Read"),
    label_plural=_("Read"),
    icon="file",
    summary=_summary,
)
def get_object(
    context: RunContext, model: str, id: ObjectId, fields: Chosen = []
) -> dict[str, JSON]:
    """Read an object with all that its page shows, and its `version`."""
    access = find_access(context, model)
    obj = find_object(access, id)
    page, obj = real_object(access.at_object(obj.pk), obj)
    access = page.at_page("changelist")
    visible = admin_fields(access, obj)
    only_shown = _form_only(page, obj)
    by_name = {field.name: field for field in visible}
    for name in fields:
        if name not in by_name and name not in only_shown:
            raise unknown_path(access, name)
    chosen = visible
    if fields:
        chosen = [by_name[name] for name in dict.fromkeys(fields) if name in by_name]
        only_shown = {name: only_shown[name] for name in fields if name in only_shown}
    limits = limits_of(access, obj, chosen)
    chars = CHOSEN_CHARS if fields else FIELD_CHARS
    result: dict[str, JSON] = {
        "model": access.label,
        "id": obj.pk,
        "text": object_text(obj),
        "version": version_from(visible, obj),
        "fields": {
            **{field.name: value_of(field, obj, chars, limits) for field in chosen},
            **{name: short_value(value, chars) for name, value in only_shown.items()},
        },
        "may": [
            name
            for name in ("change", "delete")
            if not is_read_only(access.model, access.model_admin)
            and getattr(page.model_admin, f"has_{name}_permission")(page.request, obj)
        ],
    }
    if only_shown and (code := form_language(page.model_admin, page.request, obj)):
        result["language"] = code
    if not fields and (inlines := list(_inlines(page, obj))):
        result["inlines"] = inlines
    return result


def _form_only(page: AdminAccess, obj: Model) -> dict[str, Any]:
    """Return what the form of the page shows beyond the fields of the model."""
    nothing: dict[str, Any] = {}
    return value_or(
        nothing,
        lambda: form_only_values(page.model_admin, page.request, obj),
        "%s does not tell the form of an object",
        page.label,
    )


@data_tool(effect="read", label=_("History"), icon="clock", summary=_history_summary)
def object_history(context: RunContext, model: str, id: ObjectId) -> dict[str, JSON]:
    """Tell who changed an object in the admin, when and what; the newest first."""
    access = find_access(context, model)
    obj = find_object(access, id, "history")
    entries = LogEntry.objects.filter(
        object_id=str(obj.pk), content_type=get_content_type_for_model(access.model)
    )
    newest = entries.select_related("user").order_by("-action_time", "-pk")
    return {
        "model": access.label,
        "id": obj.pk,
        "text": object_text(obj),
        "total": entries.count(),
        "entries": [
            {
                "time": entry.action_time.isoformat(timespec="seconds"),
                "user": object_text(entry.user),
                "action": ACTIONS.get(entry.action_flag, ""),
                "message": short_value(entry.get_change_message(), MESSAGE_CHARS),
            }
            for entry in newest[:MOST_ENTRIES]
        ],
    }


def open_inlines(access: AdminAccess, obj: Model | None) -> list[tuple[Any, Any]]:
    """
    Return the inlines of the page of `obj` that a tool may show.

    Each with its formset class, as the page has them: the site may hide some.
    """
    return [
        (formset, inline)
        for formset, inline in access.model_admin.get_formsets_with_inlines(
            access.request, obj
        )
        if not is_closed_inline(access.site, inline)
    ]


def _inlines(page: AdminAccess, obj: Model) -> Iterator[dict[str, JSON]]:
    for formset, inline in open_inlines(page, obj):
        admins = (page.model_admin, inline)
        # Of a read-only inline the page shows every value.
        may_change = all(
            admin.has_change_permission(page.request, obj) for admin in admins
        )
        kinds = {
            model: None
            if is_closed_inline(page.site, own[1])
            else _RowKind.of(page, obj, formset, *own, may_change=may_change)
            for model, own in row_forms(formset, inline).items()
        }
        usual = kinds.get(inline.model)
        fields = usual.fields if usual else []
        kwargs = page.model_admin.get_formset_kwargs(
            page.request, obj, inline, formset.get_default_prefix()
        )
        of_object = formset(**kwargs).get_queryset()
        with wrong_values():
            total = of_object.count()
            rows = list(with_related(of_object, fields)[:MOST_INLINE_ROWS])
        yield {
            "name": formset.get_default_prefix(),
            "model": inline.opts.label_lower,
            "label": str(inline.verbose_name_plural),
            "total": total,
            "rows": [
                _inline_row(row, inline, kinds.get(type(row), usual)) for row in rows
            ],
        }


@dataclass(frozen=True, slots=True)
class _RowKind:
    """What a page shows of the rows of an inline that are of one class."""

    form_class: Any
    fields: list[Any]
    limited: list[Any]  # of which the form names not all values
    form_only: list[str]  # that the model does not have

    @classmethod
    def of(
        cls,
        page: AdminAccess,
        obj: Model,
        formset: Any,
        form_class: Any,
        inline: Any,
        *,
        may_change: bool,
    ) -> "_RowKind":
        fields, form_only = inline_fields(inline, page, obj, formset)
        limited = [field for field in fields if may_change and may_limit(inline, field)]
        return cls(form_class, fields, limited, form_only if may_change else [])


def _inline_row(row: Model, inline: Any, kind: _RowKind | None) -> dict[str, JSON]:
    limits: Limits = {}
    only_shown: dict[str, Any] = {}
    if kind is not None and (kind.limited or kind.form_only):
        form = kind.form_class(instance=copy(row))
        limits = form_limits(form, kind.limited)
        only_shown = values_of_form(form, kind.form_only)
    is_other = type(row)._meta.concrete_model is not inline.opts.concrete_model
    return {
        "id": row.pk,
        **({"model": row._meta.label_lower} if is_other else {}),
        "text": object_text(row),
        "fields": {
            **{
                field.name: value_of(field, row, INLINE_CHARS, limits)
                for field in (kind.fields if kind else ())
            },
            **{
                name: short_value(value, INLINE_CHARS)
                for name, value in only_shown.items()
            },
        },
    }
