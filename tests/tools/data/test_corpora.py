"""Bad input of others, as values and as names, in every tool that reads."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from tests.corpora import corpus
from tests.figures import FIGURE
from tests.thorough import part
from tests.tools.data.reading import READ_TOOLS, try_call

pytestmark = [pytest.mark.broad, pytest.mark.servers]

BOOK = {"model": "library.book"}
# A table that any of the calls below may read.
TABLES = re.compile(
    r"library_(book|author|publisher|tag|shelf|copy|book_tags)|"
    r"auth_(user|group|permission|user_groups|user_user_permissions|group_permissions)|"
    r"django_(content_type|admin_log|session)|"
    r"ai_assistant_configurationversion"  # every few seconds
)
KEYS = (
    *("title", "pages", "author__name__startswith", "published", "title__icontains"),
    *("price__lt", "tags__name", "rating", "added_at__gt", "opens", "loan", "is_sold"),
    *("number", "data", "decade", "author", "status", "published__year", "id"),
    *("added_at__date", "cover", "author__email__endswith", "shelf", "opens__gt"),
)
NAMED = re.compile(r'(?:FROM|JOIN|INTO|UPDATE|TABLE) "([^"]+)"', re.IGNORECASE)

Call = tuple[str, dict[str, Any]]


def calls(text: str, number: int, book_id: int) -> Iterator[Call]:
    """
    Yield calls that have `text` where a model may say something.

    Each place meets dozens of strings of each corpus, each string some places.
    """
    yield "describe_model", {"model": text}
    yield "search_objects", {**BOOK, "search": text}
    for key in KEYS[number % 6 :: 6]:
        yield "search_objects", {**BOOK, "filters": {key: text}}
    yield from [*places(text, book_id)][number % 3 :: 3]


def places(text: str, book_id: int) -> Iterator[Call]:
    for key in (text, f"title__{text}", f"author__{text}", f"{text}__name"):
        yield "search_objects", {**BOOK, "filters": {key: "x"}}
    yield "search_objects", {**BOOK, "filters": {"title__in": [text, text]}}
    yield "search_objects", {**BOOK, "ordering": [text]}
    yield "search_objects", {**BOOK, "ordering": [f"-author__{text}"]}
    yield "search_objects", {**BOOK, "fields": [text]}
    yield "search_objects", {"model": text}
    yield "get_object", {**BOOK, "id": text}
    yield "get_object", {**BOOK, "id": book_id, "fields": [text]}
    yield "object_history", {**BOOK, "id": text}
    yield "object_history", {"model": text, "id": book_id}
    yield "aggregate_objects", {**BOOK, "group_by": [text]}
    yield "aggregate_objects", {**BOOK, "group_by": [f"author__{text}"]}
    yield "aggregate_objects", {**BOOK, "measures": [text]}
    yield "aggregate_objects", {**BOOK, "measures": [f"sum:{text}"]}
    yield "aggregate_objects", {**BOOK, "filters": {"title": text}, "search": text}
    yield "find_related", {**BOOK, "field": text}
    for field in ("author", "shelf", "publisher"):
        yield "find_related", {**BOOK, "field": field, "search": text}


@contextmanager
def statements() -> Iterator[list[str]]:
    """Note each statement, without its values."""
    noted: list[str] = []

    def note(execute: Any, sql: str, *given: Any) -> Any:
        noted.append(sql)
        return execute(sql, *given)

    with connection.execute_wrapper(note):
        yield noted


def is_expected(sql: str, text: str) -> bool:
    """Tell whether the statement reads what it may, and has nothing of `text` in it."""
    tables = NAMED.findall(sql)
    is_word = re.fullmatch(r"[\w .,*=()\"%\\'-]{0,12}", text) is not None
    says = not is_word and text in sql
    return sql.startswith("SELECT ") and all(map(TABLES.fullmatch, tables)) and not says


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["BLNS", "wfuzz", "sqlmap"])
def test_is_answered_or_refused(boss, shop, name, record_property):
    texts = part(corpus(name), every=15)
    sent = answered = 0
    tools = {"list_models"}  # takes nothing
    strange: list[tuple[str, str]] = []
    try_call("list_models", boss)  # the rows of configuration are kept from then on
    for number, text in enumerate(texts):
        for tool, arguments in calls(text, number, shop.sea.pk):
            with statements() as noted:
                result = try_call(tool, boss, **arguments)
            sent += 1
            answered += result.ok
            tools.add(tool)
            strange += [(text, sql) for sql in noted if not is_expected(sql, text)]
    record_property(
        FIGURE,
        f"corpus {name}: {len(texts)} strings, {sent} calls, {answered} answered, the "
        f"rest refused; 0 errors, {len(strange)} unexpected statements",
    )
    assert tools == set(READ_TOOLS)
    assert strange == []
