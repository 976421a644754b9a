"""The panel's views. All that a person does is a form POST."""

import uuid
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_GET,
    require_http_methods,
    require_POST,
)

from ai_assistant.engine.queries import find_conversation, is_anothers, last_run
from ai_assistant.engine.service import (
    Answer,
    SentPage,
    Submission,
    WrongValues,
    again,
    answer,
    edit_form,
    in_form_time,
    revoke_grant,
    send,
    stop,
)
from ai_assistant.engine.storage.units import in_db, in_tool_thread
from ai_assistant.exceptions import ArgumentsMissing, CommandAnswered, Refused
from ai_assistant.render.html.cards.approval import edit_entry, grant_entries
from ai_assistant.render.html.live.frames import frames_of
from ai_assistant.render.html.live.projection import Projection
from ai_assistant.request_context import to_the_end
from ai_assistant.safety.identity.session import session_stamp
from ai_assistant.web.panel.access import FETCHED, back, done, own_page, panel_view
from ai_assistant.web.panel.banners import offer_of, site_banner
from ai_assistant.web.panel.commands import ask_arguments, read_arguments, show_answer
from ai_assistant.web.panel.fields import (
    idempotency_key,
    page_path,
    parse_number,
    parse_uuid,
    read_answer,
    read_chosen,
    read_context,
    read_decision,
    read_profile,
    read_seq,
    read_uuid,
)
from ai_assistant.web.panel.layout import read_layout, write_layout
from ai_assistant.web.panel.listing import list_context
from ai_assistant.web.panel.messages import reach, whole_page
from ai_assistant.web.panel.panel import Panel, bare_panel, drawn_panel, page_panel


@require_POST
@panel_view(use=True)
async def send_view(request: HttpRequest) -> HttpResponse:
    """Accept a message and start its run."""
    submission = _submission(request)
    try:
        await to_the_end(send(submission))
    except ArgumentsMissing as missing:
        return await in_db(ask_arguments, request, missing)
    except CommandAnswered as answered:
        return await in_db(show_answer, request, answered)
    response = done(request)
    if response.status_code == 303:
        # Without JavaScript nothing else would remember the conversation.
        _remember(request, response, submission.conversation_id)
    return response


@require_POST
@panel_view(use=True)
async def stop_view(request: HttpRequest) -> HttpResponse:
    """Stop a run, or the one of the conversation."""
    await to_the_end(stop(request.user.pk, read_uuid(request, "run")))
    return done(request)


@require_POST
@panel_view(use=True)
async def retry_view(request: HttpRequest) -> HttpResponse:
    """Start a new run that continues from an ended one."""
    run_id, key = read_uuid(request, "run"), idempotency_key(request)
    session = session_stamp(request)
    await to_the_end(again(request.user.pk, run_id, key, session))
    return done(request)


@require_POST
@panel_view(use=True)
async def answer_view(request: HttpRequest) -> HttpResponse:
    """Approve or deny a call, or answer a question."""
    session = session_stamp(request)
    given = Answer(
        user_id=request.user.pk,
        interrupt_id=read_uuid(request, "interrupt"),
        nonce=request.POST.get("nonce", ""),
        **read_decision(request),
        text=read_answer(request),
        chosen=read_chosen(request),
        stamp=session,
    )
    try:
        await to_the_end(answer(given, request.POST))
    except WrongValues as wrong:
        drawing = partial(_edit_page, request, wrong.form, status=400)
        return await in_form_time(request.user.pk, given.interrupt_id, drawing)
    return done(request)


@require_GET
@panel_view(use=True)
async def edit_view(request: HttpRequest) -> HttpResponse:
    """Return the form in which a person changes what a call proposes."""
    # The site's own form: it may be slow, the engine must not be.
    interrupt_id = read_uuid(request, "interrupt")
    return await in_form_time(request.user.pk, interrupt_id, partial(_edit, request))


@require_http_methods(["GET", "POST"])
@panel_view(use=True)
async def grants_view(request: HttpRequest) -> HttpResponse:
    """Show what need not be approved again in answers under way; take one back."""
    if request.method == "POST":
        await revoke_grant(request.user.pk, parse_number(request.POST.get("grant", "")))
    return await in_db(_grants, request)


def _grants(request: HttpRequest) -> HttpResponse:
    context = {
        "grants": grant_entries(request.user.pk),
        "panel": bare_panel(request.user, back(request)),
    }
    if request.headers.get(FETCHED):
        return render(request, "ai_assistant/grants.html", context)
    return own_page(request, "ai_assistant/grants_page.html", context)


@require_GET
@panel_view(use=False)
async def whole_view(request: HttpRequest) -> HttpResponse:
    """Show a text that is too long for a card, on a page of its own."""
    return await in_tool_thread(whole_page, request)


@require_POST
@panel_view(use=False)
async def new_view(request: HttpRequest) -> HttpResponse:
    """Begin a new conversation, for a browser without JavaScript."""
    response = done(request)
    full = reverse("ai_assistant:full")
    # Its address may name the conversation that is left.
    if urlsplit(response.get("Location", "")).path == full:
        response["Location"] = f"{full}#aia"
    _remember(request, response, uuid.uuid4())
    return response


@require_GET
@panel_view(use=False)
async def page_view(request: HttpRequest) -> HttpResponse:
    """Return the contents of the panel, for a page that opens it."""
    # Code of the site describes the page: it may be slow, the engine must not be.
    return await in_tool_thread(_page, request)


@require_GET
@panel_view(use=False)
async def context_view(request: HttpRequest) -> HttpResponse:
    """Return the chips of a page, and the banner over the conversation on it."""
    return await in_tool_thread(_context, request)


@require_GET
@panel_view(use=False)
async def full_view(request: HttpRequest) -> HttpResponse:
    """Show the assistant on a page of its own."""
    return await in_tool_thread(_full, request)


@require_GET
@panel_view(use=False)
async def frames_view(request: HttpRequest) -> HttpResponse:
    """Return what a page lacks, for browsers that have no socket."""
    return JsonResponse({"frames": await in_db(_frames, request)})


@require_GET
@panel_view(use=False)
async def ws_view(request: HttpRequest) -> HttpResponse:
    """Answer a plain request to the socket's address."""
    response = HttpResponse(_("This address is for websockets."), status=426)
    if isinstance(request, ASGIRequest):
        response["Upgrade"] = "websocket"
    else:  # which WSGI forbids to say; the panel need not try again
        response["X-Assistant-Socket"] = "none"
    return response


def _edit(request: HttpRequest) -> HttpResponse:
    form = edit_form(request.user.pk, read_uuid(request, "interrupt"))
    return _edit_page(request, form)


def _edit_page(request: HttpRequest, form: Any, *, status: int = 200) -> HttpResponse:
    """Draw the form: on its card, or on a page of its own; `status` is of the page."""
    interrupt_id = read_uuid(request, "interrupt")
    nonce = request.POST.get("nonce") or request.GET.get("nonce", "")
    context = {
        "edit": edit_entry(form, interrupt_id),
        "item": {"id": str(interrupt_id), "nonce": nonce},
        "panel": bare_panel(request.user, back(request)),
    }
    if not request.headers.get("HX-Request"):
        return own_page(request, "ai_assistant/edit_page.html", context, status=status)
    response = render(request, "ai_assistant/edit_form.html", context)
    if request.method == "POST":  # else the answer would be taken for a notice
        response["HX-Retarget"] = f"#i-{interrupt_id}-edit"
        response["HX-Reswap"] = "innerHTML"
    return response


def _submission(request: HttpRequest) -> Submission:
    """Return what was sent. Session and user are loaded: no database is asked."""
    return Submission(
        user_id=request.user.pk,
        conversation_id=read_uuid(request, "conversation"),
        key=idempotency_key(request),
        text=request.POST.get("text", ""),
        page=SentPage(
            path=page_path(request.POST.get("path", "")),
            title=request.POST.get("title", ""),
            context=read_context(request),
        ),
        stamp=session_stamp(request),
        look_only=request.POST.get("look_only") == "1",
        steers=request.POST.get("steers") == "1",
        profile=read_profile(request),
        agent=request.POST.get("agent"),
        arguments=read_arguments(request),
    )


def _remember(request: HttpRequest, response: HttpResponse, conversation: UUID) -> None:
    layout = read_layout(request)
    said = request.POST.get("look_only")  # no word of it: as it was
    look_only = layout.look_only if said is None else said == "1"
    left = replace(layout, is_open=True, conversation=str(conversation))
    write_layout(response, replace(left, look_only=look_only))


def _check_conversation(request: HttpRequest, named: str) -> None:
    """Raise Refused not_found for another user's."""
    wanted = parse_uuid(named)
    if wanted and is_anothers(request.user.pk, wanted):
        raise Refused("not_found", "")


def _page(request: HttpRequest) -> HttpResponse:
    wanted = request.GET.get("conversation", "")
    layout = read_layout(request)
    if wanted != layout.conversation:  # what the browser remembers is no request
        _check_conversation(request, wanted)
    path = page_path(request.GET.get("path", "")) or back(request)
    title = request.GET.get("title", "")
    panel = drawn_panel(
        request, layout, path=path, title=title, conversation=wanted or "new"
    )
    is_full = request.GET.get("mode") == "page"
    context = _on_own_page(request, panel) if is_full else {"panel": panel}
    return render(request, "ai_assistant/panel_inner.html", context)


def _context(request: HttpRequest) -> HttpResponse:
    conversation = request.GET.get("conversation", "")
    _check_conversation(request, conversation)
    path = page_path(request.GET.get("path", ""))
    title = request.GET.get("title", "")
    opened = request.GET.get("opened", "")
    panel = page_panel(request.user, path, title, conversation, opened=opened)
    panel.notices.banner = site_banner(request)
    last = last_run(find_conversation(request.user.pk, conversation))
    panel.notices.undo = offer_of(last, request)
    return render(request, "ai_assistant/context.html", {"panel": panel})


def _full(request: HttpRequest) -> HttpResponse:
    wanted = request.GET.get("conversation", "")
    _check_conversation(request, wanted)
    panel = drawn_panel(request, read_layout(request), conversation=wanted)
    if shown := find_conversation(request.user.pk, wanted):
        reach(panel, shown, request.GET.get("at", ""))
    return own_page(request, "ai_assistant/fullpage.html", _on_own_page(request, panel))


def _on_own_page(request: HttpRequest, panel: Panel) -> dict[str, object]:
    """Return the context of the panel beside the list of conversations."""
    panel.layout = replace(panel.layout, mode="page")
    return {"panel": panel, **list_context(request.user)}


def _frames(request: HttpRequest) -> list[dict[str, object]]:
    conversation = read_uuid(request, "conversation")
    _check_conversation(request, str(conversation))
    path = page_path(request.GET.get("path", "")) or back(request)
    panel = bare_panel(request.user, path)
    panel.page.opened = request.GET.get("opened", "")
    projection = Projection(conversation, request.user.pk, panel)
    if find_conversation(request.user.pk, str(conversation)) is None:
        return []
    run_id = read_uuid(request, "run") if request.GET.get("run") else None
    ops = projection.attach(run_id, read_seq(request))
    return frames_of(ops, projection.seq, projection.run_id)
