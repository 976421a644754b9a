"""Answers to be copied, rated, kept as a file, or looked into."""

from functools import partial
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from ai_assistant.engine.intake.retries import whole_answer
from ai_assistant.engine.intake.submission import clean_text
from ai_assistant.engine.storage.units import in_db, unit
from ai_assistant.exceptions import Refused
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import RowChange
from ai_assistant.models.conversation import Conversation, Feedback, Message
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from ai_assistant.render.exported import as_json, as_markdown
from ai_assistant.render.html.cards.body import raw_entry
from ai_assistant.render.html.diffs.long_texts import (
    Entry,
    Place,
    whole_call,
    whole_change,
    whole_entry,
    whole_message,
)
from ai_assistant.render.html.transcript.entries import run_entry
from ai_assistant.render.html.transcript.footer import end_of
from ai_assistant.render.html.transcript.thread import read_earlier
from ai_assistant.text.redaction import redact_values
from ai_assistant.web.own_pages import own_page
from ai_assistant.web.panel.access import FETCHED, assistant_view, back, done
from ai_assistant.web.panel.fields import read_number, read_uuid
from ai_assistant.web.panel.panel import Panel, bare_panel


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


NAME_CHARS = 60


def name_file(
    response: HttpResponse, title: str, ending: str, *, otherwise: str
) -> None:
    """Let the response be saved as its `title`, or `otherwise`, with this `ending`."""
    name = slugify(title)[:NAME_CHARS].strip("-") or otherwise
    response["Content-Disposition"] = content_disposition_header(
        as_attachment=True, filename=f"{name}.{ending}"
    )


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


def _keep(run: Run, user_id: Any, value: str, fields: dict[str, Any]) -> None:
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


MARKDOWN = "text/markdown; charset=utf-8"


@require_GET
@assistant_view(use=False)
async def message_view(request: HttpRequest) -> HttpResponse:
    """Return the text of an answer; with `as=file` to be saved under a name."""
    return await in_db(_message, request)


def own_run(request: HttpRequest) -> Run:
    """Return the run that the request names. Raise Http404 for another user's."""
    owner: Any = request.user.pk  # signed in
    runs = Run.objects.filter(user_id=owner, conversation__deleted_at=None)
    named = runs.filter(pk=read_uuid(request, "run"))
    run = named.select_related("conversation").first()
    if run is None:
        raise Http404
    return run


def markdown_of(run: Run) -> str:
    """
    Return what the assistant said in a run, as it wrote it, without its calls.

    Of one that goes on with a cut answer the parts above are taken along.
    """
    runs = whole_answer(run)
    said = Message.objects.filter(run_id__in=runs, role=Message.Role.ASSISTANT)
    texts = (message.text.strip() for message in said.order_by("position"))
    return "\n\n".join(text for text in texts if text)


def _message(request: HttpRequest) -> HttpResponse:
    run = own_run(request)
    text = markdown_of(run)
    if request.GET.get("as") != "file":
        return HttpResponse(text, content_type=MARKDOWN)
    response = HttpResponse(f"{text}\n", content_type=MARKDOWN)
    name_file(response, run.conversation.title, "md", otherwise="answer")
    return response


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
