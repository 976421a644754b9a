"""Decide whether, and why, nothing may be changed on a page."""

import logging
from dataclasses import dataclass

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.context.opened import page_request
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.modules.base import ContextModule
from ai_assistant.types import RunContext

logger = logging.getLogger("ai_assistant")


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadOnly:
    """Why nothing may be changed: a sentence for the page, one for a call."""

    banner: str
    refusal: str


def look_only() -> ReadOnly:
    """Return the reason for a message of a person who wants no changes."""
    return ReadOnly(
        banner=_("The assistant is in view-only mode: it changes nothing."),
        refusal=_("The user has chosen “View only”. Nothing is changed."),
    )


def read_only(module: ContextModule, context: RunContext) -> ReadOnly | None:
    """
    Return why nothing may be changed on the page of `context`; None if it may.

    The module's own rule comes first; then whether the user may add, change or
    delete anything in the table of the page. May ask the database for permissions.
    """
    if not module.has("read_only_guard"):
        return None
    try:
        if module.is_read_only(context):
            return _by_rule()
        page = find_page(context.page.path)
        return None if page is None or _may_change(page, context) else _denied(page)
    except Exception:
        logger.exception("whether module %r is read-only is not known", module.id)
        return _by_rule()  # when in doubt, read-only


def _by_rule() -> ReadOnly:
    return ReadOnly(
        banner=_(
            "You can view this page but not change it. The same goes for the assistant."
        ),
        refusal=_("Nothing can be changed on this page."),
    )


def _denied(page: SitePage) -> ReadOnly:
    names = {"models": capfirst(str(page.model_admin.opts.verbose_name_plural))}
    return ReadOnly(
        banner=_("You can view but not change %(models)s: the assistant cannot either.")
        % names,
        refusal=_("The user may view but not change %(models)s on this page.") % names,
    )


def _may_change(page: SitePage, context: RunContext) -> bool:
    """Return whether the page's ModelAdmin, if any, lets the user change anything."""
    admin = page.model_admin
    if admin is None:
        return True
    request = page_request(page, context.user)
    return bool(
        admin.has_change_permission(request)
        or admin.has_add_permission(request)
        or admin.has_delete_permission(request)
    )
