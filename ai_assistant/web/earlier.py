"""What was said before what is drawn of a conversation."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from ai_assistant.engine.db import in_db
from ai_assistant.models.conversation import Conversation
from ai_assistant.render.html.thread import read_earlier
from ai_assistant.web.access import assistant_view, back
from ai_assistant.web.fields import read_uuid
from ai_assistant.web.panel import Panel, bare_panel


@require_GET
@assistant_view(use=False)
async def earlier_view(request: HttpRequest) -> HttpResponse:
    """Return the messages above the run `before`; as far as the run `to`, if named."""
    return await in_db(_earlier, request)


def reach(panel: Panel, conversation: Conversation, said: str) -> None:
    """Draw the conversation in `panel` from the run that is `said` on, if it has it."""
    to = _uuid(said)
    if not panel.earlier or to is None:
        return
    drawn = read_earlier(conversation, UUID(panel.earlier), to)
    panel.thread = [*drawn.entries, *panel.thread]
    panel.earlier = drawn.earlier


def _earlier(request: HttpRequest) -> HttpResponse:
    owner: Any = request.user.pk  # signed in
    own = Conversation.objects.own(owner)
    conversation = own.filter(pk=read_uuid(request, "conversation")).first()
    if conversation is None:
        raise Http404
    before = read_uuid(request, "before")
    drawn = read_earlier(conversation, before, _uuid(request.GET.get("to", "")))
    panel = bare_panel(request.user, back(request))
    panel.conversation = str(conversation.pk)
    panel.thread, panel.earlier = drawn.entries, drawn.earlier
    return render(request, "ai_assistant/thread_part.html", {"panel": panel})


def _uuid(said: str) -> UUID | None:
    try:
        return UUID(said)
    except ValueError:
        return None
