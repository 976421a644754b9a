"""The bar that says that the object of the page was changed since it was opened."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ai_assistant.changes.capture.images import object_id
from ai_assistant.changes.staleness import object_changed_since
from ai_assistant.changes.values import label, meta
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.safety.site_code import value_or
from ai_assistant.types import UserKey

DIGITS = 14  # of milliseconds


@dataclass(frozen=True, kw_only=True, slots=True)
class StaleBar:
    """The bar of one page; hidden until the object is changed."""

    id: str  # of the element: another page has another one
    name: str  # what the admin calls such an object
    is_shown: bool = False


def bar_of(path: str) -> StaleBar | None:
    """Return the hidden bar of a page that shows one object; None for others."""
    page = _object_page(path)
    if page is None:
        return None
    name = str(page.model_admin.opts.verbose_name)
    return StaleBar(id=f"aia-stale:{path.partition('?')[0]}", name=name)


def is_stale(path: str, opened: str, user_id: UserKey) -> bool:
    """
    Return whether an assistant of the user has changed the object since `opened`.

    That is a moment in milliseconds; nothing is known of a page without one.
    """
    page = _object_page(path)
    if page is None or not _is_moment(opened):
        return False
    key = value_or("", lambda: _key(page))
    moment = datetime.fromtimestamp(int(opened) / 1000, UTC)
    parts = set(_parts(page.model_admin))
    return bool(key) and object_changed_since(
        page.model_admin.model, key, parts, moment=moment, user_id=user_id
    )


def _object_page(path: str) -> SitePage | None:
    page = find_page(path)
    is_one = page is not None and page.model_admin and page.info.action == "change"
    return page if is_one else None


def _is_moment(said: str) -> bool:
    return said.isascii() and said.isdigit() and len(said) < DIGITS


def _key(page: SitePage) -> str:
    model = page.model_admin.model
    return str(object_id(model, meta(model).pk.to_python(page.info.object_id)))


def _parts(model_admin: Any) -> Iterator[tuple[str, str]]:
    """Yield the tables of links and inlines, and which column names the object."""
    model = model_admin.model
    for field in meta(model).many_to_many:
        through = field.remote_field.through
        yield label(through), meta(through).get_field(field.m2m_field_name()).attname
    own = {model, *meta(model).all_parents}
    for inline in model_admin.inlines:
        for field in meta(inline.model).concrete_fields:
            if field.is_relation and field.related_model in own:
                yield label(inline.model), field.attname
