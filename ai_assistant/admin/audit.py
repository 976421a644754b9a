"""The audit log: what was done, by whom, and in which run; read-only."""

import json
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ai_assistant.admin.lists.decorated import NOTHING, ListedAdmin, ToolFilter
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.run import Run
from ai_assistant.text.hidden_characters import mark_hidden_characters

BREAK_CHARS = 32  # a browser breaks no word that is as long as a hash
# To choose from: those that there are would be looked for in all entries.
ACTIONS: dict[str, tuple[str, ...]] = {
    "run": ("started", "failed", "cancelled", "limited", "needs_review"),
    "call": ("complete", "failed", "unknown", "cancelled", "refused"),
    "approval": ("asked", "approved", "denied", "expired", "cancelled"),
    "change": ("undone",),
    "session": ("signed_out",),
    "settings": ("added", "changed", "deleted"),
    "keys": ("rotated",),
    "prompt": ("viewed", "sent"),
    "token": ("created", "revoked", "refused"),
    "conversation": ("deleted", "restored", "shared", "unshared", "read"),
    "conversations": ("purged",),
    "changes": ("purged",),
    "images": ("purged",),
    "tokens": ("purged",),
    "audit": ("purged", "head_altered", "head_missing", "entry_altered"),
}


class ActionFilter(admin.SimpleListFilter):
    """What was done."""

    title = _("action")
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Offer each action."""
        names = [f"{kind}.{one}" for kind, ones in ACTIONS.items() for one in ones]
        return [(name, name) for name in names]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the entries of the action."""
        return queryset.filter(action=self.value()) if self.value() else queryset


@admin.register(AuditEntry)
class AuditEntryAdmin(ListedAdmin):
    """The audit log. `manage.py assistant_audit verify` checks that it is complete."""

    list_display = (*("what", "tool", "user_name", "created_at", "run_link", "number"),)
    list_filter = ("created_at", ActionFilter, ToolFilter)
    search_fields = ("=user_name", "=action", "=tool", "=run_id", "=call_id")
    search_help_text = _("The name of a user, an action, a tool, or the id of a run.")
    fields = (
        "number",
        "created_at",
        "user_name",
        "action",
        "tool",
        "run_link",
        "call_id",
        "ip",
        "formatted_details",
        "hashes",
    )
    readonly_fields = ("number", "run_link", "formatted_details", "hashes")
    ordering = ("-id",)
    when_empty = _("Nothing was recorded yet.")
    user_field = "user"

    def decorate(self, request: HttpRequest, rows: list[Any]) -> None:
        """Find out which runs are still there."""
        keys = {row.run_id for row in rows if row.run_id}
        there = set(Run.objects.filter(pk__in=keys).values_list("pk", flat=True))
        for row in rows:
            row.has_run = row.run_id in there

    @admin.display(description=_("action"), ordering="action")
    def what(self, entry: AuditEntry) -> str:
        """Return what was done, and to which row of configuration."""
        place = entry.details.get("object", "")
        return f"{entry.action} {place}" if isinstance(place, str) else entry.action

    @admin.display(description=_("run"))
    def run_link(self, entry: Any) -> SafeString | str:
        """Return a link to the run; its id alone once it is gone."""
        if not entry.run_id:
            return NOTHING
        if not hasattr(entry, "has_run"):  # on its page
            entry.has_run = Run.objects.filter(pk=entry.run_id).exists()
        if entry.has_run:
            return self.link("run", entry.run_id, gettext("Open"))
        return gettext("deleted (%(id)s)") % {"id": entry.run_id}

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
        table = '<table class="aia-details"><tbody>{}</tbody></table>'
        return format_html(table, rows)

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
