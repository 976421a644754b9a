"""What a person thinks of an answer."""

from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from ai_assistant.engine.db import in_db, unit
from ai_assistant.engine.start import clean_text
from ai_assistant.exceptions import Refused
from ai_assistant.models.feedback import Feedback
from ai_assistant.models.run import Run
from ai_assistant.render.html.ends import end_of
from ai_assistant.render.html.entries import run_entry
from ai_assistant.safety.redaction import redact_values
from ai_assistant.web.access import FETCHED, assistant_view, back, done
from ai_assistant.web.messages import own_run
from ai_assistant.web.panel import bare_panel

TEXT_CHARS = 2000


@require_POST
@assistant_view(use=False)
async def feedback_view(request: HttpRequest) -> HttpResponse:
    """
    Keep what a person thinks of an answer of theirs; one opinion each.

    `value` is up, down, or nothing to take it back: sent twice it stays. `say` comes
    with the reasons, which may be none.
    """
    return await in_db(_feedback, request)


def _feedback(request: HttpRequest) -> HttpResponse:
    run = own_run(request)
    value = request.POST.get("value", "")
    if value and value not in Feedback.Value:
        raise Refused("bad_request", _("This page is out of date. Reload it."))
    if not run.is_final:
        raise Refused("not_ended", _("This answer is still being written."))
    says = "say" in request.POST
    fields = _said(request) if says else {"reasons": [], "text": ""}
    unit(partial(_keep, run, request.user.pk, value, fields))()
    if not request.headers.get(FETCHED):
        return done(request)
    context = {
        "entry": {**run_entry(run, [], {}), **end_of(run)},
        "panel": bare_panel(request.user, back(request)),
        "asks": value == Feedback.Value.DOWN and not says,
    }
    return render(request, "ai_assistant/message_actions.html", context)


def _keep(run: Run, user_id: Any, value: str, fields: dict[str, Any]) -> None:  # noqa: ANN401
    mine = Feedback.objects.filter(run=run, user_id=user_id)
    if not value:
        mine.delete()
        return
    kept = {"value": value, **fields}
    Feedback.objects.update_or_create(run=run, user_id=user_id, defaults=kept)


def _said(request: HttpRequest) -> dict[str, Any]:
    """Return the reasons that were ticked, and the comment."""
    ticked = request.POST.getlist("reasons")
    text = request.POST.get("text", "")
    return {
        "reasons": [one for one in Feedback.Reason.values if one in ticked],
        "text": redact_values(clean_text(text, TEXT_CHARS)) if text.strip() else "",
    }
