"""A page says what its reader sees, and is told what nobody has seen yet."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from ai_assistant.engine.accounting.read_state import count_unread, mark_read
from ai_assistant.engine.storage.units import in_db, unit, unless_locked
from ai_assistant.models.conversation import Conversation
from ai_assistant.web.panel.access import assistant_view
from ai_assistant.web.panel.fields import read_uuid


@require_POST
@assistant_view(use=False)
async def seen_view(request: HttpRequest) -> HttpResponse:
    """Note that a conversation is seen, if it is; tell how many are not."""
    return JsonResponse(await in_db(_seen, request))


def _seen(request: HttpRequest) -> dict[str, object]:
    owner: Any = request.user.pk  # signed in
    wanted = read_uuid(request, "conversation")
    if request.POST.get("seen") == "1":
        # What is locked is said to be seen again at the next look.
        unless_locked(unit(mark_read), owner, wanted)
    shown = Conversation.objects.own(owner).filter(pk=wanted).first()
    last = shown.runs.order_by("-created_at").first() if shown else None
    took = last.finished_at - last.created_at if last and last.finished_at else None
    return {
        "unread": count_unread(owner),
        "title": shown.title if shown else "",
        "seconds": took.total_seconds() if took else 0,
    }
