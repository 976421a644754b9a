"""What of the site's API is never opted in, and what by name only."""

import re
from collections.abc import Iterable
from typing import Any

from django.contrib.admin.sites import all_sites
from rest_framework.authentication import SessionAuthentication

from ai_assistant.safety.policy.sensitive import (
    is_opted_out,
    is_read_only,
    is_sensitive_model,
)
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.api.endpoints import Endpoint
from ai_assistant.types import WRITING, Effect

# Words of an address that signs in or out, or gives away a secret.
SIGNS = re.compile(
    r"(^|[/_.:-])((log|sign)[_-]?(in|out|off|on)|auth[_-]?tokens?|tokens?|jwt|otp|mfa|"
    r"2fa|passwords?|passwd|hijack|impersonate|oauth2?)($|[/_.:-])"
)
NEVER = (
    *("ai_assistant", "allauth", "dj_rest_auth", "djoser", "drf_spectacular"),
    *("drf_yasg", "knox", "oauth2_provider", "rest_framework.authtoken"),
    *("rest_framework.schemas", "rest_framework_jwt", "rest_framework_simplejwt"),
)

BY_OTHERS = "its authenticators accept no session"
KEPT = "its model is kept from the assistant"
READ_ONLY = "its model is read-only for the assistant"


def is_never(endpoint: Endpoint) -> bool:
    """Return whether it is our own, signs in or out, or hands out tokens."""
    modules = [f"{base.__module__}." for base in endpoint.callback.cls.__mro__]
    known = tuple(f"{name}." for name in NEVER)
    if any(module.startswith(known) for module in modules):
        return True
    if "ai_assistant" in endpoint.apps:
        return True
    names = (endpoint.path, endpoint.url_name, endpoint.action)
    return any(SIGNS.search(name.lower()) for name in names)


def only_by_name(
    endpoint: Endpoint, effect: Effect | None, models: Iterable[Any]
) -> str:
    """Return why a wildcard does not opt it in; empty if it does."""
    own = list(models)
    if any(map(_is_kept, own)):
        return KEPT
    if effect in WRITING and any(map(_is_read_only, own)):
        return READ_ONLY
    return "" if any(map(is_of_session, authenticators(endpoint))) else BY_OTHERS


def authenticators(endpoint: Endpoint) -> list[Any]:
    """Return what tells a view who asks."""
    nothing: list[Any] = []
    view = endpoint.view()
    return value_or(nothing, lambda: list(view.get_authenticators()))


def is_of_session(authenticator: Any) -> bool:
    """Return whether an authenticator takes the session of a page."""
    return isinstance(authenticator, SessionAuthentication)


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
