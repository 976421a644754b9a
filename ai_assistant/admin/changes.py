"""The changes of runs, each row with its difference; read-only."""

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

from ai_assistant.admin.lists.decorated import NOTHING, ListedAdmin, ToolFilter
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.render.html.run_texts import object_words
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
    table = '<table class="aia-details"><tbody>{}</tbody></table>'
    return format_html(table, lines)


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
class ChangeSetAdmin(ListedAdmin):
    """Changes that calls have made, row by row, also of deleted conversations."""

    list_display = (
        *("what", "tool_name", "kind", "row_count", "user", "created_at"),
        *("is_recorded", "run_link"),
    )
    list_filter = ("kind", "is_partial", "created_at", ToolFilter)
    list_select_related = ("user",)
    search_fields = ("=run__id", "tool", "rows__model", "rows__object_id", "rows__text")
    search_help_text = _("A user, a tool, or a changed object.")
    fields = (
        *("created_at", "kind", "tool_name", "user", "run_link", "call"),
        *("is_recorded", "gaps", "undo"),
    )
    readonly_fields = ("tool_name", "run_link", "is_recorded", "undo")
    actions = ("undo_selected",)
    ordering = ("-created_at",)
    inlines = (RowChangeInline,)
    user_field = "user"
    when_empty = _("The assistant has changed nothing yet.")

    def decorate(self, request: HttpRequest, rows: list[Any]) -> None:
        """Add the first changed object of each, and how many there are."""
        changed = RowChange.objects.filter(change_set__in=[row.pk for row in rows])
        counted: Any = changed.order_by().values_list("change_set")
        counts = dict(counted.annotate(count=Count("pk")))
        columns = ("change_set_id", "model", "object_id", "text")
        first = {
            key: names for key, *names in changed.filter(order=0).values_list(*columns)
        }
        for row in rows:
            row.count, row.first = counts.get(row.pk, 0), first.get(row.pk)

    @admin.display(description=_("object"))
    def what(self, change: Any) -> str:
        """Return the first changed object, and how many more there are."""
        if change.first is None:
            return str(change)
        named = object_words(*change.first)
        if change.count < 2:
            return named
        sentence = gettext("%(object)s and %(n)s more")
        return sentence % {"object": named, "n": change.count - 1}

    @admin.display(description=_("rows"))
    def row_count(self, change: Any) -> int:
        """Return how many rows were changed."""
        return int(change.count)

    @admin.display(description=_("recorded"), ordering="is_partial", boolean=True)
    def is_recorded(self, change: ChangeSet) -> bool:
        """Return whether there is an image of all that it changed."""
        return not change.is_partial

    @admin.display(description=_("run"))
    def run_link(self, change: ChangeSet) -> SafeString | str:
        """Return a link to the run, while there is one."""
        key = change.run_id
        return self.link("run", key, gettext("Open")) if key else NOTHING

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


def _undo_url(change: ChangeSet) -> str:
    return f"{reverse('ai_assistant:undo')}?change={change.pk}"
