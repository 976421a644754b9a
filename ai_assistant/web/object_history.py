"""The history page of an object in the admin: what the assistant changed, and its undo."""

import re
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import urlencode

from ai_assistant.changes.values import label
from ai_assistant.context.page import find_page
from ai_assistant.engine.queries import changes_of_object
from ai_assistant.safety.identity.permissions import may_use
from ai_assistant.safety.site_code import value_or

MOST = 20  # changes that are listed
# Django's page has both, and so have the themes: a site's own page may have neither.
ENTRIES = re.compile(rb"""<\w+\b[^>]*\bid=["']?change-history\b[^>]*>""", re.IGNORECASE)
CONTENT = re.compile(rb"""<\w+\b[^>]*\bid=["']?content-main\b[^>]*>""", re.IGNORECASE)


def with_changes(request: HttpRequest, response: HttpResponse) -> bytes | None:
    """Return the page with the changes of the assistant before its entries, if it has any."""
    match = request.resolver_match
    if response.status_code != 200 or match is None:
        return None
    if not (match.url_name or "").endswith("_history"):
        return None
    page = find_page(request.get_full_path())
    if page is None or page.model_admin is None or page.info.action != "history":
        return None
    entries, content = (one.search(response.content) for one in (ENTRIES, CONTENT))
    at = entries.start() if entries else content.end() if content else None
    if at is None or not may_use(request.user):
        return None
    found = _entries(request.user, page.model_admin.model, page.info.object_id)
    if not found:
        return None
    html = render_to_string(
        "ai_assistant/object_history.html", {"changes": found}, request
    )
    drawn = html.encode(response.charset, "xmlcharrefreplace")
    return response.content[:at] + drawn + response.content[at:]


def _entries(user: Any, model: Any, own: str) -> list[dict[str, Any]]:
    key = value_or(own, lambda: str(model._meta.pk.to_python(own)))
    rows = changes_of_object(user, label(model), key)[:MOST]
    address = reverse("ai_assistant:undo")
    return [
        {
            "at": row.change_set.created_at,
            "tool": row.change_set.label or row.change_set.tool,
            "user": row.change_set.user,
            "kind": row.get_kind_display(),
            "is_undone": row.undone_by_id is not None,
            "is_kept": row.has_images,
            "url": f"{address}?"
            + urlencode(
                {"change": str(row.change_set_id), "only": f"{label(model)}:{key}"}
            ),
        }
        for row in rows
    ]
