"""The items of every page: the page itself, and the object opened there."""

from typing import Any

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from ai_assistant.context.block import to_plain_json
from ai_assistant.context.opened import (
    admin_of,
    admin_summary,
    held_permissions,
    inline_names,
)
from ai_assistant.context.page import SitePage
from ai_assistant.context.provided import is_withheld
from ai_assistant.types import ContextItem

OBJECT_CHARS = 2000  # of the text of an object
PAGE, OBJECT = "page", "object"  # ids of the items of every page


def page_item(page: SitePage, user: Any) -> ContextItem:
    """Return the item with the facts that the page's address gives."""
    info = page.info
    facts: dict[str, Any] = {
        "path": info.path,
        # Django writes the text of the object into it.
        "title": "" if is_withheld(page) else info.title,
        "view": info.view_name,
        "arguments": dict(info.arguments),
        "app": info.app_label,
        "model": info.model_name,
        "action": info.action,
        "filters": dict(info.filters),
        "search": info.search,
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


def _inlines(
    page: SitePage, user: Any, opened: Any, fields: dict[str, Any]
) -> dict[str, Any]:
    if not fields or not admin_of(page, opened).inlines:
        return {}
    return {"inlines": inline_names(page, user, opened)}


def object_item(page: SitePage, user: Any, opened: Any) -> ContextItem:
    """Return the item with the object's values in the admin. May ask the database."""
    text = "" if is_withheld(page) else str(opened)[:OBJECT_CHARS]
    fields = admin_summary(page, user, opened)
    kind = opened._meta.label_lower
    value = {
        "id": opened.pk,
        "text": text,
        **({} if kind == page.model_admin.opts.label_lower else {"model": kind}),
        "fields": fields,
        **_inlines(page, user, opened, fields),
        "you may": held_permissions(page, user, opened),
    }
    return ContextItem(
        id=OBJECT,
        description=_("The %(model)s that the user has opened.")
        % {"model": page.model_admin.opts.verbose_name},
        value=to_plain_json(value),
        title=text[:80] or f"{page_title(page)} {opened.pk}",
        priority=90,
        label="data",
    )
