"""A text that is too long for a card, whole."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from ai_assistant.exceptions import Refused
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.render.html.whole_texts import Place, whole_entry
from ai_assistant.web.fields import read_number, read_uuid


def whole_page(request: HttpRequest) -> HttpResponse:
    """Return the page of a part of the text. Raise Refused not_found without one."""
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
    part = read_number(request, "part")
    whole = whole_entry(interrupt, place, part) if interrupt else None
    if whole is None:
        raise Refused("not_found", _("This text does not exist."))
    return render(request, "ai_assistant/whole_text.html", {"whole": whole})
