"""Search for words in what the database holds of messages and titles."""

import re
from collections.abc import Iterable
from typing import Any

from django.db.models import Func, Q, TextField


class MessageText(Func):
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


def has_all(field: str, words: Iterable[str]) -> Q:
    """Return the condition of a field that contains all words, in any case."""
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
