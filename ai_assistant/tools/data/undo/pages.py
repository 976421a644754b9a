"""The pages of the admin that an undo would post, if a person did it by hand."""

import logging
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

from django.apps import apps
from django.db import router, transaction
from django.db.models import Model

from ai_assistant.exceptions import ToolFailed
from ai_assistant.safety.policy.admin_pages import Page, page_response
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.adapters.site_request import through_site
from ai_assistant.tools.data.access.model_admin import AdminAccess
from ai_assistant.tools.data.writing.page_post import PagePost, can_watch

logger = logging.getLogger("ai_assistant")


def takes_post(page: AdminAccess) -> bool:
    """
    Return whether a page would be saved; one of Django's always would.

    One of the site's own is posted without values, and ends before it saves.
    """
    try:
        if not page.is_custom_page():
            return True
        if not can_watch(page):
            return False
        PagePost(page).look()
    except ToolFailed:
        return False
    except Exception:  # code of the site
        logger.exception("the page %r could not be posted", page.request.path)
        return False
    return True


def may_confirm(page: AdminAccess, obj: Model) -> bool:
    """Return whether the page of a deletion would delete the object if asked to."""
    admin, request = page.model_admin, page.request
    # What protects it may go before it: the undo knows that itself.
    needed = value_or({True}, lambda: admin.get_deleted_objects([obj], request)[2])
    if needed:
        return False
    try:
        if not page.is_custom_page():
            return True
    except ToolFailed:
        return False
    # Without a confirmation it asks for one.
    using = router.db_for_write(page.model)
    with transaction.atomic(using=using):
        ask = partial(through_site, request, lambda: page_response(request))
        response = value_or(None, ask, "the page %r could not be posted", request.path)
        transaction.set_rollback(True, using=using)
    return getattr(response, "status_code", None) == 200


def posted(page: AdminAccess) -> AdminAccess:
    """Return the access to a page with a request that saves it."""
    request = copy(page.request)
    request.method = "POST"
    request.META = {**request.META, "REQUEST_METHOD": "POST"}
    return replace(page, request=request)


def posting(
    access: AdminAccess | None, key: Any, page: Page = "change"
) -> AdminAccess | None:
    """Return the access to the page of an object with a request that saves it."""
    return None if access is None else posted(access.at_object(key, page))


def with_proxies(model: Any) -> Iterator[Any]:
    """Yield a model, and its proxies: an admin may have these alone."""
    yield model
    for one in apps.get_models():
        if one._meta.proxy and one._meta.concrete_model is model:
            yield one


def as_its_admin_has_it(obj: Any, access: AdminAccess | None) -> Any:
    """Return the object; of the proxy, if that is what the admin has."""
    if access is None or isinstance(obj, access.model):
        return obj
    shown = copy(obj)
    shown.__class__ = access.model
    return shown
