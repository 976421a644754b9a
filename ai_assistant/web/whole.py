"""A text that is too long for a card, whole."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from ai_assistant.exceptions import Refused
from ai_assistant.models.change import RowChange
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.render.html.whole_texts import (
    Entry,
    Place,
    whole_change,
    whole_entry,
)
from ai_assistant.web.fields import read_number, read_uuid


def whole_page(request: HttpRequest) -> HttpResponse:
    """Return the page of a part of the text. Raise Refused not_found without one."""
    part = read_number(request, "part")
    of_change = "change" in request.GET
    whole = _of_change(request, part) if of_change else _of_proposal(request, part)
    if whole is None:
        raise Refused("not_found", _("This text does not exist."))
    return render(request, "ai_assistant/whole_text.html", {"whole": whole})


def _of_change(request: HttpRequest, part: int) -> Entry | None:
    """Return a text of a row that a run of the person has changed."""
    owner: Any = request.user.pk  # signed in
    row = RowChange.objects.filter(
        pk=read_number(request, "change"), change_set__run__user_id=owner
    ).first()
    return whole_change(row, read_number(request, "field"), part) if row else None


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
