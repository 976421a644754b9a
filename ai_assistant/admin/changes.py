"""The changes of runs, each row with its difference, and the audit log; read-only."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.contrib.messages import WARNING
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ai_assistant.admin.base import ReadOnlyAdmin
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.safety.policy.sensitive import is_sensitive_field, is_sensitive_model
from ai_assistant.text.hidden_characters import mark_hidden_characters

VALUE_CHARS = 300


def field_difference(row: RowChange) -> SafeString:
    """Return the fields that differ, old values struck out and new ones marked."""
    model = _model(row.model)
    if model is not None and is_sensitive_model(model):
        return format_html("<p>{}</p>", _("The values of this table are not shown."))
    before, after = _image(row.before), _image(row.after)
    lines = format_html_join(
        "",
        '<tr><th scope="row">{}</th><td>{}</td></tr>',
        (
            (_label(model, name), _values(model, name, before, after))
            for name in _field_names(row, before, after)
        ),
    )
    return format_html("<table><tbody>{}</tbody></table>", lines)


def _field_names(
    row: RowChange, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[str]:
    if row.kind == RowChange.Kind.UPDATE and row.fields:
        yield from row.fields
        return
    # Of a created or deleted row, all that is not empty.
    for name in dict.fromkeys([*before, *after]):
        if before.get(name, after.get(name)) not in (None, ""):
            yield name


def _values(
    model: type[Model] | None,
    name: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> SafeString:
    if _is_secret(model, name, before.get(name), after.get(name)):
        return format_html("<em>{}</em>", _("not shown"))
    old = _marked("del", before, name)
    new = _marked("ins", after, name)
    return format_html("{} {}", old, new)


def _marked(tag: str, image: Mapping[str, Any], name: str) -> SafeString:
    if name not in image:
        return SafeString("")
    text = str(image[name]) if image[name] is not None else str(_("nothing"))
    brief = text if len(text) <= VALUE_CHARS else f"{text[:VALUE_CHARS]} …"
    return format_html("<{0}>{1}</{0}>", tag, mark_hidden_characters(brief))


def _is_secret(model: type[Model] | None, name: str, *values: object) -> bool:
    # A removed table has no fields that could say what is secret.
    sealed = any(isinstance(value, dict) and "$sealed" in value for value in values)
    field = _field(model, name)
    return sealed or (field is not None and is_sensitive_field(field))


def _label(model: type[Model] | None, name: str) -> str:
    field = _field(model, name)
    return str(getattr(field, "verbose_name", "") or name)


def _field(model: type[Model] | None, name: str) -> Any:
    if model is None:
        return None
    try:
        return model._meta.get_field(name)
    except FieldDoesNotExist:
        fields = model._meta.concrete_fields
        return next((field for field in fields if field.attname == name), None)


def _model(label: str) -> type[Model] | None:
    try:
        return apps.get_model(label)
    except (LookupError, ValueError):
        return None


def _image(stored: object) -> Mapping[str, Any]:
    return stored if isinstance(stored, dict) else {}


class RowChangeInline(admin.StackedInline):  # type: ignore[type-arg] # its checker's
    """Each changed row with its difference."""

    model = RowChange
    fk_name = "change_set"
    fields = ("kind", "model", "object_id", "difference")
    readonly_fields = fields
    extra = 0
    can_delete = False
    ordering = ("order",)

    def has_view_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """Allow whoever may see the change."""
        return True

    def has_add_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """Allow none."""
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """Allow none."""
        return False

    @admin.display(description=_("difference"))
    def difference(self, row: RowChange) -> SafeString:
        """Return the fields that differ."""
        return field_difference(row)


@admin.register(ChangeSet)
class ChangeSetAdmin(ReadOnlyAdmin):
    """Changes that calls have made, row by row, also of deleted conversations."""

    list_display = ("tool_name", "row_count", "user", "created_at", "is_partial", "run")
    list_filter = ("is_partial", "created_at", "tool")
    list_select_related = ("user", "run")
    date_hierarchy = "created_at"
    search_fields = ("=run__id", "tool", "rows__model", "rows__object_id", "rows__text")
    fields = (
        *("created_at", "kind", "tool_name", "user", "run", "call", "is_partial"),
        *("gaps", "undo"),
    )
    readonly_fields = ("tool_name", "undo")
    actions = ("undo_selected",)
    ordering = ("-created_at",)
    inlines = (RowChangeInline,)
    user_field = "user"

    def get_queryset(self, request: HttpRequest) -> QuerySet[ChangeSet]:
        """Count the rows in the same query."""
        rows: QuerySet[ChangeSet] = super().get_queryset(request)
        return rows.annotate(row_count=Count("rows"))

    @admin.display(description=_("tool"), ordering="tool")
    def tool_name(self, change: ChangeSet) -> str:
        """Return the label or the name of the tool."""
        return change.label or change.tool

    @admin.display(description=_("undo"))
    def undo(self, change: ChangeSet) -> SafeString:
        """Return the link to the plan of its undo."""
        return format_html('<a href="{}">{}</a>', _undo_url(change), _("Show the plan"))

    @admin.action(description=_("Undo the selected change"))
    def undo_selected(
        self, request: HttpRequest, queryset: QuerySet[ChangeSet]
    ) -> HttpResponse | None:
        """Show the plan of the undo; of one change at a time."""
        chosen = list(queryset[:2])
        if len(chosen) == 1:
            return HttpResponseRedirect(_undo_url(chosen[0]))
        self.message_user(
            request, gettext("Select one change: each has its own plan."), WARNING
        )
        return None

    @admin.display(description=_("rows"), ordering="row_count")
    def row_count(self, change: Any) -> int:
        """Return how many rows were changed."""
        return int(change.row_count)


def _undo_url(change: ChangeSet) -> str:
    return f"{reverse('ai_assistant:undo')}?change={change.pk}"


BREAK_CHARS = 32  # a browser breaks no word that is as long as a hash


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """The audit log. `manage.py assistant_audit verify` checks that it is complete."""

    list_display = ("number", "action", "tool", "user_name", "created_at", "run_id")
    list_display_links = ("number", "action")
    list_filter = ("action", "created_at", "tool")
    date_hierarchy = "created_at"
    search_fields = ("user_name", "action", "tool", "=run_id", "=call_id")
    fields = (
        "number",
        "created_at",
        "user_name",
        "action",
        "tool",
        "run_id",
        "call_id",
        "ip",
        "formatted_details",
        "hashes",
    )
    readonly_fields = ("number", "formatted_details", "hashes")
    ordering = ("-id",)
    user_field = "user"

    @admin.display(description=_("number"), ordering="id")
    def number(self, entry: AuditEntry) -> str:
        """Return the place in the log, which an entry has once it is sealed."""
        return str(entry.n) if entry.n else gettext("not sealed yet")

    @admin.display(description=_("details"))
    def formatted_details(self, entry: AuditEntry) -> SafeString:
        """Return the details, one a line."""
        lines = (
            (name, _breakable(value if isinstance(value, str) else json.dumps(value)))
            for name, value in entry.details.items()
        )
        row = '<tr><th scope="row">{}</th><td>{}</td></tr>'
        rows = format_html_join("", row, lines)
        return format_html("<table><tbody>{}</tbody></table>", rows)

    @admin.display(description=_("hash"))
    def hashes(self, entry: AuditEntry) -> SafeString:
        """Return the entry's hash, and that of the one before."""
        entry_hash, previous_hash = _breakable(entry.hash), _breakable(entry.previous)
        return format_html("{}<br>{}", entry_hash, previous_hash)

    def get_actions(
        self, _request: HttpRequest, action_location: object = None
    ) -> dict[str, Any]:
        """Offer no actions: entries are read-only."""
        return {}


def _breakable(text: str) -> SafeString:
    """Return `text` escaped, with places where a long word may be broken."""
    pieces = [text[at : at + BREAK_CHARS] for at in range(0, len(text), BREAK_CHARS)]
    return format_html_join(
        "",
        "{}<wbr>",
        ((mark_hidden_characters(piece, edges=False),) for piece in pieces),
    )
