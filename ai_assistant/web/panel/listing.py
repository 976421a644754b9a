"""The rows of the list of conversations: search, state, and where a search hit."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

from django.db.models import F, Func, OuterRef, Q, QuerySet, Subquery, TextField
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from ai_assistant.models.change import ChangeSet
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.run import UNFINISHED, WAITING_FOR_PERSON, Channel, Run
from ai_assistant.render.html.conversation_list import (
    excerpt,
    here_today,
    period,
    without_signs,
)
from ai_assistant.types import UserKey

SEARCH_CHARS = 200
MOST_WORDS = 8


class SaidText(Func):
    """All text of the parts of a message, without reasoning and calls."""

    arity = 1
    output_field = TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        """Return the SQL for SQLite."""
        template = (
            "(SELECT group_concat(json_extract(part.value, '$.text'), '') "
            "FROM json_each(%(expressions)s) AS part "
            "WHERE json_extract(part.value, '$.type') = 'text')"
        )
        return self.as_sql(compiler, connection, template=template, **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        """Return the SQL for PostgreSQL."""
        template = (
            "(SELECT string_agg(part ->> 'text', '') "
            "FROM jsonb_array_elements(%(expressions)s) AS part "
            "WHERE part ->> 'type' = 'text')"
        )
        return self.as_sql(compiler, connection, template=template, **extra)


def words_of(said: str) -> tuple[str, ...]:
    """Return the words to look for, each once; none of what is no text."""
    kept = "".join(one if _is_text(one) else " " for one in said[:SEARCH_CHARS])
    return tuple(dict.fromkeys(kept.split()))[:MOST_WORDS]


def found(user_id: UserKey, words: tuple[str, ...]) -> QuerySet[Conversation, Any]:
    """
    Return the conversations of a user with all the words, the last used first.

    `hit` is the key of the newest message that has them, None if only the title has.
    """
    own = Conversation.objects.own(user_id)
    said = Message.objects.filter(conversation=OuterRef("pk"))
    said = said.annotate(said=SaidText("parts")).filter(_all("said", words))
    newest = said.order_by("-position").values("pk")[:1]
    titled = _all("title", words)
    hits = own.annotate(hit=Subquery(newest)).filter(Q(hit__isnull=False) | titled)
    return hits.order_by("-updated_at")


def _all(field: str, words: tuple[str, ...]) -> Q:
    condition = Q()
    for word in words:
        condition &= _contains(field, word)
    return condition


def _contains(field: str, word: str) -> Q:
    if word.isascii():
        return Q(**{f"{field}__icontains": word})
    # SQLite's LIKE knows the capitals of English alone, as does PostgreSQL where the
    # locale is C: both are told of each letter's other form.
    return Q(**{f"{field}__regex": "".join(map(_either, word))})


def _either(character: str) -> str:
    forms = {character, character.lower(), character.upper()}
    single = sorted(form for form in forms if len(form) == 1)
    return f"[{''.join(single)}]" if len(single) > 1 else re.escape(character)


def _is_text(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cs")


LISTED = 25  # conversations at a time
MOST_LISTED = 10_000  # so far back anybody gets by pressing "Show more"
TITLE_CHARS = 120  # of a title in which words are marked

Item = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """Which conversations are to be listed, from which on."""

    said: str = ""  # the search, as it was typed
    archived: bool = False
    start: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        return words_of(self.said)


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


def listed(user: Any, wish: Wish | None = None) -> Listed:
    """Return a part of the own conversations, pinned ones first, then the newest."""
    wish = wish or Wish()
    rows = _rows(user.pk, wish)
    # One more on each side: whether there is more, and the heading that stands there.
    before = min(wish.start, 1)
    part = list(rows[wish.start - before : wish.start + LISTED + 1])
    shown = part[before : before + LISTED]
    items = _items(shown, wish)
    if not wish.words:
        _set_headings(items, shown, part[:before])
    is_more = len(part) > before + LISTED
    return Listed(wish=wish, items=items, more=wish.start + LISTED if is_more else 0)


def list_context(user: Any, wish: Wish | None = None, deleted: str = "") -> Item:
    """
    Return what the templates of the list are given.

    `deleted` is the id of the conversation whose deletion may be taken back.
    """
    wish = wish or Wish()
    return {
        "listed": listed(user, wish),
        "wish": wish,
        "deleted": deleted,
        "has_changed": bool(deleted) and _has_changed(deleted),
    }


def _has_changed(conversation_id: str) -> bool:
    return ChangeSet.objects.filter(run__conversation_id=conversation_id).exists()


def listed_one(user: Any, conversation_id: UUID) -> Item:
    """Return one own conversation as it stands in the list. Raise DoesNotExist."""
    row = Conversation.objects.own(user.pk).get(pk=conversation_id)
    return _items([row], Wish())[0]


def _rows(user_id: UserKey, wish: Wish) -> QuerySet[Conversation, Any]:
    if wish.words:
        return found(user_id, wish.words)
    own = Conversation.objects.own(user_id)
    own = own.filter(archived_at__isnull=not wish.archived)
    return own.order_by(F("pinned_at").desc(nulls_last=True), "-updated_at", "-pk")


def _items(rows: list[Conversation], wish: Wish) -> list[Item]:
    full = reverse("ai_assistant:full")
    busy, unread = _at_work([row.pk for row in rows])
    hits = _hits(rows, wish.words)
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
        }
        for row in rows
    ]
    for item, row in zip(items, rows, strict=True):
        if wish.words:
            item["pieces"] = excerpt(row.title, wish.words, length=TITLE_CHARS)
        item.update(hits.get(row.pk, {}))
        item["url"] += item.get("place", "")
    return items


def _hits(rows: list[Conversation], words: tuple[str, ...]) -> dict[UUID, Item]:
    """Return the message that was found in each conversation, and where it stands."""
    wanted = [hit for row in rows if (hit := getattr(row, "hit", None))]
    found: dict[UUID, Item] = {}
    for message in Message.objects.filter(pk__in=wanted):
        by_user = message.role == Message.Role.USER
        anchor = f"u-{message.pk}" if by_user else f"r-{message.run_id}"
        found[message.conversation_id] = {
            "hit": excerpt(without_signs(message.text), words),
            "place": f"&at={message.run_id}#{anchor}",
        }
    return found


def _at_work(conversations: list[UUID]) -> tuple[dict[UUID, str], set[UUID]]:
    """Return what the runs under way do, and where answers were not seen yet."""
    news = Q(channel=Channel.PANEL, finished_at__gt=F("conversation__read_at"))
    runs = Run.objects.filter(conversation__in=conversations)
    runs = runs.filter(Q(state__in=UNFINISHED) | news)
    rows = list(runs.values_list("conversation_id", "state").distinct())
    busy = {
        conversation: "wait" if state in WAITING_FOR_PERSON else "run"
        for conversation, state in rows
        if state in UNFINISHED
    }
    return busy, {conversation for conversation, state in rows} - busy.keys()


def _set_headings(
    items: list[Item], rows: list[Conversation], before: Iterable[Conversation]
) -> None:
    today = here_today()
    last = next((_heading(row, today) for row in before), "")
    for item, row in zip(items, rows, strict=True):
        heading = _heading(row, today)
        item["heading"] = heading if heading != last else ""
        last = heading


def _heading(row: Conversation, today: date) -> str:
    return _("Pinned") if row.pinned_at else period(row.updated_at, today)
