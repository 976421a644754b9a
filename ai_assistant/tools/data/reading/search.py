"""Find rows of a model: the list of the admin as a tool."""

from collections.abc import Iterable
from copy import copy
from math import ceil
from typing import Annotated, Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import SEARCH_VAR
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db.models import Model, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from ai_assistant.changes.values import model_of_label
from ai_assistant.exceptions import ModelRetry
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.tools.data.access import lookups
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    access_of,
    find_access,
)
from ai_assistant.tools.data.access.values import object_text, value_of, with_related
from ai_assistant.tools.data.access.visibility import (
    admin_fields,
    changelist_rows,
    check_opening,
    is_open_path,
    limits_of,
    list_fields,
    list_names,
    model_fields,
    openable_keys,
    real_label,
)
from ai_assistant.tools.data.arguments import Filters, Names, PageNumber, data_tool
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.tools.data.reading.version import version_from
from ai_assistant.tools.summary import found, model_words
from ai_assistant.types import JSON, RunContext

MOST_ROWS = 50  # a page
SEARCH_CHARS = 200
TEXT_CHARS = 200  # of one field
MAX_ORDERING = 4
PageSize = Annotated[int, Field(ge=1, le=MOST_ROWS)]
Ordering = Annotated[Names, Field(description="fields, with - for descending")]
Fields = Annotated[Names, Field(description="to return; those of the list if empty")]


def _summary(arguments: dict[str, Any], data: Any) -> str:
    """Return "Searched schedules: 26 found"."""
    said = {"models": model_words(data["model"]), "found": found(data["total"])}
    words = " ".join(str(arguments.get("search", "")).split())
    if not words:
        return gettext("Searched %(models)s: %(found)s") % said
    return gettext("Searched %(models)s for “%(words)s”: %(found)s") % {
        **said,
        "words": words,
    }


@data_tool(
    effect="read",
    label=_("Search"),
    label_plural=_("Searches"),
    icon="search",
    summary=_summary,
)
def search_objects(  # noqa: PLR0913, PLR0917 - each narrows a list
    context: RunContext,
    model: str,
    search: str = "",
    filters: Filters = {},
    ordering: Ordering = [],
    fields: Fields = [],
    page: PageNumber = 1,
    page_size: PageSize = 20,
) -> dict[str, JSON]:
    """List objects of a model, and how many there are; `search` as the admin does."""
    access = find_access(context, model)
    columns = _chosen_fields(access, fields)
    with wrong_values():
        matching = search_rows(access, changelist_rows(access), search)
        matching = lookups.apply_lookups(access, matching, filters)
        total = matching.count()
        pages = max(ceil(total / page_size), 1)
        if page > pages:
            raise ModelRetry(f"There is no page {page}: the last is {pages}.")
        first = (page - 1) * page_size
        ordered = with_related(_in_order(access, matching, ordering), columns)
        rows = list(ordered[first : first + page_size])
    return {
        "model": access.label,
        "total": total,
        "page": page,
        "pages": pages,
        "rows": _rows_as_json(access, rows, columns),
    }


def list_address(user: Any, arguments: dict[str, Any]) -> str:
    """
    Return the address of the admin's list with what `search_objects` was asked for.

    It is empty if the user may not open it, or if it takes no such filter.
    """
    model = model_of_label(str(arguments.get("model", "")))
    access = access_of(user, model) if model else None
    if access is None:
        return ""
    query = QueryDict(mutable=True)
    query.update(
        {
            name: _in_address(value)
            for name, value in (arguments.get("filters") or {}).items()
        }
    )
    if words := str(arguments.get("search") or "").strip():
        query[SEARCH_VAR] = words
    request = copy(access.request)
    request.GET = query  # type: ignore[assignment]
    try:
        access.model_admin.get_changelist_instance(request)
    except (IncorrectLookupParameters, SuspiciousOperation, PermissionDenied):
        return ""
    return f"{request.path}?{query.urlencode()}" if query else request.path


def _in_address(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_in_address, value))
    return str(int(value)) if isinstance(value, bool) else str(value)


def _chosen_fields(access: AdminAccess, names: list[str]) -> list[Any]:
    """Return the fields of these names; the columns of the list without names."""
    if not names:
        return list_fields(access)
    visible = {field.name: field for field in model_fields(access)}
    for name in names:
        if name not in visible and name != "id":
            raise lookups.unknown_path(access, name)
    return [visible[name] for name in dict.fromkeys(names) if name in visible]


def search_rows(access: AdminAccess, rows: QuerySet[Any], text: str) -> QuerySet[Any]:
    """
    Return `rows` searched as the admin does, without sensitive fields.

    Raise ModelRetry if there is no search.
    """
    if not text.strip():
        return rows
    if len(text) > SEARCH_CHARS or join_surrogates(text) != text:
        raise ModelRetry(
            f"The search is too long (at most {SEARCH_CHARS} characters), or contains "
            "NUL or half a character."
        )
    names = access.model_admin.get_search_fields(access.request)
    open_names = [name for name in names if is_open_path(access, str(name))]
    if not open_names:
        raise ModelRetry(f"{access.label!r} has no search. Use filters.")
    admin = copy(access.model_admin)  # that of the site stays as it is
    admin.get_search_fields = lambda _request: open_names
    matching, has_doubles = admin.get_search_results(access.request, rows, text)
    return matching.distinct() if has_doubles else matching  # type: ignore[no-any-return]


def _in_order(
    access: AdminAccess, rows: QuerySet[Any], ordering: list[str]
) -> QuerySet[Any]:
    """Return `rows` in this order, or in that of the list; always a total order."""
    if len(ordering) > MAX_ORDERING:
        raise ModelRetry(f"Order by {MAX_ORDERING} fields at most.")
    paths = [lookups.find_path(access, text.removeprefix("-")) for text in ordering]
    names = [_order_name(*pair) for pair in zip(paths, ordering, strict=True)]
    if paths:
        check_paths(rows, paths)
    else:
        names = [*(rows.query.order_by or access.options.ordering)]
    return rows.order_by(*names, "pk")


def _order_name(path: lookups.Path, text: str) -> str:
    if path.lookups or path.is_many:
        raise lookups.unknown_path(path.access, text)
    if path.hops:
        raise lookups.hidden_rows(text)
    name = path.name
    # The order of a related model may be by a field that the user does not see.
    if path.field.is_relation and path.field.attname:
        name = LOOKUP_SEP.join([*name.split(LOOKUP_SEP)[:-1], path.field.attname])
    return f"-{name}" if text.startswith("-") else name


def check_paths(rows: QuerySet[Any], paths: Iterable[lookups.Path]) -> None:
    """
    Make sure that the user sees the values at `paths` of each of `rows`.

    Raise ModelRetry if a page with such a value does not open for the user.
    """
    for path in paths:
        if path.field is path.access.options.pk:
            continue
        reached = rows
        if path.relation_path:
            keys = rows.order_by().values(f"{path.relation_path}{LOOKUP_SEP}pk")
            reached = path.access.model._base_manager.filter(pk__in=keys)
        check_opening(path.access, reached, path.field.name)


def _rows_as_json(
    access: AdminAccess, rows: list[Model], fields: list[Any]
) -> list[dict[str, Any]]:
    """Return the rows as JSON; of each only what the admin shows of it."""
    columns = {field.name for field in list_fields(access)}
    shows_text = "__str__" in list_names(access)
    openable = openable_keys(access, rows)
    result: list[dict[str, Any]] = []
    for row in rows:
        item: dict[str, Any] = {"id": row.pk}
        if row.pk in openable:
            visible = admin_fields(access, row, in_list=True)
            names = {field.name for field in visible}
            limits = limits_of(access, row, fields, in_list=True)
            item |= {"text": object_text(row), "version": version_from(visible, row)}
            if (label := real_label(access, row)) != access.label:
                item["model"] = label
        else:  # it is in the list, but has no page
            names, limits = columns, {}
            item |= {"text": object_text(row)} if shows_text else {}
        item["fields"] = {
            field.name: value_of(field, row, TEXT_CHARS, limits)
            for field in fields
            if field.name in names
        }
        result.append(item)
    return result
