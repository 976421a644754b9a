"""The rows of a list: searched as the admin searches, and told as it shows them."""

from collections.abc import Iterable
from copy import copy
from typing import Any

from django.db.models import Model, QuerySet
from django.db.models.constants import LOOKUP_SEP

from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy.form_limits import Limits
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.tools.data.access.fields import (
    admin_fields,
    is_open_field,
    is_own,
    limits_of,
    list_fields,
    list_names,
    model_fields,
)
from ai_assistant.tools.data.access.model_admin import AdminAccess, is_closed_on
from ai_assistant.tools.data.access.paths import Path, find_path, unknown_path
from ai_assistant.tools.data.access.shown import check_opening, openable_keys
from ai_assistant.tools.data.access.values import object_text, value_of
from ai_assistant.tools.data.reading.version import version_from

SEARCH_CHARS = 200
TEXT_CHARS = 200  # of one field
MAX_ORDERING = 4


def search_rows(door: AdminAccess, rows: QuerySet[Any], text: str) -> QuerySet[Any]:
    """
    Return what the search of the admin finds among `rows`.

    Sensitive fields are no part of it. Raise ModelRetry if there is no search.
    """
    if not text.strip():
        return rows
    if len(text) > SEARCH_CHARS or join_surrogates(text) != text:
        raise ModelRetry(
            f"The search is too long (at most {SEARCH_CHARS} characters), or holds NUL "
            "or half a character."
        )
    given = door.model_admin.get_search_fields(door.request)
    open_ones = [name for name in given if _is_searchable(door, str(name))]
    if not open_ones:
        raise ModelRetry(f"{door.label!r} has no search. Use filters.")
    admin = copy(door.model_admin)  # that of the site stays as it is
    admin.get_search_fields = lambda _request: open_ones
    found, has_doubles = admin.get_search_results(door.request, rows, text)
    return found.distinct() if has_doubles else found  # type: ignore[no-any-return]


def order_rows(
    door: AdminAccess, rows: QuerySet[Any], ordering: list[str]
) -> QuerySet[Any]:
    """Return `rows` in this order, or in that of the list; never by chance."""
    if len(ordering) > MAX_ORDERING:
        raise ModelRetry(f"Order by {MAX_ORDERING} fields at most.")
    paths = [find_path(door, text.removeprefix("-")) for text in ordering]
    names = [_order_name(*one) for one in zip(paths, ordering, strict=True)]
    if paths:
        check_paths(rows, paths)
    else:
        names = [*(rows.query.order_by or door.options.ordering)]
    return rows.order_by(*names, "pk")


def chosen_fields(door: AdminAccess, names: list[str]) -> list[Any]:
    """Return the fields of these names, the columns of the list if there are none."""
    if not names:
        return list_fields(door)
    known = {own.name: own for own in model_fields(door)}
    if wrong := [name for name in names if name not in known and name != "id"]:
        raise unknown_path(door, wrong[0])
    return [known[name] for name in dict.fromkeys(names) if name in known]


def told_rows(
    door: AdminAccess, rows: list[Model], fields: list[Any]
) -> list[dict[str, Any]]:
    """Return the rows as JSON; of each only what the admin shows of it."""
    columns = {own.name for own in list_fields(door)}
    names_itself = "__str__" in list_names(door)
    pages = openable_keys(door, rows)
    told: list[dict[str, Any]] = []
    for row in rows:
        limits: Limits = {}
        if row.pk in pages:
            shown = admin_fields(door, row, in_list=True)
            limits = limits_of(door, row, fields, in_list=True)
            names = {own.name for own in shown}
            one = {"id": row.pk, "text": object_text(row)}
            one["version"] = version_from(shown, row)
        else:  # it is in the list, but has no page
            names = columns
            one = {"id": row.pk} | ({"text": object_text(row)} if names_itself else {})
        one["fields"] = {
            own.name: value_of(own, row, TEXT_CHARS, limits)
            for own in fields
            if own.name in names
        }
        told.append(one)
    return told


def _is_searchable(door: AdminAccess, name: str) -> bool:
    """Tell whether nothing on the way of a search field is sensitive."""
    options = door.options
    for part in name.lstrip("^=@").split(LOOKUP_SEP):
        known = {own.name: own for own in options.get_fields()}
        own = options.pk if part == "pk" else known.get(part)
        if own is None:  # a lookup
            return True
        related = own.related_model if own.is_relation else None
        if is_own(own) and not is_open_field(own):
            return False
        if not isinstance(related, type):
            return True
        if is_closed_on(door.site, related):
            return False
        options = related._meta  # type: ignore[attr-defined]
    return True


def check_paths(rows: QuerySet[Any], paths: Iterable[Path]) -> None:
    """
    Make sure that what `paths` lead to may be told of each of `rows`.

    Raise ModelRetry if a page, on which it stands, does not open for the user.
    """
    for path in paths:
        if path.field is path.door.options.pk:
            continue
        there = rows
        if path.way:
            keys = rows.order_by().values(f"{path.way}{LOOKUP_SEP}pk")
            there = path.door.model._base_manager.filter(pk__in=keys)
        check_opening(path.door, there, [path.field.name])


def _order_name(path: Path, text: str) -> str:
    sign = "-" if text.startswith("-") else ""
    if path.rest or path.is_many:
        raise unknown_path(path.door, text)
    if path.is_limited:
        raise hidden_rows(text)
    # The order of a related model may be by what the user does not see.
    attname = path.field.attname if path.field.is_relation else ""
    return (
        f"{sign}{_with_last(path.name, attname)}" if attname else f"{sign}{path.name}"
    )


def hidden_rows(text: str) -> ModelRetry:
    """Return the error of a path beyond which the user does not see all rows."""
    return ModelRetry(
        f"{text[:100]!r} leads to objects of which the user does not see all. Use it "
        "as a filter only."
    )


def _with_last(name: str, last: str) -> str:
    return LOOKUP_SEP.join([*name.split(LOOKUP_SEP)[:-1], last])
