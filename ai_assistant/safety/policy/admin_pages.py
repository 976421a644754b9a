"""Pages and lists of the admin as the person would see them."""

import logging
from copy import copy
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import urlsplit

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.contrib.messages.storage.cookie import CookieStorage
from django.core.exceptions import EmptyResultSet, PermissionDenied
from django.db import router, transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseRedirectBase
from django.utils.dateparse import parse_datetime

from ai_assistant.safety.site_code import value_or

logger = logging.getLogger("ai_assistant")

Page = Literal["add", "change", "delete", "history", "changelist"]

VIEWS: dict[str, tuple[str, ...]] = {
    "add": ("add_view", "changeform_view", "_changeform_view"),
    "change": ("change_view", "changeform_view", "_changeform_view"),
    "delete": ("delete_view", "_delete_view"),
    "history": ("history_view",),
    "changelist": ("changelist_view",),
}
OF_DJANGO = "django.contrib.admin."


def is_overridden(model_admin: Any, *names: str) -> bool:
    """Return whether the site overrides one of these methods of the ModelAdmin."""
    cls = type(model_admin)
    return any(
        name in vars(model_admin)
        or not getattr(getattr(cls, name), "__module__", "").startswith(OF_DJANGO)
        for name in names
    )


def is_own_page(model_admin: Any, request: HttpRequest, page: Page) -> bool:
    """Return whether the page of the request, which has a match, is the site's code."""
    match: Any = request.resolver_match
    view_admin = getattr(match.func, "model_admin", None)
    return view_admin is not model_admin or is_overridden(model_admin, *VIEWS[page])


def shown_page(model_admin: Any, request: HttpRequest, *, follows: bool = False) -> Any:
    """
    Return the response of the page of `request` to a GET.

    None if it does not open. Its template is not drawn, and what it writes is rolled
    back: no person has decided to open it. `follows` that the page sends the browser
    on to itself with another query, which `request` then has.
    """
    response = _response(model_admin, request)
    query = _own_query(request, response) if follows else ""
    if query:
        request.GET = QueryDict(query)
        request.META = {**request.META, "QUERY_STRING": query}
        response = _response(model_admin, request)
    opens = getattr(response, "status_code", None) == HTTPStatus.OK
    return response if opens and hasattr(response, "context_data") else None


def page_opens(model_admin: Any, request: HttpRequest) -> bool:
    """
    Return whether the page of `request` opens: it may draw itself, and have no form.

    As the history of django-simple-history does. What it writes is rolled back.
    """
    response = _response(model_admin, request)
    return getattr(response, "status_code", None) == HTTPStatus.OK


def _own_query(request: HttpRequest, response: Any) -> str:
    """Return the query with which a page sends the browser on to itself, if it does."""
    if not isinstance(response, HttpResponseRedirectBase):
        return ""
    to = urlsplit(response.url)
    is_here = not (to.scheme or to.netloc) and to.path in ("", request.path)
    return to.query if is_here else ""


def _response(model_admin: Any, request: HttpRequest) -> Any:
    """Return what a page answers to a GET; None if it does not."""
    page_request = copy(request)
    page_request.method = "GET"
    page_request.META = {**request.META, "REQUEST_METHOD": "GET"}
    if not hasattr(page_request, "_messages"):
        page_request._messages = CookieStorage(page_request)  # type: ignore[attr-defined]
    using = router.db_for_write(model_admin.model)
    try:
        with transaction.atomic(using=using):
            response: Any = page_response(page_request)
            transaction.set_rollback(True, using=using)
    except (PermissionDenied, Http404):
        return None
    except Exception:  # code of the site, which may need more than this request has
        logger.exception("the page %r could not be asked", request.path)
        return None
    return response


def page_response(request: HttpRequest, view: Any = None) -> HttpResponse:
    """
    Return what the page of `request` answers, by its view or another one.

    Raise what its code raises.
    """
    match: Any = request.resolver_match  # set where the request was made
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined] # noqa: SLF001
    return (view or match.func)(request, *match.args, **match.kwargs)  # type: ignore[no-any-return]


CHANGELIST = ("get_changelist", "get_changelist_instance")
OF_LIST = (*CHANGELIST, "changelist_view")
LONGEST_PAGE = timedelta(minutes=1)  # from its query to ours

Sql = tuple[str, tuple[Any, ...]]  # with its parameters


def rows_of_list(model_admin: Any, request: HttpRequest) -> QuerySet[Any] | None:
    """
    Return the rows of the list, which is the page of `request`.

    Filters, which the person may choose, are no limit. None if the list is code of
    the site and does not open, or does not expose its rows.
    """
    if is_own_page(model_admin, request, "changelist"):
        response = shown_page(model_admin, request)
        return rows_on_page(model_admin, response) if response else None
    return rows_of_changelist(model_admin, request)


def rows_of_changelist(model_admin: Any, request: HttpRequest) -> QuerySet[Any] | None:
    """Return the rows of a list whose page is Django's, or that has none."""
    if is_overridden(model_admin, *CHANGELIST):
        try:
            return _rows(model_admin.get_changelist_instance(request), request)
        except IncorrectLookupParameters:
            return None
    rows = model_admin.get_queryset(request)
    if is_overridden(model_admin, "get_search_results"):
        rows, has_doubles = model_admin.get_search_results(request, rows, "")
        return rows.distinct() if has_doubles else rows  # type: ignore[no-any-return]
    return rows  # type: ignore[no-any-return]


def rows_on_page(model_admin: Any, response: Any) -> QuerySet[Any] | None:
    """Return the rows of a page of the site's own: of its list, or its only object."""
    context, request = response.context_data or {}, response._request  # noqa: SLF001
    changelist, original = context.get("cl"), context.get("original")
    if isinstance(changelist, ChangeList):
        return _rows(changelist, request)
    if isinstance(original, model_admin.model):
        return model_admin.get_queryset(request).filter(pk=original.pk)  # type: ignore[no-any-return]
    return None


def _rows(changelist: Any, request: HttpRequest) -> QuerySet[Any]:
    """Return the rows that a ChangeList shows by some choice of its filters."""
    root, shown_rows = changelist.root_queryset, changelist.result_list
    if not isinstance(shown_rows, QuerySet) or not _is_usual(changelist, request):
        return root.filter(pk__in=[obj.pk for obj in shown_rows])  # type: ignore[no-any-return]
    changelist.list_filter, changelist.query = (), ""
    changelist.params, changelist.filter_params = {}, {}
    rows = changelist.get_queryset(request)
    if rows.query.is_sliced:
        return root.filter(pk__in=[row.pk for row in rows])  # type: ignore[no-any-return]
    return rows  # type: ignore[no-any-return]


def _is_usual(changelist: Any, request: HttpRequest) -> bool:
    """Return whether the page shows the rows of the ChangeList's `get_queryset`."""
    expected = sql_of(changelist.get_queryset(request))
    queries = [sql_of(rows) for rows in (changelist.result_list, changelist.queryset)]
    if all(query == expected for query in queries):
        return True
    repeated = sql_of(changelist.get_queryset(request))
    return all(_differs_by_clock(query, expected, repeated) for query in queries)


def _differs_by_clock(query: Sql, expected: Sql, rerun: Sql) -> bool:
    """Return whether the queries differ only in moments that come from the clock."""
    if not query[0] == expected[0] == rerun[0]:
        return False
    return all(
        value == earlier or (earlier != later and _is_just_before(value, earlier))
        for value, earlier, later in zip(query[1], expected[1], rerun[1], strict=True)
    )


def _is_just_before(value: object, moment: object) -> bool:
    before, after = _moment(value), _moment(moment)
    if before is None or after is None:
        return False
    return timedelta(0) <= after - before <= LONGEST_PAGE


def _moment(value: object) -> datetime | None:
    """Return the moment that a parameter of a query is; SQLite has it as text."""
    if isinstance(value, str):
        return value_or(None, lambda: parse_datetime(value))
    return value if isinstance(value, datetime) else None


def sql_of(rows: QuerySet[Any]) -> Sql:
    """Return the query of `rows` without its limits; empty if it finds nothing."""
    query = rows.query.clone()
    query.clear_limits()
    try:
        return query.sql_with_params()
    except EmptyResultSet:
        return "", ()
