from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from ai_assistant.web.caller import Caller, identify
from ai_assistant.web.problems import CHALLENGE


class CallerAuthentication(BaseAuthentication):
    """
    A session with CSRF, or an access token; `request.auth` is the Caller.

    Raise Refused: signed_out, csrf, permission, scope.
    """

    def authenticate(self, request: Request) -> tuple[Any, Caller]:
        """Return the user and the caller."""
        view = request.parser_context["view"]
        caller = identify(request._request, view.scope_of(str(request.method)))  # noqa: SLF001
        return caller.user, caller

    def authenticate_header(self, request: Request) -> str:
        """Return what is asked of a program without a token."""
        return CHALLENGE
