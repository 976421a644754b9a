"""Views for the messages that wait for the end of a run."""

from collections.abc import Awaitable

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from ai_assistant.engine.service import (
    SendNowRequest,
    drop_queued,
    move_queued,
    send_now,
)
from ai_assistant.exceptions import Refused
from ai_assistant.request_context import to_the_end
from ai_assistant.safety.identity.session import session_stamp
from ai_assistant.web.panel.access import done, panel_view
from ai_assistant.web.panel.fields import read_uuid

STEPS = {"up": -1, "down": 1}
DROPS = ("drop", "edit")  # an edited one goes back to the composer, and is sent again


@require_POST
@panel_view(use=True)
async def queue_view(request: HttpRequest) -> HttpResponse:
    """Send, move or drop a message that waits, or let the queue continue."""
    await to_the_end(_change(request, request.POST.get("do", "")))
    return done(request)


def _change(request: HttpRequest, how: str) -> Awaitable[object]:
    conversation = read_uuid(request, "conversation")
    if how == "resume":
        return send_now(_wanted(request))
    place = (request.user.pk, conversation, read_uuid(request, "message"))
    if how in STEPS:
        return move_queued(*place, STEPS[how])
    if how in DROPS:
        return drop_queued(*place)
    if how == "now":
        return send_now(_wanted(request))
    raise Refused(
        "bad_request", _("This page is out of date. Reload it and try again.")
    )


def _wanted(request: HttpRequest) -> SendNowRequest:
    is_one = request.POST.get("do") == "now"
    return SendNowRequest(
        user_id=request.user.pk,
        conversation_id=read_uuid(request, "conversation"),
        stamp=session_stamp(request),
        queued_id=read_uuid(request, "message") if is_one else None,
    )
