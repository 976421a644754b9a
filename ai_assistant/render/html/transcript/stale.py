"""The bar that says that what the page shows was changed since it was opened."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth import get_permission_codename
from django.db.models import ManyToManyField

from ai_assistant.changes.capture.images import object_id
from ai_assistant.changes.staleness import (
    Part,
    generic_parts,
    tables_of,
    who_changed_model,
    who_changed_object,
)
from ai_assistant.changes.values import label, meta
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.safety.site_code import value_or
from ai_assistant.types import UserKey

DIGITS = 14  # of milliseconds
LIST = "changelist"
ACTIONS = (LIST, "change", "history")


@dataclass(frozen=True, kw_only=True, slots=True)
class StaleBar:
    """The bar of one page; hidden until the object is changed."""

    id: str  # of the element: another page has another one
    name: str  # what the admin calls such an object, or several of them
    is_list: bool = False
    is_shown: bool = False


def bar_of(path: str) -> StaleBar | None:
    """Return the hidden bar of a page that shows rows of a model; None for others."""
    page = _page_of_rows(path)
    if page is None:
        return None
    is_list = page.info.action == LIST
    options = page.model_admin.opts
    name = options.verbose_name_plural if is_list else options.verbose_name
    bar_id = f"aia-stale:{path.partition('?')[0]}"
    return StaleBar(id=bar_id, name=str(name), is_list=is_list)


def is_stale(path: str, opened: str, user_id: UserKey) -> bool:
    """
    Return whether an assistant has changed the rows since `opened`.

    That is a moment in milliseconds; nothing is known of a page without one. Of changes
    of others only who may view such rows is told: the path is what the browser says.
    """
    page = _page_of_rows(path)
    if page is None or not _is_moment(opened):
        return False
    model = page.model_admin.model
    moment = datetime.fromtimestamp(int(opened) / 1000, UTC)
    parts = set(_parts(page.model_admin))
    if page.info.action == LIST:
        changers = who_changed_model(model, parts, moment=moment)
    else:
        key = value_or("", lambda: _key(page))
        changers = (
            who_changed_object(model, key, parts, moment=moment) if key else set()
        )
    return user_id in changers or (bool(changers) and _may_view(model, user_id))


def tables_shown(path: str) -> frozenset[str]:
    """Return the labels of the models whose rows a page shows; none of other pages."""
    page = _page_of_rows(path)
    if page is None:
        return frozenset()
    parts = (part.table for part in _parts(page.model_admin))
    return frozenset((*tables_of(page.model_admin.model), *parts))


def _may_view(model: Any, user_id: UserKey) -> bool:
    user = fresh_user(user_id)
    names = (get_permission_codename(one, meta(model)) for one in ("view", "change"))
    label_ = meta(model).app_label
    return user is not None and any(user.has_perm(f"{label_}.{name}") for name in names)


def _page_of_rows(path: str) -> SitePage | None:
    page = find_page(path)
    if page is None or not page.model_admin or page.info.action not in ACTIONS:
        return None
    return page


def _is_moment(said: str) -> bool:
    return said.isascii() and said.isdigit() and len(said) < DIGITS


def _key(page: SitePage) -> str:
    model = page.model_admin.model
    return str(object_id(model, meta(model).pk.to_python(page.info.object_id)))


def _parts(model_admin: Any) -> Iterator[Part]:
    """Yield the tables of links and inlines, and which column names the object."""
    model = model_admin.model
    for field in meta(model).many_to_many:
        if isinstance(field, ManyToManyField):
            through = field.remote_field.through
            source = meta(through).get_field(field.m2m_field_name())
            yield Part(label(through), source.attname)
    own = {model, *meta(model).all_parents}
    for inline in model_admin.inlines:
        for column in meta(inline.model).concrete_fields:
            if column.is_relation and column.related_model in own:
                yield Part(label(inline.model), column.attname)
    yield from generic_parts(model, [inline.model for inline in model_admin.inlines])
