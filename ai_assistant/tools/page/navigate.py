"""Take the user to another page of the site, and return its content to the model."""

import re
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.sites import all_sites
from django.contrib.admin.utils import quote
from django.contrib.admin.views.main import ORDER_VAR, SEARCH_VAR
from django.core.exceptions import SuspiciousOperation
from django.http import QueryDict
from django.urls import NoReverseMatch, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from ai_assistant import conf
from ai_assistant.context.collect import KeptChips, collect_items, sent_items
from ai_assistant.context.opened import may_open_page
from ai_assistant.context.page import SitePage, find_page, page_info
from ai_assistant.context.page_items import page_title, place_title
from ai_assistant.context.provided import is_withheld
from ai_assistant.context.viewparts import ViewParts, registered_parts
from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.registry import registry
from ai_assistant.request_context import language_of
from ai_assistant.tools.data.access.model_admin import AdminAccess, find_access
from ai_assistant.tools.data.access.visibility import is_open_path
from ai_assistant.types import JSON, PageInfo, RunContext

Filters = Mapping[str, str | int | bool]
MAX_TEXTS = 20
TEXT_CHARS = 300


def navigation_result(context: RunContext, path: str, reported: JSON) -> dict[str, Any]:
    """
    Return the result of a navigation that led to `path`.

    `reported` is what the page itself shows: its title, messages and form errors.
    The server collects the rest, with the permissions of the user. Blocks.
    """
    report = reported if isinstance(reported, dict) else {}
    title = str(report.get("title", ""))[:TEXT_CHARS]
    arrived = replace(context, page=page_info(path, title))
    called = place_title(path, title)
    page = find_page(path)
    is_told = page is None or not is_withheld(page)
    result: dict[str, Any] = {
        "path": path,
        **({"title": called} if is_told and called else {}),
        "page": [
            {"description": item.description, "value": item.value}
            for item in sent_items(collect_items(arrived).items, KeptChips())
        ],
    }
    for name in ("messages", "errors"):
        texts = report.get(name) if is_told else None
        if texts and isinstance(texts, list):
            result[name] = [str(text)[:TEXT_CHARS] for text in texts[:MAX_TEXTS]]
    return result


NAVIGATE_TO = "navigate_to"
# Of the name of a URL, without its namespace; whatever the site allows.
NEVER = re.compile(
    r"(^|_|-)((log|sign)_?(out|in|off)|password|jsi18n|autocomplete|view_on_site)($|_|-)"
)
DELETES = re.compile(r"(^|_|-)delete($|_|-)")
# Pages of the admin that only show something when they are opened.
SAFE = ("index", "app_list", "changelist", "add", "change", "history")


def _summary(_arguments: dict[str, Any], data: Any) -> str:
    """Return "Opened Groups"."""
    name = data.get("title", "") if isinstance(data, dict) else ""
    return _("Opened %(object)s") % {"object": name} if name else ""


@tool(
    effect="ui",
    name=NAVIGATE_TO,
    summary=_summary,
    browser=True,
    shared=True,
    label=gettext_lazy("Go to a page"),
)
def navigate_to(
    context: RunContext,
    view_name: str,
    arguments: dict[str, str | int] | None = None,
    filters: dict[str, str | int | bool] | None = None,
) -> dict[str, str]:
    """
    Take the person to another page; the result tells what is on it.

    Only when the person wants to go there. It is refused while the page has
    unsaved changes.

    view_name: a Django URL name, as find_pages tells them: admin:index,
    admin:APP_MODEL_changelist, admin:APP_MODEL_add, admin:APP_MODEL_change
    arguments: of the URL: {"object_id": "1"}
    filters: of a list, as its address has them: {"status": "new", "q": "text to find"}
    """
    page = page_to_open(context, view_name, arguments or {})
    path = page.info.path
    if filters:
        path = f"{path}?{list_query(context, page.info, filters)}"
    # For the person, as "Questionnaire 4".
    title = capfirst(" ".join(filter(None, (page_title(page), page.info.object_id))))
    return {"path": path, "title": title}


def page_to_open(
    context: RunContext, view_name: str, arguments: Mapping[str, str | int]
) -> SitePage:
    """
    Return the page of that name, which opens for the user and changes nothing.

    Raise ToolFailed if a tool may not open it, ModelRetry if there is none.
    """
    check_allowed(view_name)
    with override(language_of(context.page_path)):
        path = _path(view_name, arguments)
    page = find_page(path)
    # Another view may match this path before the named one.
    if page is None or _is_never_opened(page):
        raise ToolFailed(
            _("“%(name)s” is never opened by a tool.") % {"name": view_name}
        )
    # "admin:index" names the index of an AdminSite that has a name of its own, too.
    apps = ":".join(page.match.app_names)
    if view_name != f"{apps}:{page.match.url_name}":
        check_allowed(page.info.view_name)
    if not _is_harmless(page):
        raise ToolFailed(
            _("“%(name)s” is a custom page of this site, which a tool may not open.")
            % {"name": view_name},
            suggestion=_("Tell the person where to find it instead."),
        )
    if not may_open_page(page, context.user):
        raise ToolFailed(
            _("“%(path)s” does not exist, or the person may not open it.")
            % {"path": path}
        )
    return page


def check_allowed(view_name: str) -> None:
    """Raise ToolFailed unless the site names the view or its namespace."""
    namespace, _colon, _name = view_name.rpartition(":")
    allowed = conf.get("NAVIGATE_TO")
    if namespace in allowed or _is_named(view_name):
        return
    raise ToolFailed(
        _("“%(name)s” is not among the pages that may be opened.")
        % {"name": view_name},
        suggestion=_("Allowed are the namespaces and pages %(names)s.")
        % {"names": ", ".join(map(repr, allowed)) or _("none")},
    )


def _path(view_name: str, arguments: Mapping[str, str | int]) -> str:
    """Return the path of this site. Raise ModelRetry if there is none."""
    admins = {"admin", *(site.name for site in all_sites)}
    is_admin = view_name.partition(":")[0] in admins
    values = {
        name: quote(str(value)) if is_admin and name == "object_id" else value
        for name, value in arguments.items()
    }
    try:
        return reverse(view_name, kwargs=values)
    except NoReverseMatch as error:
        raise ModelRetry(
            f"There is no URL {view_name!r} with the arguments {sorted(arguments)}. "
            "Give the name and the arguments as Django knows them."
        ) from error


def _is_never_opened(page: SitePage) -> bool:
    """Return whether the view signs out, changes a password, or shows no page."""
    return page.info.action not in SAFE and is_never_named(page.info.view_name)


def is_never_named(view_name: str) -> bool:
    """Return whether the name is of a view that no tool opens, whatever is allowed."""
    name = view_name.rpartition(":")[2]
    return bool(
        NEVER.search(name) or (DELETES.search(name) and not _is_named(view_name))
    )


def _is_harmless(page: SitePage) -> bool:
    """
    Return whether opening the page is known to change nothing.

    A view that the site has added to an admin may do anything by GET: the site has
    to name it, or to have declared it to the assistant.
    """
    view_name = page.info.view_name
    return (
        not page.is_of_admin
        or page.info.action in SAFE
        or _is_named(view_name)
        or registered_parts(page.view) != ViewParts()
        or any(view_name in module.matches for module in registry.modules().values())
    )


def _is_named(view_name: str) -> bool:
    """Return whether the site allows this very view, not only its namespace."""
    return ":" in view_name and view_name in conf.get("NAVIGATE_TO")


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
    if SEARCH_VAR in filters and not _is_search_open(access):
        raise ModelRetry(
            "The search of this list looks into fields that are kept from the "
            "assistant. Use its filters."
        )
    query = QueryDict(mutable=True)
    query.update({known[name]: _text(value) for name, value in filters.items()})
    try:
        changelist = _changelist(access, query)
    except (IncorrectLookupParameters, SuspiciousOperation) as error:
        raise ModelRetry(f"The list does not take {query.urlencode()!r}.") from error
    if not all(is_open_path(access, name) for name in _ordered_by(changelist, query)):
        raise ModelRetry(f"No tool orders by this column: {query[ORDER_VAR][:100]!r}.")
    return query.urlencode()


def _is_search_open(access: AdminAccess) -> bool:
    names = access.model_admin.get_search_fields(access.request)
    return all(is_open_path(access, str(name)) for name in names)


def _ordered_by(changelist: Any, query: QueryDict) -> Iterator[str]:
    """Yield what the list is ordered by, of the columns in its address."""
    for part in query.get(ORDER_VAR, "").split("."):
        number = part.lstrip("-")
        if not number.isdigit() or int(number) >= len(changelist.list_display):
            continue  # the list leaves it out as well
        column = changelist.list_display[int(number)]
        ordering = changelist.get_ordering_field(column)
        # An expression may hide what it is made of.
        yield ordering.lstrip("-") if isinstance(ordering, str) else str(column)


def _offered(access: AdminAccess) -> Iterator[tuple[str, str]]:
    """Yield what may be given, and the parameter that it stands for."""
    yield from ((name, name) for name in (SEARCH_VAR, ORDER_VAR))
    for spec in _changelist(access, QueryDict()).filter_specs:
        if not is_open_path(access, getattr(spec, "field_path", "")):
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
