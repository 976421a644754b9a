"""The list of conversations, and what a person does with one in it."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from ai_assistant.engine.intake.submission import clean_text
from ai_assistant.engine.lifecycle import deletion
from ai_assistant.engine.service import delete, renamed
from ai_assistant.engine.storage.units import in_db, unit
from ai_assistant.exceptions import Refused
from ai_assistant.models.clock import Now
from ai_assistant.models.conversation import Conversation
from ai_assistant.safety.identity.session import stamp
from ai_assistant.text.redaction import redact_values
from ai_assistant.types import UserKey
from ai_assistant.web.own_pages import own_page
from ai_assistant.web.panel.access import FETCHED, assistant_view, back
from ai_assistant.web.panel.fields import read_uuid
from ai_assistant.web.panel.layout import read_layout
from ai_assistant.web.panel.listing import Wish, list_context, listed_one, read_wish
from ai_assistant.web.panel.panel import bare_panel
from ai_assistant.web.requests import to_the_end

NAME_CHARS = 200


def clean_name(said: str) -> str:
    """Return the name on one line. Raise Refused: empty, too_long, binary."""
    words = " ".join(said.split())
    if not words:
        raise Refused("empty", _("Write a name first."))
    if len(words) > NAME_CHARS:
        raise Refused(
            "too_long",
            _("This name has %(n)d characters; it may have %(most)d.")
            % {"n": len(words), "most": NAME_CHARS},
        )
    return redact_values(clean_text(words, NAME_CHARS))[:NAME_CHARS]


@unit
def rename(user_id: UserKey, conversation_id: UUID, name: str) -> None:
    """Give a conversation a name, which no other replaces. Raise Refused not_found."""
    own = Conversation.objects.own(user_id).filter(pk=conversation_id)
    if not own.update(title=name, is_renamed=True):
        raise Refused("not_found", _("This conversation does not exist."))


FLAGS = {
    "pin": ("pinned_at", True),
    "unpin": ("pinned_at", False),
    "archive": ("archived_at", True),
    "unarchive": ("archived_at", False),
}


@require_GET
@assistant_view(use=False)
async def conversations_view(request: HttpRequest) -> HttpResponse:
    """List the own conversations, the newest first; or those that a search finds."""
    return await in_db(_list, request)


@require_POST
@assistant_view(use=False)
async def change_view(request: HttpRequest) -> HttpResponse:
    """Pin, archive or delete a conversation, or take that back; draw the list anew."""
    wanted, does = read_uuid(request, "conversation"), request.POST.get("do", "")
    owner: Any = request.user.pk  # signed in
    if does == "delete":
        ip = (await in_db(stamp, request)).ip
        await to_the_end(delete(owner, wanted, ip))
    elif does == "undo":
        ip = (await in_db(stamp, request)).ip
        await in_db(deletion.restore, owner, wanted, ip)
    elif does in FLAGS:
        await in_db(_flag, owner, wanted, *FLAGS[does])
    else:
        raise Refused("not_found", "")
    deleted = str(wanted) if does == "delete" else ""
    if request.headers.get(FETCHED):
        return await in_db(_list, request, deleted)
    return HttpResponseRedirect(_address(read_wish(request), deleted))


@require_http_methods(["GET", "POST"])
@assistant_view(use=False)
async def rename_view(request: HttpRequest) -> HttpResponse:
    """Show the form for another name; or take the name and draw the entry anew."""
    wanted = read_uuid(request, "conversation")
    if request.method == "GET":
        return await in_db(_rename_form, request, wanted)
    try:
        name = clean_name(request.POST.get("title", ""))
    except Refused as refused:
        return await in_db(_rename_form, request, wanted, str(refused))
    await in_db(rename, request.user.pk, wanted, name)
    renamed(request.user.pk, wanted)
    if request.headers.get(FETCHED):
        return await in_db(_item, request, wanted)
    return HttpResponseRedirect(_address(read_wish(request)))


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
    """Return the id of a conversation whose deletion may still be taken back."""
    try:
        named = UUID(request.GET.get("deleted", ""))
    except ValueError:
        return ""
    owner: Any = request.user.pk  # signed in
    rows = Conversation.objects.filter(pk=named, owner_id=owner)
    return str(named) if rows.exclude(deleted_at=None).exists() else ""


def _item(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    panel = bare_panel(request.user, back(request))
    panel.conversation = read_layout(request).conversation
    item = _own_item(request, conversation_id)
    context = {"panel": panel, "item": item, "wish": read_wish(request)}
    return render(request, "ai_assistant/history_item.html", context)


def _rename_form(
    request: HttpRequest, conversation_id: UUID, problem: str = ""
) -> HttpResponse:
    """Draw the form in place of the entry, or on a page of its own."""
    item = _own_item(request, conversation_id)
    if problem:
        item["title"] = request.POST.get("title", "")[: NAME_CHARS + 100]
    context = {
        "item": item,
        "problem": problem,
        "wish": read_wish(request),
        "name_chars": NAME_CHARS,
        "panel": bare_panel(request.user, back(request)),
    }
    if request.headers.get(FETCHED):
        return render(request, "ai_assistant/rename_form.html", context)
    status = 400 if problem else 200
    return own_page(request, "ai_assistant/rename_page.html", context, status=status)


def _own_item(request: HttpRequest, conversation_id: UUID) -> dict[str, Any]:
    try:
        return listed_one(request.user, conversation_id)
    except Conversation.DoesNotExist as error:
        raise Http404 from error


@unit
def _flag(user_id: Any, conversation_id: UUID, field: str, on: bool) -> None:  # noqa: FBT001
    own = Conversation.objects.own(user_id).filter(pk=conversation_id)
    if not own.update(**{field: Now() if on else None}):
        raise Refused("not_found", "")


def _address(wish: Wish, deleted: str = "") -> str:
    """Return the address of the list, as it was seen."""
    named = {"q": wish.said, "archived": "1" if wish.archived else ""}
    said = {
        name: value for name, value in {**named, "deleted": deleted}.items() if value
    }
    address = reverse("ai_assistant:conversations")
    return f"{address}?{urlencode(said)}" if said else address
