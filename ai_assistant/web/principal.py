"""Who calls: a person with a session, or a program with a token."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from ai_assistant.configuration.rows import refresh
from ai_assistant.exceptions import Refused
from ai_assistant.safety.audit import request_ip
from ai_assistant.safety.identity.permissions import may_use, may_view
from ai_assistant.safety.identity.session import SessionStamp, session_stamp
from ai_assistant.safety.identity.tokens import (
    Scope,
    State,
    find_token,
    note_refusal,
    note_use,
    stamp_of,
    state_of,
)
from ai_assistant.safety.limits import check_unknown

SCHEME = "bearer"


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """`scopes` is None for a person, who may do what permissions say."""

    user: Any
    stamp: SessionStamp
    scopes: Collection[str] | None = None

    def has_scope(self, scope: str) -> bool:
        """Return whether the token is for this; a person has no need of one."""
        return self.scopes is None or scope in self.scopes

    @property
    def may_answer(self) -> bool:
        """Whether the caller may answer what a run waits for."""
        return self.has_scope(Scope.APPROVE)

    def authorize(self, scope: str) -> None:
        """Raise Refused permission or scope if the caller may not do this."""
        allowed = may_view if scope == Scope.READ else may_use
        if not allowed(self.user):
            raise Refused(
                "permission",
                _("You have no permission for this. Ask whoever runs this site."),
            )
        self.check_scope(scope)

    def check_scope(self, scope: str) -> None:
        """Raise Refused scope if the token is not for this."""
        if not self.has_scope(scope):
            raise Refused(
                "scope",
                _("This access token has no scope “%(scope)s”.") % {"scope": scope},
            )


class _CsrfCheck(CsrfViewMiddleware):
    """Returns the reason instead of a page."""

    def _reject(self, _request: HttpRequest, reason: str) -> Any:
        return reason


def identify(request: HttpRequest, scope: str) -> Caller:
    """
    Return who calls, and make it `request.user`. Asks the database.

    Raise Refused: signed_out without a session or a good token, csrf, permission,
    scope; Limited after many unknown tokens. Views that ask this are exempt from the middleware's own CSRF check: a
    token needs none, a session has it here.
    """
    caller = authenticate(request)
    caller.authorize(scope)
    return caller


def authenticate(request: HttpRequest) -> Caller:
    """Return who calls, whatever they may. Raise Refused signed_out or csrf; Limited."""
    caller = _by_token(request) or _by_session(request)
    refresh()
    return caller


@sensitive_variables("secret")
def _by_token(request: HttpRequest) -> Caller | None:
    scheme, _space, secret = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != SCHEME:
        return None
    token = find_token(secret.strip())
    if token is None:
        check_unknown(request.META.get("REMOTE_ADDR") or "")
        raise Refused("signed_out", _("This access token is unknown."))
    state, ip = state_of(token), request_ip(request)
    if state != State.GOOD:
        note_refusal(token, state, ip)
        raise Refused("signed_out", _refusal(state))
    note_use(token)
    _let_be(request, token.user)
    return Caller(user=token.user, stamp=stamp_of(token, ip), scopes=token.scopes)


def _refusal(state: State) -> str:
    sentences = {
        State.REVOKED: _("This access token was revoked."),
        State.EXPIRED: _("This access token has expired. Create a new one."),
        State.DEACTIVATED: _("The account of this access token was deactivated."),
        State.PASSWORD: _(
            "The password was changed after this token was created. Create a new one."
        ),
    }
    return sentences[state]


def _let_be(request: HttpRequest, user: Any) -> None:
    """Let `user` be the request's, whoever is signed in by a cookie beside."""

    async def auser() -> Any:
        return user

    request.user = user
    request.auser = auser


def _by_session(request: HttpRequest) -> Caller:
    if not request.user.is_authenticated:
        raise Refused("signed_out", _("Sign in, or send an access token."))
    if reason := _csrf_fault(request):
        raise Refused("csrf", _("The CSRF check failed: %(why)s") % {"why": reason})
    return Caller(user=request.user, stamp=session_stamp(request))


def _csrf_fault(request: HttpRequest) -> str:
    check = _CsrfCheck(_answer)
    check.process_request(request)
    return str(check.process_view(request, _answer, (), {}) or "")


def _answer(_request: HttpRequest) -> HttpResponse:
    """Stand in for the view: the check asks only whether it is exempt."""
    return HttpResponse()
