"""The list of conversations, and what a person does with one, its link or its queue."""

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from ai_assistant.engine.queries import can_be_restored, conversations, count_unread
from ai_assistant.engine.service import (
    CONVERSATION_NAME_CHARS,
    FLAGS,
    SHARE_DAYS,
    SendNowRequest,
    delete,
    drop_queued,
    flag,
    mark_read,
    move_queued,
    open_shared,
    rename,
    restore,
    send_now,
    share,
    stop_sharing,
)
from ai_assistant.engine.storage.units import in_db, in_tool_thread
from ai_assistant.exceptions import Refused
from ai_assistant.render.html.transcript.shared import read_shared
from ai_assistant.request_context import to_the_end
from ai_assistant.safety.identity.session import session_stamp
from ai_assistant.web.panel.access import (
    FETCHED,
    NO_REFERRER,
    back,
    done,
    nothing_here,
    own_page,
    panel_view,
)
from ai_assistant.web.panel.fields import parse_uuid, read_uuid
from ai_assistant.web.panel.layout import read_layout
from ai_assistant.web.panel.listing import Wish, list_context, list_item, read_wish
from ai_assistant.web.panel.panel import bare_panel

if TYPE_CHECKING:
    from ai_assistant.engine.queries import Conversation

# Refusals that the form shows, so that the name can be mended.
OF_A_NAME = ("empty", "too_long", "binary")
STEPS = {"up": -1, "down": 1}
DROPS = ("drop", "edit")  # an edited one goes back to the composer, and is sent again


@require_GET
@panel_view(use=False)
async def conversations_view(request: HttpRequest) -> HttpResponse:
    """List the conversations of the user, the newest first; or those that a search finds."""
    return await in_db(_list, request)


@require_POST
@panel_view(use=False)
async def change_view(request: HttpRequest) -> HttpResponse:
    """Pin, archive or delete a conversation, or undo that; redraw the list."""
    wanted, does = read_uuid(request, "conversation"), request.POST.get("do", "")
    owner: Any = request.user.pk  # signed in
    if does == "delete":
        ip = (await in_db(session_stamp, request)).ip
        await to_the_end(delete(owner, wanted, ip))
    elif does == "undo":
        ip = (await in_db(session_stamp, request)).ip
        await restore(owner, wanted, ip)
    elif does in FLAGS:
        await flag(owner, wanted, does)
    else:
        raise Refused("not_found", "")
    deleted = str(wanted) if does == "delete" else ""
    if request.headers.get(FETCHED):
        return await in_db(_list, request, deleted)
    return HttpResponseRedirect(_address(read_wish(request), deleted))


@require_http_methods(["GET", "POST"])
@panel_view(use=False)
async def rename_view(request: HttpRequest) -> HttpResponse:
    """Show the form for another name (GET), or store it and redraw the entry (POST)."""
    wanted = read_uuid(request, "conversation")
    if request.method == "GET":
        return await in_db(_rename_form, request, wanted)
    try:
        await rename(request.user.pk, wanted, request.POST.get("title", ""))
    except Refused as refused:
        if refused.code not in OF_A_NAME:
            raise
        return await in_db(_rename_form, request, wanted, str(refused))
    if request.headers.get(FETCHED):
        return await in_db(_item, request, wanted)
    return HttpResponseRedirect(_address(read_wish(request)))


@require_POST
@panel_view(use=False)
async def seen_view(request: HttpRequest) -> HttpResponse:
    """Mark a conversation as seen, if it is; answer how many are not."""
    if request.POST.get("seen") == "1":
        # What is locked is said to be seen again at the next look.
        await mark_read(request.user.pk, read_uuid(request, "conversation"))
    return JsonResponse(await in_db(_news, request))


def _news(request: HttpRequest) -> dict[str, object]:
    owner: Any = request.user.pk  # signed in
    wanted = read_uuid(request, "conversation")
    shown = conversations(owner).filter(pk=wanted).first()
    last = shown.runs.order_by("-created_at").first() if shown else None
    took = last.finished_at - last.created_at if last and last.finished_at else None
    return {
        "unread": count_unread(owner),
        "title": shown.title if shown else "",
        "seconds": took.total_seconds() if took else 0,
    }


def _list(request: HttpRequest, deleted: str = "") -> HttpResponse:
    wish = read_wish(request)
    part = request.GET.get("part", "") if request.method == "GET" else ""
    deleted = deleted or _just_deleted(request)
    panel = bare_panel(request.user, back(request))
    panel.conversation = read_layout(request).conversation
    context = {"panel": panel, **list_context(request.user, wish, deleted)}
    if not request.headers.get(FETCHED):
        return own_page(request, "ai_assistant/history_page.html", context)
    name = {"list": "history_list", "more": "history_items"}.get(part, "history")
    return render(request, f"ai_assistant/{name}.html", context)


def _just_deleted(request: HttpRequest) -> str:
    """Return the id of a conversation whose deletion may still be undone."""
    named = parse_uuid(request.GET.get("deleted", ""))
    owner: Any = request.user.pk  # signed in
    return str(named) if named and can_be_restored(owner, named) else ""


def _item(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    panel = bare_panel(request.user, back(request))
    panel.conversation = read_layout(request).conversation
    item = list_item(request.user, conversation_id)
    context = {"panel": panel, "item": item, "wish": read_wish(request)}
    return render(request, "ai_assistant/history_item.html", context)


def _rename_form(
    request: HttpRequest, conversation_id: UUID, problem: str = ""
) -> HttpResponse:
    """Draw the form in place of the entry, or on a page of its own."""
    item = list_item(request.user, conversation_id)
    if problem:
        item["title"] = request.POST.get("title", "")[: CONVERSATION_NAME_CHARS + 100]
    context = {
        "item": item,
        "problem": problem,
        "wish": read_wish(request),
        "name_chars": CONVERSATION_NAME_CHARS,
        "panel": bare_panel(request.user, back(request)),
    }
    if request.headers.get(FETCHED):
        return render(request, "ai_assistant/rename_form.html", context)
    status = 400 if problem else 200
    return own_page(request, "ai_assistant/rename_page.html", context, status=status)


def _address(wish: Wish, deleted: str = "") -> str:
    """Return the address of the list, as it was seen."""
    named = {"q": wish.said, "archived": "1" if wish.archived else ""}
    said = {
        name: value for name, value in {**named, "deleted": deleted}.items() if value
    }
    address = reverse("ai_assistant:conversations")
    return f"{address}?{urlencode(said)}" if said else address


# --- the link under which others may read a conversation ---


@require_http_methods(["GET", "POST"])
@panel_view(use=True)
async def share_view(request: HttpRequest) -> HttpResponse:
    """Show whether a conversation is shared (GET); make or end its link (POST)."""
    wanted, token = read_uuid(request, "conversation"), ""
    if request.method == "POST":
        ip = (await in_db(session_stamp, request)).ip
        if request.POST.get("do") == "stop":
            await to_the_end(stop_sharing(request.user, wanted, ip))
        else:
            days = _days(request.POST.get("days", ""))
            token = await to_the_end(share(request.user, wanted, days, ip))
    return await in_db(_share, request, wanted, token)


@require_GET
@panel_view(use=True, hides=True)
async def shared_view(request: HttpRequest, token: str) -> HttpResponse:
    """Show what another user shares, as far as the reader's own rights go."""
    ip = (await in_db(session_stamp, request)).ip
    try:
        conversation = await open_shared(request.user, token, ip)
    except Refused as refused:
        if refused.code != "not_found":
            raise
        return await in_db(nothing_here, request)
    # The admin says what the reader may see: its code may be slow, the engine not.
    response = await in_tool_thread(_shared, request, conversation)
    response["Referrer-Policy"] = NO_REFERRER
    return response


def _days(said: str) -> int:
    """Return for how many days a link is wanted; what is no number is refused later."""
    return int(said) if said in map(str, SHARE_DAYS) else -1


def _share(request: HttpRequest, conversation_id: UUID, token: str) -> HttpResponse:
    item = list_item(request.user, conversation_id)
    panel = bare_panel(request.user, back(request))
    if not (panel.viewer.can_share or item["link"]):
        raise Refused("permission", _("You may not share conversations."))
    panel.conversation = read_layout(request).conversation
    panel.is_shared = item["link"] is not None
    address = reverse("ai_assistant:shared_conversation", args=[token]) if token else ""
    context = {
        "item": item,
        "panel": panel,
        "wish": read_wish(request),
        "address": address and request.build_absolute_uri(address),
        "days": SHARE_DAYS,
        "is_changed": request.method == "POST",
    }
    if request.headers.get(FETCHED):
        return render(request, "ai_assistant/share.html", context)
    return own_page(request, "ai_assistant/share_page.html", context)


def _shared(request: HttpRequest, conversation: "Conversation") -> HttpResponse:
    before = parse_uuid(request.GET.get("before", ""))
    context = {
        "shared": read_shared(conversation, request.user, before),
        # Not of this page: its address is a secret.
        "panel": bare_panel(request.user, reverse("ai_assistant:full")),
    }
    return own_page(request, "ai_assistant/shared_page.html", context)


# --- the messages that wait for the end of a run ---


@require_POST
@panel_view(use=True)
async def queue_view(request: HttpRequest) -> HttpResponse:
    """Send, move or drop a message that waits, or let the queue continue."""
    await to_the_end(_queue_change(request, request.POST.get("do", "")))
    return done(request)


def _queue_change(request: HttpRequest, how: str) -> Awaitable[object]:
    conversation = read_uuid(request, "conversation")
    if how == "resume":
        return send_now(_sent_now(request))
    place = (request.user.pk, conversation, read_uuid(request, "message"))
    if how in STEPS:
        return move_queued(*place, STEPS[how])
    if how in DROPS:
        return drop_queued(*place)
    if how == "now":
        return send_now(_sent_now(request))
    raise Refused(
        "bad_request", _("This page is out of date. Reload it and try again.")
    )


def _sent_now(request: HttpRequest) -> SendNowRequest:
    is_one = request.POST.get("do") == "now"
    return SendNowRequest(
        user_id=request.user.pk,
        conversation_id=read_uuid(request, "conversation"),
        stamp=session_stamp(request),
        queued_id=read_uuid(request, "message") if is_one else None,
    )
