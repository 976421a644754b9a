"""What of the site's API is never opted in, and what by name only."""

import re
from collections.abc import Iterable
from typing import Any

from django.contrib.admin.sites import all_sites
from django.utils.translation import gettext_noop

from ai_assistant.safety.policy.sensitive import (
    is_opted_out,
    is_read_only,
    is_sensitive_model,
)
from ai_assistant.tools.api.patterns import Address
from ai_assistant.types import WRITING, Effect

# Words of an address that signs in or out, or gives away a secret.
SIGNS = re.compile(
    r"(^|[/_.:-])((log|sign)[_-]?(in|out|off|on)|auth[_-]?tokens?|tokens?|jwt|otp|mfa|"
    r"2fa|passwords?|passwd|hijack|impersonate|oauth2?)($|[/_.:-])"
)
NEVER = (
    *("ai_assistant", "allauth", "dj_rest_auth", "djoser", "drf_spectacular"),
    *("drf_yasg", "knox", "ninja_jwt", "oauth2_provider", "rest_framework.authtoken"),
    *("rest_framework.schemas", "rest_framework_jwt", "rest_framework_simplejwt"),
)

# In English for the checks; the page of what is registered translates them.
BY_OTHERS = gettext_noop("its authenticators accept no session")
KEPT = gettext_noop("its model is kept from the assistant")
READ_ONLY = gettext_noop("its model is read-only for the assistant")


def is_never(address: Address, modules: Iterable[str], *names: str) -> bool:
    """
    Return whether it is our own, signs in or out, or hands out tokens.

    `modules` are those of its code, `names` what it is called besides its address.
    """
    known = tuple(f"{name}." for name in NEVER)
    if any(f"{module}.".startswith(known) for module in modules):
        return True
    if "ai_assistant" in address.apps:
        return True
    own = (address.path, address.url_name, address.action, *names)
    return any(SIGNS.search(name.lower()) for name in own)


def only_by_name(
    effect: Effect | None, models: Iterable[Any], *, takes_session: bool
) -> str:
    """Return why a wildcard does not opt it in; empty if it does."""
    own = list(models)
    if any(map(_is_kept, own)):
        return KEPT
    if effect in WRITING and any(map(_is_read_only, own)):
        return READ_ONLY
    return "" if takes_session else BY_OTHERS


def _is_kept(model: Any) -> bool:
    return is_sensitive_model(model) or any(
        is_opted_out(model, own) for own in _admins(model)
    )


def _is_read_only(model: Any) -> bool:
    return any(is_read_only(model, own) for own in _admins(model))


def _admins(model: Any) -> list[Any]:
    """Return the ModelAdmins of a model; None for one that is in no admin."""
    found = [site._registry.get(model) for site in all_sites]
    return [one for one in found if one is not None] or [None]
