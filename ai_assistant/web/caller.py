"""Who calls: a person with a session, or a program with a token."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.translation import gettext as _

from ai_assistant.exceptions import Refused
from ai_assistant.models.token import AccessToken
from ai_assistant.safety.audit import request_ip
from ai_assistant.safety.identity import SessionStamp, stamp
from ai_assistant.safety.permissions import may_use, may_view
from ai_assistant.safety.tokens import find, note_use, stamp_of

SCHEME = "bearer"


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """`scopes` is None for a person, who may do what permissions say."""

    user: Any
    stamp: SessionStamp
    scopes: Collection[str] | None = None

    def check_scope(self, scope: str) -> None:
        """Raise Refused forbidden if the token is not for this."""
        if self.scopes is not None and scope not in self.scopes:
            raise Refused(
                "scope",
                _("This access token has no scope “%(scope)s”.") % {"scope": scope},
            )


class _CsrfCheck(CsrfViewMiddleware):
    """Returns the reason instead of a page."""

    def _reject(self, _request: HttpRequest, reason: str) -> Any:  # noqa: ANN401
        return reason


def identify(request: HttpRequest, scope: str) -> Caller:
    """
    Return who calls, and make it `request.user`. Asks the database.

    Raise Refused: signed_out without a session or a good token, csrf, permission,
    scope. Views that ask this are exempt from the middleware's own CSRF check: a
    token needs none, a session has it here.
    """
    caller = _by_token(request) or _by_session(request)
    allowed = may_view if scope == AccessToken.Scope.READ else may_use
    if not allowed(caller.user):
        raise Refused(
            "permission",
            _("You have no permission for this. Ask whoever runs this site."),
        )
    caller.check_scope(scope)
    return caller


def _by_token(request: HttpRequest) -> Caller | None:
    scheme, _space, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != SCHEME:
        return None
    token = find(secret.strip())
    if token is None:
        raise Refused(
            "signed_out", _("This access token is unknown, revoked or expired.")
        )
    note_use(token)
    request.user = token.user
    ip = request_ip(request.META.get("REMOTE_ADDR") or "")
    return Caller(user=token.user, stamp=stamp_of(token, ip), scopes=token.scopes)


def _by_session(request: HttpRequest) -> Caller:
    if not request.user.is_authenticated:
        raise Refused("signed_out", _("Sign in, or send an access token."))
    if reason := _csrf_fault(request):
        raise Refused("csrf", _("The CSRF check failed: %(why)s") % {"why": reason})
    return Caller(user=request.user, stamp=stamp(request))


def _csrf_fault(request: HttpRequest) -> str:
    check = _CsrfCheck(_answer)
    check.process_request(request)
    return str(check.process_view(request, _answer, (), {}) or "")


def _answer(_request: HttpRequest) -> HttpResponse:
    """Stand in for the view: the check asks only whether it is exempt."""
    return HttpResponse()
