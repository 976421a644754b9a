"""What the assistant may do on a page, in a sentence for its empty conversation."""

import logging

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.context.opened import page_request
from ai_assistant.context.page import Page, find_page
from ai_assistant.context.withheld import is_withheld
from ai_assistant.modules.admission import is_page_open
from ai_assistant.modules.resolve import module_by_id
from ai_assistant.tools.data.enabled import are_enabled
from ai_assistant.types import RunContext

logger = logging.getLogger("ai_assistant")


def allowed_here(context: RunContext, *, readonly: bool) -> str:
    """
    Return what is allowed on the page of `context`; empty if that is not known.

    `readonly`: nothing may be changed there. May ask the database for permissions.
    """
    try:
        page = find_page(context.page_path)
        module = module_by_id(context.module)
        if page is None or page.model_admin is None or not are_enabled(context):
            return ""
        if not is_page_open(page, module, context.user):
            return ""
        return _of_model(page, context, readonly=readonly)
    except Exception:  # code of the site: its ModelAdmin
        logger.exception("what is allowed on %r is not known", context.page_path)
        return ""


def _of_model(page: Page, context: RunContext, *, readonly: bool) -> str:
    admin = page.model_admin
    names = {"models": capfirst(str(admin.opts.verbose_name_plural))}
    if is_withheld(page):
        return _("%(models)s are kept from the assistant on this page.") % names
    if not admin.has_view_permission(page_request(page, context.user)):
        return ""
    if readonly:
        return _("On this page the assistant can look up %(models)s.") % names
    return (
        _(
            "On this page the assistant can look up %(models)s and propose changes to "
            "them."
        )
        % names
    )
