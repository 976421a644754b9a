"""What all views have in common: who, what is read and written, how often."""

import json
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import IO, Any, ClassVar, cast

from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _
from pydantic import BaseModel
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from ai_assistant import conf
from ai_assistant.exceptions import Refused
from ai_assistant.models.token import AccessToken
from ai_assistant.types import UserKey
from ai_assistant.web.cors import allow, preflight
from ai_assistant.web.principal import Caller, identify
from ai_assistant.web.problems import CHALLENGE
from ai_assistant.web.rest.errors import problem_answer
from ai_assistant.web.rest.reading import Query, read_query


class CallerThrottle(SimpleRateThrottle):
    """`setting` names the rate; one that is empty limits nothing."""

    setting = "API"
    scope = "all"

    def get_rate(self) -> str | None:
        """Return the rate, as the site has it now."""
        return conf.get("RATES", self.setting) or None

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        """Return the key of this user's count."""
        return f"ai_assistant.api.{self.scope}.{request.user.pk}"


class WriteThrottle(CallerThrottle):
    """Counts only what starts, stops, answers, changes or deletes."""

    setting = "API_WRITE"
    scope = "write"

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        """Return the key of this user's count; None for what only reads."""
        if request.method in SAFE_METHODS:
            return None
        return super().get_cache_key(request, view)


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


BYTES_A_CHARACTER = 12  # as two \u escapes
BYTES_BESIDE = 64 * 1024  # of a body, for all but its text


class Negotiation(DefaultContentNegotiation):
    """Goes by the header `Accept`; a parameter for it is a mistake like any other."""

    settings = SimpleNamespace(URL_FORMAT_OVERRIDE=None)  # type: ignore[assignment]


class JSONBody(BaseParser):
    """Returns the bytes of a JSON body: a model reads them, and says what is wrong."""

    media_type = "application/json"

    def parse(  # type: ignore[override]  # what it returns is `request.data`
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Return the bytes. Raise Refused too_large."""
        most = (
            BYTES_A_CHARACTER * int(conf.get("LIMITS", "MESSAGE_CHARS")) + BYTES_BESIDE
        )
        body: bytes = stream.read(most + 1)
        if len(body) > most:
            sentence = _("A request may have at most %(most)d bytes.") % {"most": most}
            raise Refused("too_large", sentence)
        return body


class JSONAnswer(BaseRenderer):
    """Writes a model, or a dict of plain values."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Return UTF-8; nothing for None."""
        if data is None:
            return b""
        if isinstance(data, BaseModel):
            return data.model_dump_json().encode()
        return json.dumps(data, ensure_ascii=False).encode()


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
    def as_view(cls, **initkwargs: Any) -> Any:
        """Return the view; the engine's units must not lie in one of the site's."""
        return transaction.non_atomic_requests(super().as_view(**initkwargs))

    @classmethod
    def scope_of(cls, method: str) -> str:
        """Return the scope that a token needs for `method`."""
        return str(Scope.READ if method in SAFE_METHODS else cls.write_scope)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Answer, and tell a browser whether the page of another site may read it."""
        asked = preflight(request)
        if asked is not None:
            return asked
        response = super().dispatch(request, *args, **kwargs)
        allow(request, response)
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a method that is not there before anything is asked."""
        if str(request.method) not in self.allowed_methods:
            raise MethodNotAllowed(str(request.method))
        super().initial(request, *args, **kwargs)
        if request.method not in SAFE_METHODS:
            read_query(request, Query)

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
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
