"""A whole conversation as a file: Markdown for people, JSON for programs."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from ai_assistant.engine.db import in_db
from ai_assistant.models.conversation import Conversation
from ai_assistant.render.exported import as_json, as_markdown
from ai_assistant.web.access import assistant_view
from ai_assistant.web.attachment import name_file
from ai_assistant.web.fields import read_uuid

FORMS = {
    "markdown": (as_markdown, "text/markdown; charset=utf-8", "md"),
    "json": (as_json, "application/json", "json"),
}


@require_GET
@assistant_view(use=False)
async def export_view(request: HttpRequest) -> HttpResponse:
    """Return a conversation as a file to be saved."""
    return await in_db(_export, request)


def _export(request: HttpRequest) -> HttpResponse:
    owner: Any = request.user.pk  # signed in
    named = Conversation.objects.own(owner).filter(
        pk=read_uuid(request, "conversation")
    )
    conversation, form = named.first(), FORMS.get(request.GET.get("as", "markdown"))
    if conversation is None or form is None:
        raise Http404
    write, content_type, ending = form
    response = HttpResponse(write(conversation), content_type=content_type)
    name_file(response, conversation.title, ending, otherwise="conversation")
    return response
