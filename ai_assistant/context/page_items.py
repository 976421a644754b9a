"""The items of every page: the page, what its list shows, and the object opened there."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.utils.text import capfirst
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from ai_assistant.context.block import to_plain_json
from ai_assistant.context.opened import (
    admin_of,
    admin_summary,
    held_permissions,
    inline_names,
    text_language,
)
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.context.provided import is_withheld
from ai_assistant.types import ContextItem

OBJECT_CHARS = 2000  # of the text of an object
TITLE_CHARS = 40  # of what a list is narrowed to, on its chip
# Ids of the items of every page.
PAGE, OBJECT, FILTERS, SEARCH = "page", "object", "filters", "search"


def page_item(page: SitePage, user: Any) -> ContextItem:
    """Return the item with the facts that the page's address gives."""
    info = page.info
    is_list = info.action == "changelist"
    facts: dict[str, Any] = {
        # What a list is narrowed to is in items of its own.
        "path": info.path.partition("?")[0] if is_list else info.path,
        # Django writes the text of the object into it.
        "title": "" if is_withheld(page) else info.title,
        "view": info.view_name,
        "arguments": dict(info.arguments),
        "app": info.app_label,
        "model": info.model_name,
        "action": info.action,
        "page": info.page_number,
        "language": get_language() or "",
    }
    if page.model_admin is not None:
        facts["you may"] = held_permissions(page, user, None)
    return ContextItem(
        id=PAGE,
        description=describe(page),
        value={key: value for key, value in facts.items() if value},
        title=page_title(page),
        priority=100,
        label="user",
    )


def list_items(page: SitePage) -> Iterator[ContextItem]:
    """Yield the items with the filters and the search of a list, if it has any."""
    info = page.info
    if info.filters:
        values = ", ".join(_filter_labels(page.model_admin, info.filters))
        yield ContextItem(
            id=FILTERS,
            description=_("The filters of the list that the user looks at."),
            value=dict(info.filters),
            title=_("Filter: %(values)s") % {"values": values[:TITLE_CHARS]},
            priority=96,
        )
    if info.search:
        yield ContextItem(
            id=SEARCH,
            description=_("What the user has searched the list for."),
            value=info.search,
            title=_("Search: %(words)s") % {"words": info.search[:TITLE_CHARS]},
            priority=95,
        )


def _filter_labels(model_admin: Any, filters: Mapping[str, str]) -> Iterator[str]:
    """Yield each filter as its sidebar names it, without asking the database."""
    for key, value in filters.items():
        try:
            field = model_admin.opts.get_field(key.partition("__")[0])
        except FieldDoesNotExist:
            yield value
            continue
        choices = {str(one): str(label) for one, label in field.flatchoices or ()}
        # The name of a related object, or of a part of a date, is not known here.
        is_plain = key in {field.name, f"{field.name}__exact"}
        is_named = is_plain and not field.is_relation
        is_flag = field.get_internal_type() == "BooleanField"
        yield choices.get(value) or (
            value if is_named and not is_flag else str(field.verbose_name)
        )


def describe(page: SitePage) -> str:
    """Return a description of the page."""
    info = page.info
    if page.model_admin is None:
        words = {
            "index": _("The start page of the administration."),
            "app_list": _("The list of models of an app in the administration."),
        }
        return words.get(info.action) or _("A page of this site.")
    names = {
        "one": page.model_admin.opts.verbose_name,
        "many": page.model_admin.opts.verbose_name_plural,
    }
    words = {
        "changelist": _("The list of %(many)s in the administration."),
        "add": _("The form to add a %(one)s."),
        "change": _("The form of one %(one)s."),
        "delete": _("The confirmation before a %(one)s is deleted."),
        "history": _("The history of one %(one)s."),
    }
    return words.get(info.action, _("A page of %(many)s.")) % names


def page_title(page: SitePage) -> str:
    """
    Return the word for the page's chip.

    Never its title, which is unknown while the page itself is rendered.
    """
    if page.model_admin is not None:
        options = page.model_admin.opts
        is_list = page.info.action in ("changelist", "")
        return str(options.verbose_name_plural if is_list else options.verbose_name)
    return _("Start page") if page.info.action == "index" else _("This page")


def place_title(path: str, title: str) -> str:
    """
    Return what a page is called that was left: a list by its models, as “Users”.

    Any other by its title; empty if it has none and its address says nothing.
    """
    page = find_page(path, title)
    if page is not None and page.info.action == "changelist":
        return capfirst(page_title(page))  # not “Select user to change”
    # Django writes titles with what matters first.
    said = title.partition(" | ")[0].strip()
    return said or (page_title(page) if page else "")


def _inlines(
    page: SitePage, user: Any, opened: Any, fields: dict[str, Any]
) -> dict[str, Any]:
    if not fields or not admin_of(page, opened).inlines:
        return {}
    names = inline_names(page, user, opened)
    on_page = {"inlines": names.pop("", [])}
    return {**on_page, "inlines of rows": names} if names else on_page


def object_item(page: SitePage, user: Any, opened: Any) -> ContextItem:
    """Return the item with the object's values in the admin. May ask the database."""
    text = "" if is_withheld(page) else str(opened)[:OBJECT_CHARS]
    fields = admin_summary(page, user, opened)
    kind = opened._meta.label_lower
    language = text_language(page, user, opened, fields)
    value = {
        "id": opened.pk,
        "text": text,
        **({} if kind == page.model_admin.opts.label_lower else {"model": kind}),
        "fields": fields,
        **({"language": language} if language else {}),
        **_inlines(page, user, opened, fields),
        "you may": held_permissions(page, user, opened),
    }
    return ContextItem(
        id=OBJECT,
        description=_("The %(model)s that the user has opened.")
        % {"model": opened._meta.verbose_name},
        value=to_plain_json(value),
        title=text[:80] or f"{page_title(page)} {opened.pk}",
        priority=90,
        label="data",
    )
