"""The filters, search and order with which a list of the admin opens."""

from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ORDER_VAR, SEARCH_VAR
from django.core.exceptions import SuspiciousOperation
from django.http import QueryDict

from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy.sensitive import is_sensitive_field
from ai_assistant.tools.data.access.model_admin import AdminAccess, find_access
from ai_assistant.types import PageInfo, RunContext

Filters = Mapping[str, str | int | bool]


def list_query(context: RunContext, page: PageInfo, filters: Filters) -> str:
    """
    Return the query string of a list of the admin.

    Filters are those that the list itself offers, by the names of its address or of
    their fields. Raise ModelRetry if the page has none of that name, or is no list.
    """
    if page.action != "changelist":
        raise ModelRetry("Only a list takes filters: admin:APP_MODEL_changelist.")
    model = f"{page.app_label}.{page.model_name}"
    access = find_access(context, model).at_page("changelist")
    known = dict(_offered(access))
    unknown = [name for name in filters if name not in known]
    if unknown:
        names = ", ".join(sorted({*known.values()}))
        raise ModelRetry(
            f"The list has no filter {unknown[0][:100]!r}. Use {SEARCH_VAR} to search, "
            f"{ORDER_VAR} for the columns to order by, as -2.1, and: {names}."
        )
    query = QueryDict(mutable=True)
    query.update({known[name]: _text(value) for name, value in filters.items()})
    try:
        _changelist(access, query)
    except (IncorrectLookupParameters, SuspiciousOperation) as error:
        raise ModelRetry(f"The list does not take {query.urlencode()!r}.") from error
    return query.urlencode()


def _offered(access: AdminAccess) -> Iterator[tuple[str, str]]:
    """Yield what may be given, and the parameter that it stands for."""
    yield from ((name, name) for name in (SEARCH_VAR, ORDER_VAR))
    for spec in _changelist(access, QueryDict()).filter_specs:
        field = getattr(spec, "field", None)
        if field is not None and is_sensitive_field(field):
            continue
        parameters = [name for name in spec.expected_parameters() if name]
        yield from ((name, name) for name in parameters)
        if parameters and (path := getattr(spec, "field_path", "")):
            yield path, parameters[0]


def _changelist(access: AdminAccess, query: QueryDict) -> Any:
    request = copy(access.request)
    request.GET = query  # type: ignore[assignment]
    return access.model_admin.get_changelist_instance(request)


def _text(value: object) -> str:
    """Return a value as the address of a list has it."""
    return str(int(value)) if isinstance(value, bool) else str(value)
