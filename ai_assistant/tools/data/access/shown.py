"""
What the pages of a ModelAdmin show of its rows: the list, and the page of each object.

A page is more than `get_queryset`: the site may limit rows by a ChangeList or a search
of its own, and close the page of an object by `get_object`, a permission of the object,
or a view. Each of them is asked where the site has overridden it, and nowhere else.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.safety.policy.admin_pages import (
    OF_LIST,
    Page,
    is_overridden,
    rows_of_changelist,
    rows_on_page,
)
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    at_list,
    at_object,
    may_see,
)
from ai_assistant.tools.data.access.sites import check_page, is_custom_page

LISTED, ASKED = "listed", "asked"  # of the memo of a door
ANY = "0"  # the id of no object in particular
MOST_ASKED = 200  # objects whose pages are asked for one figure
MOST_TRIED = 20  # objects, to find one whose page opens


# --- the list ---


def changelist_rows(door: AdminAccess) -> QuerySet[Any]:
    """
    Return the rows that the list of the admin shows to the user.

    Filters, which the person may choose, are no limit. Raise ToolFailed if that list
    is code of the site, and does not open.
    """
    if LISTED not in door.memo:
        door.memo[LISTED] = _listed(at_list(door))
    found: QuerySet[Any] = door.memo[LISTED]
    return found.all()


def limits_list(door: AdminAccess) -> bool:
    """Tell whether the list may show less than all that `get_queryset` returns."""
    return is_overridden(door.model_admin, *OF_LIST, "get_search_results")


def is_listed(door: AdminAccess, obj: Model) -> bool:
    """Tell whether the list of the admin shows `obj`, which has a page, to the user."""
    if not (limits_list(door) or is_overridden(door.model_admin, "get_object")):
        return True
    try:
        return changelist_rows(door).filter(pk=obj.pk).exists()
    except ToolFailed:
        return False


def opens_list(door: AdminAccess) -> bool:
    """Tell whether the list of the admin opens for the user."""
    if not is_overridden(door.model_admin, "changelist_view"):
        return True
    try:
        changelist_rows(door)
    except ToolFailed:
        return False
    return True


def _listed(door: AdminAccess) -> QuerySet[Any]:
    model_admin, request = door.model_admin, door.request
    if response := check_page(door, "changelist"):
        rows = rows_on_page(model_admin, response)
    else:
        rows = rows_of_changelist(model_admin, request)
    if rows is None:
        raise _tells_no_rows(door)
    return rows


def _tells_no_rows(door: AdminAccess) -> ToolFailed:
    return ToolFailed(
        _(
            "The list of %(names)s is a page of this site's own; the assistant cannot "
            "read its rows."
        )
        % {"names": door.options.verbose_name_plural},
        suggestion=_("Tell the person to look at the page itself."),
    )


# --- the page of each object ---


def openable_keys(door: AdminAccess, rows: Sequence[Model]) -> set[Any]:
    """Return the keys of those of `rows`, which are in the list, whose page opens."""
    if not rows:
        return set()
    if asks_each(door):
        return {row.pk for row in rows if _opens(door, row)}
    keys = {row.pk for row in rows} if may_see(door) else set()
    if not (keys and is_overridden(door.model_admin, "get_queryset")):
        return keys
    found = of_pages(door).filter(pk__in=keys)
    return set(found.values_list("pk", flat=True))


def check_opening(door: AdminAccess, rows: QuerySet[Any], names: Iterable[str]) -> None:
    """
    Make sure that fields of each of `rows`, which are in the list, may be told.

    Columns of the list may, and what stands on a page that opens. Raise ModelRetry
    if there is a row without it, or there are too many to ask.
    """
    columns = [str(one) for one in door.model_admin.get_list_display(door.request)]
    beyond = [name for name in names if name not in columns]
    if beyond and _lacks_page(door, rows):
        raise ModelRetry(
            f"{', '.join(beyond)} of {door.label} stands on the page of each object "
            f"only. Not every page opens for the user, or there are more than "
            f"{MOST_ASKED}. Use columns of the list ({', '.join(columns)}), or narrow "
            "it with filters."
        )


def asks_each(door: AdminAccess) -> bool:
    """Tell whether the site decides of each object whether its page opens."""
    if ASKED not in door.memo:
        admin = door.model_admin
        names = ("get_object", "has_view_permission", "has_view_or_change_permission")
        door.memo[ASKED] = (
            is_overridden(admin, *names)
            or (
                is_overridden(admin, "has_change_permission")
                and not admin.has_view_permission(door.request)
            )
            or _is_own(at_object(door, ANY))
        )
    return bool(door.memo[ASKED])


def opens_form(door: AdminAccess) -> bool:
    """Tell whether a form of the site's own opens for the user, of some object."""
    if not _is_own(at_object(door, ANY)):
        return True
    rows = changelist_rows(door) if opens_list(door) else of_pages(door)
    return any(_opens(door, row) for row in rows[:MOST_TRIED])


def opens_page(door: AdminAccess, page: Page) -> bool:
    """Tell whether the page of the door's request opens, as far as it is the site's."""
    try:
        check_page(door, page)
    except ToolFailed:
        return False
    return True


def _is_own(door: AdminAccess) -> bool:
    try:
        return is_custom_page(door, "change")
    except ToolFailed:  # there is no such page at all
        return True


def _opens(door: AdminAccess, row: Model) -> bool:
    """Tell whether the page of `row` opens for the user."""
    there = at_object(door, row.pk)
    found: Model | None = row
    if is_overridden(door.model_admin, "get_object", "get_queryset"):
        found = there.model_admin.get_object(there.request, str(row.pk))
    if found is None or not may_see(there, found):
        return False
    return opens_page(there, "change")


def of_pages(door: AdminAccess, page: str = "change") -> QuerySet[Any]:
    """Return the rows that pages of objects find, as far as that is no single one's."""
    request = at_object(door, ANY, page).request
    return door.model_admin.get_queryset(request).order_by()  # type: ignore[no-any-return]


def _lacks_page(door: AdminAccess, rows: QuerySet[Any]) -> bool:
    """Tell whether the page of one of `rows` does not open, or there are too many."""
    if asks_each(door):
        some = list(rows[: MOST_ASKED + 1])
        return len(some) > MOST_ASKED or len(openable_keys(door, some)) < len(some)
    if not is_overridden(door.model_admin, "get_queryset"):
        return False
    return rows.order_by().exclude(pk__in=of_pages(door).values("pk")).exists()
