"""The rows that a list of the admin shows: more may limit them than `get_queryset`."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import EmptyResultSet
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.dateparse import parse_datetime

from ai_assistant.safety.admin_pages import is_overridden, is_own_page, shown_page
from ai_assistant.safety.foreign import value_or

CHANGELIST = ("get_changelist", "get_changelist_instance")
OF_LIST = (*CHANGELIST, "changelist_view")
LONGEST_PAGE = timedelta(minutes=1)  # from its query to ours

Sql = tuple[str, tuple[Any, ...]]  # with its parameters


def rows_of_list(model_admin: Any, request: HttpRequest) -> QuerySet[Any] | None:  # noqa: ANN401
    """
    Return the rows of the list, which is the page of `request`.

    Filters, which the person may choose, are no limit. None if the list is code of
    the site and does not open, or does not tell what its rows are.
    """
    if is_own_page(model_admin, request, "changelist"):
        response = shown_page(model_admin, request)
        return rows_on_page(model_admin, response) if response else None
    return rows_of_changelist(model_admin, request)


def rows_of_changelist(model_admin: Any, request: HttpRequest) -> QuerySet[Any] | None:  # noqa: ANN401
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


def rows_on_page(model_admin: Any, response: Any) -> QuerySet[Any] | None:  # noqa: ANN401
    """Return the rows of a page of the site's own: of its list, or its only object."""
    context, request = response.context_data or {}, response._request  # noqa: SLF001
    shown, only = context.get("cl"), context.get("original")
    if isinstance(shown, ChangeList):
        return _rows(shown, request)
    if isinstance(only, model_admin.model):
        return model_admin.get_queryset(request).filter(pk=only.pk)  # type: ignore[no-any-return]
    return None


def _rows(changelist: Any, request: HttpRequest) -> QuerySet[Any]:  # noqa: ANN401
    """Return the rows that a ChangeList shows by some choice of its filters."""
    root, shown = changelist.root_queryset, changelist.result_list
    if not isinstance(shown, QuerySet) or not _is_usual(changelist, request):
        return root.filter(pk__in=[one.pk for one in shown])  # type: ignore[no-any-return]
    changelist.list_filter, changelist.query = (), ""
    changelist.params, changelist.filter_params = {}, {}
    rows = changelist.get_queryset(request)
    if rows.query.is_sliced:
        return root.filter(pk__in=[one.pk for one in rows])  # type: ignore[no-any-return]
    return rows  # type: ignore[no-any-return]


def _is_usual(changelist: Any, request: HttpRequest) -> bool:  # noqa: ANN401
    """Tell whether the rows on the page are what `get_queryset` of the ChangeList says."""
    said = _sql(changelist.get_queryset(request))
    shown = [_sql(rows) for rows in (changelist.result_list, changelist.queryset)]
    if all(one == said for one in shown):
        return True
    again = _sql(changelist.get_queryset(request))
    return all(_differs_by_clock(one, said, again) for one in shown)


def _differs_by_clock(shown: Sql, said: Sql, again: Sql) -> bool:
    """Tell whether moments that go with the clock are all in which the queries differ."""
    if not shown[0] == said[0] == again[0]:
        return False
    return all(
        value == then or (then != later and _is_just_before(value, then))
        for value, then, later in zip(shown[1], said[1], again[1], strict=True)
    )


def _is_just_before(value: object, then: object) -> bool:
    before, after = _moment(value), _moment(then)
    if before is None or after is None:
        return False
    return timedelta(0) <= after - before <= LONGEST_PAGE


def _moment(value: object) -> datetime | None:
    """Return the moment that a parameter of a query is; SQLite has it as text."""
    if isinstance(value, str):
        return value_or(None, lambda: parse_datetime(value))
    return value if isinstance(value, datetime) else None


def _sql(rows: QuerySet[Any]) -> Sql:
    query = rows.query.clone()
    query.clear_limits()
    try:
        return query.sql_with_params()
    except EmptyResultSet:
        return "", ()
