"""
Pages of a ModelAdmin that are code of the site.

A view that the site has overridden may refuse what no permission forbids, or show
less. It is asked itself then, with a request of the user; what it writes meanwhile is
taken back.
"""

import logging
from copy import copy
from typing import Any, Literal

from django.contrib.messages.storage.cookie import CookieStorage
from django.core.exceptions import PermissionDenied
from django.db import router, transaction
from django.http import Http404, HttpRequest, HttpResponse

logger = logging.getLogger("ai_assistant")

Page = Literal["add", "change", "delete", "history", "changelist"]

VIEWS: dict[str, tuple[str, ...]] = {
    "add": ("add_view", "changeform_view", "_changeform_view"),
    "change": ("change_view", "changeform_view", "_changeform_view"),
    "delete": ("delete_view", "_delete_view"),
    "history": ("history_view",),
    "changelist": ("changelist_view",),
}
OF_DJANGO = "django.contrib.admin."


def is_overridden(model_admin: Any, *names: str) -> bool:  # noqa: ANN401
    """Tell whether one of these methods of the ModelAdmin is code of the site."""
    own = type(model_admin)
    return any(
        name in vars(model_admin)
        or not getattr(getattr(own, name), "__module__", "").startswith(OF_DJANGO)
        for name in names
    )


def is_own_page(model_admin: Any, request: HttpRequest, page: Page) -> bool:  # noqa: ANN401
    """Tell whether the page of the request, which has a match, is code of the site."""
    match: Any = request.resolver_match
    own = getattr(match.func, "model_admin", None)
    return own is not model_admin or is_overridden(model_admin, *VIEWS[page])


def shown_page(model_admin: Any, request: HttpRequest) -> Any:  # noqa: ANN401 - a response
    """
    Return the answer of the page of `request` to somebody who looks at it.

    None if it does not open. Its template is not drawn, and what it writes is taken
    back: nobody has decided to open it.
    """
    asked = copy(request)
    asked.method = "GET"
    asked.META = {**request.META, "REQUEST_METHOD": "GET"}
    if not hasattr(asked, "_messages"):
        asked._messages = CookieStorage(asked)  # type: ignore[attr-defined] # noqa: SLF001
    using = router.db_for_write(model_admin.model)
    try:
        with transaction.atomic(using=using):
            response: Any = answer(asked)
            transaction.set_rollback(True, using=using)
    except (PermissionDenied, Http404):
        return None
    except Exception:  # code of the site, which may need more than there is
        logger.exception("the page %r could not be asked", request.path)
        return None
    opens = response.status_code == 200 and hasattr(response, "context_data")
    return response if opens else None


def answer(request: HttpRequest) -> HttpResponse:
    """Return what the page of `request` answers. Raise what its code raises."""
    match: Any = request.resolver_match  # set where the request was made
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined] # noqa: SLF001
    return match.func(request, *match.args, **match.kwargs)  # type: ignore[no-any-return]
