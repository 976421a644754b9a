"""A page of rows, and the addresses of those before and after it."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.core import signing
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from pydantic import Field
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from ai_assistant.exceptions import Refused
from ai_assistant.web.rest.reading import Query
from ai_assistant.web.rest.shapes import Page

PAGE_ROWS, MOST_ROWS = 50, 200
CURSOR_CHARS = 500

P = TypeVar("P", bound=Page[Any])


class PageQuery(Query):
    """Which page of a list."""

    cursor: str | None = Field(
        None,
        min_length=1,
        max_length=CURSOR_CHARS,
        description="From `next` or `previous` of another page.",
    )
    page_size: int = Field(
        PAGE_ROWS, ge=1, le=MOST_ROWS, description="How many rows a page has."
    )


class SignedCursors(CursorPagination):
    """Its cursors are signed: what this server has not made never reaches a query."""

    template = None

    def __init__(self, ordering: tuple[str, ...], page_size: int) -> None:
        self.ordering = ordering
        self.page_size = self.size = page_size
        self.salt = f"ai_assistant.api.{'.'.join(ordering)}"

    def get_page_size(self, request: Request) -> int:
        """Return the size that was asked for."""
        return self.size

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return where the page begins. Raise Refused bad_cursor."""
        said = request.query_params.get("cursor")
        if said is None:
            return None
        try:
            return Cursor(*signing.loads(said, salt=self.salt))
        except signing.BadSignature as error:
            sentence = _("This cursor does not belong to this list. Start without one.")
            raise Refused("bad_cursor", sentence) from error

    def encode_cursor(self, cursor: Cursor) -> str:
        """Return the address of the page that begins at `cursor`."""
        said = signing.dumps(tuple(cursor), salt=self.salt)
        return replace_query_param(str(self.base_url), "cursor", said)


def page_of(
    request: Request,
    rows: QuerySet[Any],
    order: str,
    page: type[P],
    shapes: Callable[[list[Any]], Iterable[Any]],
) -> P:
    """
    Return a page of `rows`, ordered by the field `order`, or by "-field".

    `page` is the model of the whole; `shapes` makes models of rows, in their order.
    Rows of the same moment go by their key.
    """
    size = int(request.query_params.get("page_size", PAGE_ROWS))
    key = "-pk" if order.startswith("-") else "pk"
    cursors = SignedCursors((order, key), size)
    found = cursors.paginate_queryset(rows, request)
    return page(
        next=cursors.get_next_link(),
        previous=cursors.get_previous_link(),
        results=list(shapes(list(found or []))),
    )
