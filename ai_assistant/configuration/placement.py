"""Whether something that a site configures applies on a page, for a person."""

from fnmatch import fnmatchcase
from typing import Any

from django.utils.translation import get_language

from ai_assistant.safety.identity.permissions import groups_of
from ai_assistant.safety.site_code import value_or
from ai_assistant.types import Placement, RunContext


def applies(placement: Placement, context: RunContext, name: str = "") -> bool:
    """
    Return whether it applies to the page and the user of `context`.

    What costs nothing is looked at first. Code of the site that raises says no; the
    log names it by `name`.
    """
    return (
        _is_of_page(placement, context)
        and _is_of_language(placement.language)
        and is_of_user(placement, context.user)
        and _is_available(placement, context, name)
    )


def _is_of_page(placement: Placement, context: RunContext) -> bool:
    page = context.page
    if placement.module and placement.module != context.module:
        return False
    app, _dot, model = placement.model.lower().partition(".")
    if app and app != page.app_label.lower():
        return False
    if model and model != page.model_name.lower():
        return False
    view = placement.view
    return not view or view == page.action or fnmatchcase(page.view_name, view)


def _is_of_language(language: str) -> bool:
    if not language:
        return True
    active = (get_language() or "").lower()
    wanted = language.lower()
    return active == wanted or active.startswith(f"{wanted}-")


def is_of_user(placement: Placement, user: Any) -> bool:
    """Return whether it applies to the user, on one page or another."""
    if placement.permission and not user.has_perm(placement.permission):
        return False
    return not placement.group or placement.group in group_names(user)


def group_names(user: Any) -> frozenset[str]:
    """Return the names of the user's groups; of a user object, the database is asked once."""
    return frozenset(groups_of(user).values())


def _is_available(placement: Placement, context: RunContext, name: str) -> bool:
    available = placement.available
    if available is None:
        return True
    failed = "`available` of %r failed"
    return value_or(False, lambda: bool(available(context)), failed, name)
