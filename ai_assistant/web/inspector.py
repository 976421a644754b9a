"""What an answer was made of: prompt, tools, timings and usage, for superusers."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from ai_assistant.engine.db import in_db
from ai_assistant.render.html.raw import raw_entry
from ai_assistant.web.access import assistant_view
from ai_assistant.web.messages import own_run
from ai_assistant.web.own_pages import own_page


@require_GET
@assistant_view(use=False)
async def raw_view(request: HttpRequest) -> HttpResponse:
    """Show what is stored of an answer: to superusers, of their own conversations."""
    return await in_db(_raw, request)


def _raw(request: HttpRequest) -> HttpResponse:
    if not getattr(request.user, "is_superuser", False):
        raise PermissionDenied
    context = {"raw": raw_entry(own_run(request))}
    return own_page(request, "ai_assistant/raw.html", context)
