"""What all views have in common."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

from django.db import transaction
from django.http import HttpRequest
from pydantic import BaseModel
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ai_assistant.models.token import AccessToken
from ai_assistant.types import UserKey
from ai_assistant.web.caller import Caller
from ai_assistant.web.cors import allow, preflight
from ai_assistant.web.rest.authentication import CallerAuthentication
from ai_assistant.web.rest.errors import problem_answer
from ai_assistant.web.rest.negotiation import JSONAnswer, JSONBody, Negotiation
from ai_assistant.web.rest.reading import Query, read_query
from ai_assistant.web.rest.throttles import CallerThrottle, WriteThrottle

Scope = AccessToken.Scope


class ApiView(APIView):
    """Depends on no setting of the site's own API, and is not in its document."""

    authentication_classes = (CallerAuthentication,)
    permission_classes = ()  # who calls is asked for what it needs
    throttle_classes = (CallerThrottle, WriteThrottle)
    parser_classes = (JSONBody,)
    renderer_classes = (JSONAnswer,)
    content_negotiation_class = Negotiation
    versioning_class = None
    metadata_class = None
    schema = None
    write_scope: ClassVar[str] = Scope.RUN

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:  # noqa: ANN401 - see the stubs
        """Return the view; the engine's units must not lie in one of the site's."""
        return transaction.non_atomic_requests(super().as_view(**initkwargs))

    @classmethod
    def scope_of(cls, method: str) -> str:
        """Return the scope that a token needs for `method`."""
        return str(Scope.READ if method in SAFE_METHODS else cls.write_scope)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Answer, and tell a browser whether the page of another site may read it."""
        asked = preflight(request)
        if asked is not None:
            return asked
        response = super().dispatch(request, *args, **kwargs)
        allow(request, response)
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        """Refuse a method that is not there before anything is asked."""
        if str(request.method) not in self.allowed_methods:
            raise MethodNotAllowed(str(request.method))
        super().initial(request, *args, **kwargs)
        if request.method not in SAFE_METHODS:
            read_query(request, Query)

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:  # noqa: ANN401
        """Refuse it: the document tells what there is."""
        raise MethodNotAllowed("OPTIONS")

    @property
    def allowed_methods(self) -> list[str]:
        """The methods of this address."""
        return [one for one in super().allowed_methods if one != "OPTIONS"]

    def get_exception_handler(self) -> Callable[[Exception, Any], Response]:
        """Return ours, whatever the site has for its own API."""
        return problem_answer


def caller_of(request: Request) -> Caller:
    """Return who calls."""
    return cast("Caller", request.auth)


def user_key(request: Request) -> UserKey:
    """Return the key of the user who calls."""
    return caller_of(request).user.pk


def answered(
    shape: BaseModel, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return `shape` as the answer."""
    return Response(shape, status=status, headers=dict(headers or {}))
