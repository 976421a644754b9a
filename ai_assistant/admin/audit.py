import json
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ai_assistant.admin.base import ReadOnlyAdmin
from ai_assistant.models.audit import AuditEntry
from ai_assistant.text.hidden_characters import mark_hidden_characters

BREAK_CHARS = 32  # a browser breaks no word that is as long as a hash


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """The audit log. `manage.py assistant_audit verify` tells whether it is whole."""

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
        "told",
        "hashes",
    )
    readonly_fields = ("number", "told", "hashes")
    ordering = ("-id",)
    user_field = "user"

    @admin.display(description=_("number"), ordering="id")
    def number(self, entry: AuditEntry) -> str:
        """Return the place in the log, which an entry has once it is sealed."""
        return str(entry.n) if entry.n else gettext("not sealed yet")

    @admin.display(description=_("details"))
    def told(self, entry: AuditEntry) -> SafeString:
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
        own, before = _breakable(entry.hash), _breakable(entry.previous)
        return format_html("{}<br>{}", own, before)

    def get_actions(
        self, _request: HttpRequest, action_location: object = None
    ) -> dict[str, Any]:
        """Offer none: nothing can be done to an entry."""
        return {}


def _breakable(text: str) -> SafeString:
    """Return `text` escaped, with places where a long word may be broken."""
    pieces = [text[at : at + BREAK_CHARS] for at in range(0, len(text), BREAK_CHARS)]
    return format_html_join(
        "", "{}<wbr>", ((mark_hidden_characters(one, edges=False),) for one in pieces)
    )
