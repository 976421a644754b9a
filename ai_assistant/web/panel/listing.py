"""The rows of the list of conversations: search, state, and where a search hit."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from ai_assistant.engine import queries
from ai_assistant.engine.queries import SEARCH_CHARS, search_words
from ai_assistant.render.html.conversation_list import (
    excerpt,
    here_today,
    period,
    without_signs,
)
from ai_assistant.types import UserKey

if TYPE_CHECKING:
    from ai_assistant.engine.queries import Conversation

LISTED = 25  # conversations at a time
MOST_LISTED = 10_000  # so far back anybody gets by pressing "Show more"
TITLE_CHARS = 120  # of a title in which words are marked

Item = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """The filter and the position of a list of conversations."""

    said: str = ""  # the search, as it was typed
    archived: bool = False
    start: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        return search_words(self.said)


@dataclass(kw_only=True, slots=True)
class Listed:
    """A part of the list. `more` is where the next one begins, 0 if there is none."""

    wish: Wish
    items: list[Item] = field(default_factory=list)
    more: int = 0


def read_wish(request: HttpRequest) -> Wish:
    """Return what a request says of the list; nonsense counts as not said."""
    said = request.POST if request.method == "POST" else request.GET
    start = said.get("from", "")
    is_number = start.isascii() and start.isdigit() and len(start) < 6
    return Wish(
        said=said.get("q", "")[:SEARCH_CHARS].strip(),
        archived=said.get("archived") == "1",
        start=min(int(start), MOST_LISTED) if is_number else 0,
    )


def list_conversations(user: Any, wish: Wish | None = None) -> Listed:
    """Return a part of the user's conversations, pinned ones first, then the newest."""
    wish = wish or Wish()
    rows = queries.conversation_list(user.pk, wish.words, archived=wish.archived)
    # One more on each side: whether there is more, and the heading that stands there.
    before = min(wish.start, 1)
    part = list(rows[wish.start - before : wish.start + LISTED + 1])
    shown = part[before : before + LISTED]
    items = _items(user.pk, shown, wish)
    if not wish.words:
        _set_headings(items, shown, part[:before])
    is_more = len(part) > before + LISTED
    return Listed(wish=wish, items=items, more=wish.start + LISTED if is_more else 0)


def list_context(user: Any, wish: Wish | None = None, deleted: str = "") -> Item:
    """
    Return the context of the list's templates.

    `deleted` is the id of the conversation whose deletion can be undone.
    """
    wish = wish or Wish()
    return {
        "listed": list_conversations(user, wish),
        "wish": wish,
        "deleted": deleted,
        "has_changed": bool(deleted) and queries.has_changes(deleted),
    }


def list_item(user: Any, conversation_id: UUID) -> Item:
    """Return one of the user's conversations for the list. Raise Refused not_found."""
    own = queries.conversations(user.pk).select_related("share")
    row = queries.get_or_404(own, conversation_id)
    return _items(user.pk, [row], Wish())[0]


def _items(user_id: UserKey, rows: list["Conversation"], wish: Wish) -> list[Item]:
    full = reverse("ai_assistant:full")
    busy, unread = queries.activity([row.pk for row in rows])
    hits = _hits(user_id, rows, wish.words)
    items: list[Item] = [
        {
            "id": str(row.pk),
            "title": row.title,
            "time": row.updated_at,
            "url": f"{full}?conversation={row.pk}",
            "busy": busy.get(row.pk, ""),
            "unread": row.pk in unread,
            "pinned": row.pinned_at is not None,
            "archived": row.archived_at is not None,
            "link": row.open_link,
        }
        for row in rows
    ]
    for item, row in zip(items, rows, strict=True):
        if wish.words:
            item["pieces"] = excerpt(row.title, wish.words, length=TITLE_CHARS)
        item.update(hits.get(row.pk, {}))
        item["url"] += item.get("place", "")
    return items


def _hits(
    user_id: UserKey, rows: list["Conversation"], words: tuple[str, ...]
) -> dict[UUID, Item]:
    """Return the message that was found in each conversation, and where it stands."""
    wanted = [hit for row in rows if (hit := getattr(row, "hit", None))]
    found: dict[UUID, Item] = {}
    for message in queries.messages(user_id).filter(pk__in=wanted):
        by_user = message.role == message.Role.USER
        anchor = f"u-{message.pk}" if by_user else f"r-{message.run_id}"
        found[message.conversation_id] = {
            "hit": excerpt(without_signs(message.typed), words),
            "place": f"&at={message.run_id}#{anchor}",
        }
    return found


def _set_headings(
    items: list[Item], rows: list["Conversation"], before: Iterable["Conversation"]
) -> None:
    today = here_today()
    last = next((_heading(row, today) for row in before), "")
    for item, row in zip(items, rows, strict=True):
        heading = _heading(row, today)
        item["heading"] = heading if heading != last else ""
        last = heading


def _heading(row: "Conversation", today: date) -> str:
    return _("Pinned") if row.pinned_at else period(row.updated_at, today)
