"""
Which rows the pages of a ModelAdmin show: the list, and the page of each object.

A page is more than `get_queryset`: the site may limit rows by a ChangeList or a search
of its own, and close the page of an object by `get_object`, a permission of the object,
or a view. Each of them is asked only where the site has overridden it.
"""

from collections.abc import Sequence
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
)

LISTED, BY_OBJECT = "listed", "by object"  # keys of AdminAccess.memo
ANY = "0"  # the id of no object in particular
MOST_ASKED = 200  # objects whose pages are asked for one figure
MOST_TRIED = 20  # objects, to find one whose page opens


# --- the list ---


def changelist_rows(access: AdminAccess) -> QuerySet[Any]:
    """
    Return the rows that the list of the admin shows to the user.

    Filters are no limit, as the person may choose others. Raise ToolFailed if the
    list is code of the site and does not open.
    """
    if LISTED not in access.memo:
        access.memo[LISTED] = _listed(access.at_page("changelist"))
    return access.memo[LISTED].all()  # type: ignore[no-any-return]


def limits_list(access: AdminAccess) -> bool:
    """Tell whether the list may show fewer rows than `get_queryset` returns."""
    return is_overridden(access.model_admin, *OF_LIST, "get_search_results")


def is_listed(access: AdminAccess, obj: Model) -> bool:
    """Tell whether the list shows `obj`, whose page opens, to the user."""
    if not (limits_list(access) or is_overridden(access.model_admin, "get_object")):
        return True
    try:
        return changelist_rows(access).filter(pk=obj.pk).exists()
    except ToolFailed:
        return False


def opens_list(access: AdminAccess) -> bool:
    """Tell whether the list of the admin opens for the user."""
    if not is_overridden(access.model_admin, "changelist_view"):
        return True
    try:
        changelist_rows(access)
    except ToolFailed:
        return False
    return True


def _listed(access: AdminAccess) -> QuerySet[Any]:
    if response := access.check_page():
        rows = rows_on_page(access.model_admin, response)
    else:
        rows = rows_of_changelist(access.model_admin, access.request)
    if rows is None:
        raise ToolFailed(
            _(
                "The list of %(names)s is a page of this site's own; the assistant "
                "cannot read its rows."
            )
            % {"names": access.options.verbose_name_plural},
            suggestion=_("Tell the person to look at the page itself."),
        )
    return rows


# --- the page of each object ---


def openable_keys(access: AdminAccess, rows: Sequence[Model]) -> set[Any]:
    """Return the keys of `rows`, which are in the list, whose page opens."""
    if not rows:
        return set()
    if decides_by_object(access):
        return {row.pk for row in rows if _opens(access, row)}
    keys = {row.pk for row in rows} if access.may_see() else set()
    if not (keys and is_overridden(access.model_admin, "get_queryset")):
        return keys
    return set(page_rows(access).filter(pk__in=keys).values_list("pk", flat=True))


def check_opening(access: AdminAccess, rows: QuerySet[Any], name: str) -> None:
    """
    Make sure that the user sees this field of each of `rows`, which are in the list.

    It is a column of the list, or stands on pages that open. Raise ModelRetry if the
    page of a row does not open, or there are too many to ask.
    """
    columns = [*map(str, access.model_admin.get_list_display(access.request))]
    if name not in columns and _lacks_page(access, rows):
        raise ModelRetry(
            f"{name} of {access.label} stands on the page of each object "
            f"only. Not every page opens for the user, or there are more than "
            f"{MOST_ASKED}. Use columns of the list ({', '.join(columns)}), or narrow "
            "it with filters."
        )


def decides_by_object(access: AdminAccess) -> bool:
    """Tell whether the site decides for each object whether its page opens."""
    if BY_OBJECT not in access.memo:
        admin = access.model_admin
        names = ("get_object", "has_view_permission", "has_view_or_change_permission")
        access.memo[BY_OBJECT] = (
            is_overridden(admin, *names)
            or (
                is_overridden(admin, "has_change_permission")
                and not admin.has_view_permission(access.request)
            )
            or _is_custom_form(access)
        )
    return bool(access.memo[BY_OBJECT])


def opens_form(access: AdminAccess) -> bool:
    """Tell whether the form that changes an object opens for some object."""
    if not _is_custom_form(access):
        return True
    rows = changelist_rows(access) if opens_list(access) else page_rows(access)
    return any(_opens(access, row) for row in rows[:MOST_TRIED])


def _is_custom_form(access: AdminAccess) -> bool:
    try:
        return access.at_object(ANY).is_custom_page()
    except ToolFailed:  # there is no such page at all
        return True


def _opens(access: AdminAccess, row: Model) -> bool:
    """Tell whether the page of `row` opens for the user."""
    its_page = access.at_object(row.pk)
    obj: Model | None = row
    if is_overridden(access.model_admin, "get_object", "get_queryset"):
        obj = its_page.model_admin.get_object(its_page.request, str(row.pk))
    if obj is None or not its_page.may_see(obj):
        return False
    return its_page.opens_page()


def page_rows(access: AdminAccess, page: Page = "change") -> QuerySet[Any]:
    """Return the rows among which the page of an object looks it up."""
    request = access.at_object(ANY, page).request
    return access.model_admin.get_queryset(request).order_by()  # type: ignore[no-any-return]


def _lacks_page(access: AdminAccess, rows: QuerySet[Any]) -> bool:
    """Tell whether the page of one of `rows` does not open, or there are too many."""
    if decides_by_object(access):
        some = list(rows[: MOST_ASKED + 1])
        return len(some) > MOST_ASKED or len(openable_keys(access, some)) < len(some)
    if not is_overridden(access.model_admin, "get_queryset"):
        return False
    return rows.order_by().exclude(pk__in=page_rows(access).values("pk")).exists()
