"""A text that is too long for a card, whole."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from ai_assistant.exceptions import Refused
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import RowChange
from ai_assistant.models.conversation import Message
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.render.html.whole_texts import (
    Entry,
    Place,
    whole_call,
    whole_change,
    whole_entry,
    whole_message,
)
from ai_assistant.web.fields import read_number, read_uuid
from ai_assistant.web.own_pages import own_page


def whole_page(request: HttpRequest) -> HttpResponse:
    """Return the page of a part of the text. Raise Refused not_found without one."""
    part = read_number(request, "part")
    if "message" in request.GET:
        whole = _of_message(request, part)
    elif "change" in request.GET:
        whole = _of_change(request, part)
    elif "call" in request.GET:
        whole = _of_call(request, part)
    else:
        whole = _of_proposal(request, part)
    if whole is None:
        raise Refused("not_found", _("This text does not exist."))
    return own_page(request, "ai_assistant/whole_text.html", {"whole": whole})


def _of_message(request: HttpRequest, part: int) -> Entry | None:
    """Return what the assistant has said to the person."""
    owner: Any = request.user.pk  # signed in
    own = Message.objects.select_related("conversation").filter(
        conversation__owner_id=owner,
        conversation__deleted_at=None,
        role=Message.Role.ASSISTANT,
    )
    message = own.filter(pk=read_uuid(request, "message")).first()
    return whole_message(message, part) if message else None


def _of_change(request: HttpRequest, part: int) -> Entry | None:
    """Return a text of a row that a run of the person has changed."""
    owner: Any = request.user.pk  # signed in
    row = RowChange.objects.filter(
        pk=read_number(request, "change"), change_set__user_id=owner
    ).first()
    return whole_change(row, read_number(request, "field"), part) if row else None


def _of_call(request: HttpRequest, part: int) -> Entry | None:
    """Return what a call of the person's was asked for, or its result."""
    owner: Any = request.user.pk  # signed in
    own = ToolCall.objects.filter(run__user_id=owner)
    call = own.filter(pk=read_uuid(request, "call")).first()
    return whole_call(call, request.GET.get("side", ""), part) if call else None


def _of_proposal(request: HttpRequest, part: int) -> Entry | None:
    """Return a text of a card that the person is or was asked to approve."""
    owner: Any = request.user.pk  # signed in
    asked = Interrupt.objects.select_related("call").filter(
        pk=read_uuid(request, "interrupt"), run__user_id=owner
    )
    place = Place(
        row=read_number(request, "row"),
        field=read_number(request, "field"),
        argument=request.GET.get("argument", ""),
    )
    interrupt = asked.first()
    return whole_entry(interrupt, place, part) if interrupt else None
