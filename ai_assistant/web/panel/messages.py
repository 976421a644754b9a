"""Answers to be copied, rated, kept as a file, or looked into."""

import csv
from typing import TYPE_CHECKING
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from ai_assistant.engine.queries import (
    calls,
    conversations,
    get_or_404,
    interrupts,
    messages,
    row_changes,
    runs,
    waiting_interrupts,
)
from ai_assistant.engine.service import context_meter, next_prompt, rate
from ai_assistant.engine.storage.units import in_db, in_tool_thread
from ai_assistant.exceptions import Refused
from ai_assistant.render.exported import answer_as_markdown, as_json, as_markdown
from ai_assistant.render.html.cards.approval import whole_card
from ai_assistant.render.html.cards.body import prompt_entry, raw_entry
from ai_assistant.render.html.cards.objects import object_entry
from ai_assistant.render.html.cards.result import csv_lines, table_page
from ai_assistant.render.html.diffs.long_texts import (
    Entry,
    Place,
    whole_call,
    whole_change,
    whole_entry,
    whole_message,
)
from ai_assistant.render.html.transcript.entries import (
    SEARCH,
    call_facts,
    pinned_entry,
    run_entry,
)
from ai_assistant.render.html.transcript.footer import run_footer
from ai_assistant.render.html.transcript.thread import read_earlier
from ai_assistant.tools.data.reading.search import list_address
from ai_assistant.web.panel.access import FETCHED, back, done, own_page, panel_view
from ai_assistant.web.panel.fields import page_path, parse_uuid, read_number, read_uuid
from ai_assistant.web.panel.panel import Panel, bare_panel

if TYPE_CHECKING:
    from ai_assistant.engine.queries import Conversation, Run, ToolCall


@require_GET
@panel_view(use=False)
async def object_view(request: HttpRequest) -> HttpResponse:
    """Show the card of the object whose admin page is at `path`, if it may be seen."""
    return await in_db(_object, request)


def _object(request: HttpRequest) -> HttpResponse:
    card = object_entry(page_path(request.GET.get("path", "")), request.user)
    return render(request, "ai_assistant/object_card.html", {"card": card})


@require_GET
@panel_view(use=False)
async def earlier_view(request: HttpRequest) -> HttpResponse:
    """Return the messages above the run `before`; as far as the run `to`, if named."""
    return await in_db(_earlier, request)


def reach(panel: Panel, conversation: "Conversation", said: str) -> None:
    """Extend the thread in `panel` back to the run with the id `said`, if it exists."""
    to = parse_uuid(said)
    thread = panel.thread
    if not thread.earlier or to is None:
        return
    above = read_earlier(conversation, UUID(thread.earlier), to)
    thread.entries = [*above.entries, *thread.entries]
    thread.earlier = above.earlier


def _earlier(request: HttpRequest) -> HttpResponse:
    own = conversations(request.user.pk)
    conversation = get_or_404(own, read_uuid(request, "conversation"))
    before = read_uuid(request, "before")
    panel = bare_panel(request.user, back(request))
    panel.conversation = str(conversation.pk)
    to = parse_uuid(request.GET.get("to", ""))
    panel.thread = read_earlier(conversation, before, to)
    return render(request, "ai_assistant/thread_part.html", {"panel": panel})


FILE_NAME_CHARS = 60


def name_file(
    response: HttpResponse, title: str, ending: str, *, otherwise: str
) -> None:
    """Let the response be saved as its `title`, or `otherwise`, with this `ending`."""
    name = slugify(title)[:FILE_NAME_CHARS].strip("-") or otherwise
    response["Content-Disposition"] = content_disposition_header(
        as_attachment=True, filename=f"{name}.{ending}"
    )


@require_POST
@panel_view(use=False)
async def feedback_view(request: HttpRequest) -> HttpResponse:
    """
    Keep what a person thinks of an answer of theirs; one opinion each.

    `value` is up, down, or nothing to take it back: sent twice it stays. `say` comes
    with the reasons, which may be none.
    """
    run_id, value = read_uuid(request, "run"), request.POST.get("value", "")
    says = "say" in request.POST
    reasons = request.POST.getlist("reasons") if says else ()
    text = request.POST.get("text", "") if says else ""
    await rate(request.user.pk, run_id, value, reasons, text)
    if not request.headers.get(FETCHED):
        return done(request)
    return await in_db(_actions, request, value == "down" and not says)


def _actions(request: HttpRequest, asks: bool) -> HttpResponse:  # noqa: FBT001
    run = own_run(request)
    context = {
        "entry": {**run_entry(run, [], {}), **run_footer(run)},
        "panel": bare_panel(request.user, back(request)),
        "asks": asks,
    }
    return render(request, "ai_assistant/message_actions.html", context)


MARKDOWN = "text/markdown; charset=utf-8"
FORMS = {
    "markdown": (as_markdown, MARKDOWN, "md"),
    "json": (as_json, "application/json", "json"),
}


@require_GET
@panel_view(use=False)
async def export_view(request: HttpRequest) -> HttpResponse:
    """Return a conversation as a file to be saved."""
    return await in_db(_export, request)


def _export(request: HttpRequest) -> HttpResponse:
    own = conversations(request.user.pk)
    conversation = get_or_404(own, read_uuid(request, "conversation"))
    form = FORMS.get(request.GET.get("as", "markdown"))
    if form is None:
        raise Http404
    write, content_type, ending = form
    response = HttpResponse(write(conversation), content_type=content_type)
    name_file(response, conversation.title, ending, otherwise="conversation")
    return response


@require_GET
@panel_view(use=False)
async def message_view(request: HttpRequest) -> HttpResponse:
    """Return the text of an answer; with `as=file` to be saved under a name."""
    return await in_db(_message, request)


def own_run(request: HttpRequest) -> "Run":
    """Return the run that the request names. Raise Refused not_found."""
    own = runs(request.user.pk).select_related("conversation")
    return get_or_404(own, read_uuid(request, "run"))


def _message(request: HttpRequest) -> HttpResponse:
    run = own_run(request)
    text = answer_as_markdown(run)
    if request.GET.get("as") != "file":
        return HttpResponse(text, content_type=MARKDOWN)
    response = HttpResponse(f"{text}\n", content_type=MARKDOWN)
    name_file(response, run.conversation.title, "md", otherwise="answer")
    return response


@require_GET
@panel_view(use=False)
async def raw_view(request: HttpRequest) -> HttpResponse:
    """Show what is stored of an answer: to superusers, of their own conversations."""
    return await in_db(_raw, request)


def _raw(request: HttpRequest) -> HttpResponse:
    if not getattr(request.user, "is_superuser", False):
        raise PermissionDenied
    context = {"raw": raw_entry(own_run(request))}
    return own_page(request, "ai_assistant/raw.html", context)


@require_GET
@panel_view(use=False)
async def prompt_view(request: HttpRequest) -> HttpResponse:
    """Show superusers the prompt of their next message on the page `path`."""
    if not getattr(request.user, "is_superuser", False):
        raise PermissionDenied
    wanted = page_path(request.GET.get("path", ""))
    prompt = await next_prompt(request.user, wanted)
    context = {"page_path": wanted, "prompt": prompt_entry(prompt)}
    return await in_db(own_page, request, "ai_assistant/prompt_page.html", context)


@require_GET
@panel_view(use=False)
async def meter_view(request: HttpRequest) -> HttpResponse:
    """Show how full the context of a conversation is, and of what."""
    return await in_db(_meter, request)


def _meter(request: HttpRequest) -> HttpResponse:
    named = parse_uuid(request.GET.get("conversation", ""))
    known = named and conversations(request.user.pk).filter(pk=named).exists()
    meter = context_meter(request.user.pk, named) if named and known else None
    if request.headers.get(FETCHED):
        return render(request, "ai_assistant/meter.html", {"meter": meter})
    return own_page(request, "ai_assistant/meter_page.html", {"meter": meter})


@require_GET
@panel_view(use=True)
async def rows_view(request: HttpRequest) -> HttpResponse:
    """Show all rows of a bulk change that waits, on its card or on a page."""
    return await in_db(_rows, request)


def _rows(request: HttpRequest) -> HttpResponse:
    waiting = waiting_interrupts(request.user.pk)
    interrupt = get_or_404(waiting, read_uuid(request, "interrupt"))
    panel = bare_panel(request.user, back(request))
    diff = whole_card(interrupt, panel.viewer)
    context = {
        "item": {**pinned_entry(interrupt), "diff": diff},
        "diff": diff,
        "panel": panel,
    }
    if not request.headers.get(FETCHED):
        return own_page(request, "ai_assistant/approval_page.html", context)
    return render(request, "ai_assistant/approval_rows.html", context)


@require_GET
@panel_view(use=False)
async def table_view(request: HttpRequest) -> HttpResponse:
    """
    Show rows of the result of a `call`: from `first` on, by the column `order`.

    With `as=csv` all of them as a file, with `as=list` the list of the admin that they
    are of.
    """
    return await in_tool_thread(_table, request)


def _table(request: HttpRequest) -> HttpResponse:
    call = get_or_404(calls(request.user.pk), read_uuid(request, "call"))
    form = request.GET.get("as", "")
    if form == "list":
        return _list(request, call)
    if form == "csv":
        return _csv(call)
    order = request.GET.get("order", "")
    table = table_page(call, order, read_number(request, "first"))
    if table is None:
        raise Refused("not_found", _("There are no such rows."))
    panel = bare_panel(request.user, back(request))
    context = {"call": call_facts(call), "table": table, "panel": panel}
    if request.headers.get(FETCHED):
        return render(request, "ai_assistant/tool_rows.html", context)
    return own_page(request, "ai_assistant/table_page.html", context)


def _list(request: HttpRequest, call: "ToolCall") -> HttpResponse:
    is_search = call.name == SEARCH
    address = list_address(request.user, call.arguments) if is_search else ""
    if not address:
        raise Refused("no_list", _("No list of this site can show just these rows."))
    return HttpResponseRedirect(address)


def _csv(call: "ToolCall") -> HttpResponse:
    response = HttpResponse("\ufeff", content_type="text/csv; charset=utf-8")
    csv.writer(response).writerows(csv_lines(call))
    name_file(response, call.summary or call.label, "csv", otherwise="rows")
    return response


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
    own = messages(request.user.pk).select_related("conversation")
    message = own.filter(pk=read_uuid(request, "message")).first()
    if message is None or message.role != message.Role.ASSISTANT:
        return None
    return whole_message(message, part)


def _of_change(request: HttpRequest, part: int) -> Entry | None:
    """Return a text of a row that a run of the person has changed."""
    own = row_changes(request.user.pk)
    row = own.filter(pk=read_number(request, "change")).first()
    return whole_change(row, read_number(request, "field"), part) if row else None


def _of_call(request: HttpRequest, part: int) -> Entry | None:
    """Return what a call of the person's was asked for, or its result."""
    call = calls(request.user.pk).filter(pk=read_uuid(request, "call")).first()
    return whole_call(call, request.GET.get("side", ""), part) if call else None


def _of_proposal(request: HttpRequest, part: int) -> Entry | None:
    """Return a text of a card that the person is or was asked to approve."""
    asked = interrupts(request.user.pk).filter(pk=read_uuid(request, "interrupt"))
    place = Place(
        row=read_number(request, "row"),
        field=read_number(request, "field"),
        argument=request.GET.get("argument", ""),
    )
    interrupt = asked.first()
    return whole_entry(interrupt, place, part) if interrupt else None
