"""
Search in the titles and messages of the own conversations.

All words must occur, in a title or in one message. The text of a message lies in the
JSON of its parts: the database takes it out, message by message, so that a search
reads all of a person's messages if there are few hits. 10,000 messages: 0.05 s on
SQLite, 0.06 s on PostgreSQL (docs/panel.md, "Conversations").
"""

import re
import unicodedata
from typing import Any

from django.db.models import Func, OuterRef, Q, QuerySet, Subquery, TextField

from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.types import UserKey

SEARCH_CHARS = 200
MOST_WORDS = 8


class SaidText(Func):
    """All text of the parts of a message, without reasoning and calls."""

    arity = 1
    output_field = TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:  # noqa: ANN401 - Django's
        """Return the SQL for SQLite."""
        template = (
            "(SELECT group_concat(json_extract(part.value, '$.text'), '') "
            "FROM json_each(%(expressions)s) AS part "
            "WHERE json_extract(part.value, '$.type') = 'text')"
        )
        return self.as_sql(compiler, connection, template=template, **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:  # noqa: ANN401 - Django's
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
