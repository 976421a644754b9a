"""
Decide what may not be changed from a page, and why: its object, its table, or anything.

The rule is one of the object, not of the world: on the page of an object that stays as
it is, all others can be changed.
"""

import logging
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Model
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.changes.values import label
from ai_assistant.context.opened import page_request
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.modules.base import ContextModule
from ai_assistant.types import RunContext

logger = logging.getLogger("ai_assistant")

OWN_APP = "ai_assistant"


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadOnly:
    """
    What may not be changed, and why: a sentence for the page, one for a call.

    Without `tables` that is everything, without an `object_id` all their rows. An
    object of a child model has a row in several.
    """

    banner: str
    refusal: str
    tables: frozenset[str] = frozenset()  # as app.model, of no proxy
    object_id: str = ""

    @property
    def is_of_all(self) -> bool:
        """Whether nothing at all may be changed from the page."""
        return not self.tables

    def is_about(self, table: str, object_id: str) -> bool:
        """Return whether a row may not be changed, by its table and key."""
        return table in self.tables and self.object_id in {"", object_id}


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
    delete anything in the table of the page. Where it is so, and the user has no right
    to change anything elsewhere, it is of all. May ask the database for permissions.
    """
    if not module.has("read_only_guard"):
        return None
    try:
        found = _found(module, context)
        if found is None or found.is_of_all or _changes_elsewhere(context.user):
            return found
        refusal = found.banner if found.object_id else found.refusal
        return replace(found, refusal=refusal, tables=frozenset(), object_id="")
    except Exception:
        logger.exception("whether module %r is read-only is not known", module.id)
        return _by_rule(None)  # when in doubt, read-only


def _found(module: ContextModule, context: RunContext) -> ReadOnly | None:
    page = find_page(context.page.path)
    if module.is_read_only(context):
        return _by_rule(page, str(module.get_read_only_reason(context)))
    return None if page is None or _may_change(page, context) else _denied(page)


def _changes_elsewhere(user: Any) -> bool:
    """Return whether the user may change anything that is not the assistant's own."""
    rights = (one.partition(".") for one in user.get_all_permissions())
    return any(
        app != OWN_APP and not codename.startswith("view_")
        for app, _dot, codename in rights
    )


def _by_rule(page: SitePage | None, reason: str = "") -> ReadOnly:
    admin = page.model_admin if page else None
    if page is None or admin is None or not page.info.object_id:
        return ReadOnly(
            banner=reason or _("The assistant changes nothing on this page."),
            refusal=f"{_('Nothing can be changed on this page.')} {reason}".strip(),
        )
    names = {"model": admin.opts.verbose_name}
    said = reason or _("The assistant does not change this %(model)s.") % names
    return ReadOnly(
        banner=said,
        refusal=_("%(reason)s Other objects can be changed.") % {"reason": said},
        tables=_tables(admin.model),
        object_id=page.info.object_id,
    )


def _tables(model: type[Model]) -> frozenset[str]:
    parents = model._meta.get_parent_list()
    return frozenset(map(label, (model, *parents)))


def _denied(page: SitePage) -> ReadOnly:
    names = {"models": capfirst(str(page.model_admin.opts.verbose_name_plural))}
    return ReadOnly(
        banner=_("You can view but not change %(models)s: the assistant cannot either.")
        % names,
        refusal=_("The user may view but not change %(models)s on this page.") % names,
        tables=_tables(page.model_admin.model),
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
