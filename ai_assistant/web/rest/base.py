"""What all views have in common: who, what is read and written, how often."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import IO, Any, ClassVar, TypeVar, cast

from asgiref.sync import async_to_sync
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model, QuerySet
from django.forms import Field
from django.utils.translation import gettext as _
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import MethodNotAllowed, ValidationError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.utils import json
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from ai_assistant import conf
from ai_assistant.engine.queries import get_or_404
from ai_assistant.exceptions import Refused
from ai_assistant.models.token import AccessToken
from ai_assistant.request_context import to_the_end
from ai_assistant.types import UserKey
from ai_assistant.web.principal import Caller, authenticate
from ai_assistant.web.problems import CHALLENGE, CONTENT_TYPE
from ai_assistant.web.rest.errors import problem_answer
from ai_assistant.web.rest.lists import (
    FilterBackend,
    SignedCursorPagination,
    names_of,
    ordering_of,
)
from ai_assistant.web.rest.serializers import Body

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
M = TypeVar("M", bound=Model)

Scope = AccessToken.Scope


class CallerAuthentication(BaseAuthentication):
    """A session with CSRF, or an access token; `request.auth` is the Caller."""

    def authenticate(self, request: Request) -> tuple[Any, Caller]:
        """Return the user and the caller. Raise Refused signed_out or csrf."""
        caller = authenticate(request._request)  # noqa: SLF001
        return caller.user, caller

    def authenticate_header(self, request: Request) -> str:
        """Return what is asked of a program without a token."""
        return CHALLENGE


class CallerPermission(BasePermission):
    """Whether the user may use the assistant, and the token is for this."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return True. Raise Refused permission or scope."""
        caller_of(request).authorize(view.scope_of(str(request.method)))
        return True


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


SEVERAL = "allow_multiple_selected"  # what Django's widgets say of themselves
BYTES_A_CHARACTER = 12  # as two \u escapes
BYTES_BESIDE = 64 * 1024  # of a body, for all but its text


class Negotiation(DefaultContentNegotiation):
    """Goes by the header `Accept`; a parameter for it is a mistake like any other."""

    settings = SimpleNamespace(URL_FORMAT_OVERRIDE=None)


class BodyParser(BaseParser):
    """Reads JSON in UTF-8, as much of it as a message can need."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the values. Raise Refused too_large or bad_request."""
        limit = (
            BYTES_A_CHARACTER * int(conf.get("LIMITS", "MESSAGE_CHARS")) + BYTES_BESIDE
        )
        body: bytes = stream.read(limit + 1)
        if len(body) > limit:
            sentence = _("A request may have at most %(most)d bytes.") % {"most": limit}
            raise Refused("too_large", sentence)
        try:
            values = json.loads(body.decode() or "{}")
            json.dumps(values, ensure_ascii=False).encode()  # refuses a lone surrogate
        except (ValueError, RecursionError) as error:
            sentence = _("The body is not JSON: %(why)s.") % {"why": error}
            raise Refused("bad_request", sentence) from error
        return values


class AnswerRenderer(JSONRenderer):
    """Writes JSON, whatever the site has for its own API."""

    ensure_ascii = False
    compact = True
    strict = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """What an action takes and answers, beside what its view says of all of them."""

    id: str = ""  # of the document; without it the names of view and action
    query: type[BaseSerializer[Any]] | None = None
    body: type[Body] | None = None
    takes_key: bool = False  # the header Idempotency-Key
    is_list: bool = False  # its rows are chosen by the filters of the view
    answers: Mapping[int, Any] = field(default_factory=dict)  # by status
    problems: tuple[str, ...] = ()  # codes that only this action answers
    example: Mapping[str, Any] | None = None  # of the body


def operation(**fields: Any) -> Callable[[F], F]:
    """Say what an action takes and answers: fields of Operation."""

    def describe(action: F) -> F:
        action.operation = Operation(**fields)  # type: ignore[attr-defined]
        return action

    return describe


class ApiView(APIView):
    """Depends on no setting of the site's own API, and is not in its document."""

    authentication_classes = (CallerAuthentication,)
    permission_classes = (CallerPermission,)
    throttle_classes = (CallerThrottle, WriteThrottle)
    parser_classes = (BodyParser,)
    renderer_classes = (AnswerRenderer,)
    content_negotiation_class = Negotiation
    versioning_class = None
    metadata_class = None
    schema = None
    http_method_names = ("get", "head", "post", "patch", "delete")
    write_scope: ClassVar[str] = Scope.RUN

    @classmethod
    def scope_of(cls, method: str) -> str:
        """Return the scope that a token needs for `method`."""
        return str(Scope.READ if method in SAFE_METHODS else cls.write_scope)

    def operation_of(self, method: str) -> Operation:
        """Return what the action for `method` takes and answers, also if overridden."""
        name = getattr(self, "action", None) or method.lower().replace("head", "get")
        for kind in type(self).__mro__:
            if declared := getattr(vars(kind).get(name), "operation", None):
                return cast("Operation", declared)
        return Operation(is_list=name == "list")

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a method that is not there before anything is asked."""
        if str(request.method) not in self.allowed_methods:
            raise MethodNotAllowed(str(request.method))
        super().initial(request, *args, **kwargs)
        self.check_parameters(request)

    def check_parameters(self, request: Request) -> None:
        """Refuse parameters that are unknown, empty or there twice."""
        parameters, known_names = request.query_params, self.known_parameters()
        for name in parameters:
            if name not in known_names:
                raise _unknown(name, known_names)
            if len(parameters.getlist(name)) > 1 and not self.takes_several(name):
                raise ValidationError({name: [_("it is given twice")]})
            if not parameters[name]:
                raise ValidationError(
                    {name: [Field.default_error_messages["required"]]}
                )

    def known_parameters(self) -> set[str]:
        """Return the names of the parameters of this action."""
        query = self.operation_of(str(self.request.method)).query
        return set(query().fields) if query else set()  # type: ignore[attr-defined]

    def takes_several(self, name: str) -> bool:
        """Return whether a parameter may be there more than once."""
        return False

    def read_query(self) -> dict[str, Any]:
        """Return the parameters that are no filters. Raise ValidationError."""
        query = self.operation_of("get").query
        return _validated(query, self.request.query_params.dict())

    def read_body(self) -> dict[str, Any]:
        """Return the fields of the body. Raise ValidationError."""
        body = self.operation_of(str(self.request.method)).body
        return _validated(body, self.request.data)

    def serializer_of(self, kind: Any) -> Any:
        """Return `kind`, or the class derived from it that the view names in its place."""
        own = getattr(self, "serializer_class", None)
        if own is not None and isinstance(self, GenericViewSet):
            own = self.get_serializer_class()
        return own if own is not None and issubclass(own, kind) else kind

    def answer_with(
        self, kind: Any, row: Any, status: int = 200, location: str = ""
    ) -> Response:
        """Return the answer with a row, as `serializer_of` tells it."""
        context = {"request": self.request, "view": self}
        payload = self.serializer_of(kind)(row, context=context).data
        headers = {"Location": location} if location else None
        return Response(payload, status, headers=headers)

    def own_row(self, rows: "QuerySet[M]", key: Any) -> M:
        """Return a row, if the permissions of the view let it be acted on."""
        row = get_or_404(rows, key)
        self.check_object_permissions(self.request, row)
        return row

    def get_exception_handler(self) -> Callable[[Exception, Any], Response]:
        """Return the assistant's handler, whatever the site has for its own API."""
        return problem_answer

    def finalize_response(
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Return the response; a problem is JSON, however the view writes answers."""
        final: Any = super().finalize_response(request, response, *args, **kwargs)
        if getattr(final, "content_type", None) == CONTENT_TYPE:
            final.accepted_renderer = AnswerRenderer()
            final.accepted_media_type = AnswerRenderer.media_type
        return final


class NoSchemaView(ApiView):
    """Stands where the document would be, on a site without drf-spectacular."""

    def get(self, request: Request) -> Response:
        """Raise Refused needs_schema."""
        sentence = _(
            "This site has no document of its API: drf-spectacular is not installed."
        )
        raise Refused("needs_schema", sentence)


class ApiViewSet(ApiView, GenericViewSet[Any]):
    """Rows of the user who calls, which are read by their id."""

    filter_backends = (FilterBackend,)
    pagination_class = SignedCursorPagination
    lookup_field = "pk"
    lookup_url_kwarg = "id"
    lookup_value_converter = "uuid"
    ordering: ClassVar[tuple[str, ...]] = ("-created_at", "-pk")

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows; in the order of the view, unless a filter orders them."""
        rows = super().filter_queryset(queryset)
        return rows if rows.query.order_by else rows.order_by(*ordering_of(self))

    def known_parameters(self) -> set[str]:
        """Return the names of filters and pages too, if the action answers a list."""
        names = super().known_parameters()
        if not self.operation_of(str(self.request.method)).is_list:
            return names
        parts = [backend() for backend in self.filter_backends]
        if self.action == "list":
            parts.append(self.paginator)
        for part in parts:
            tell = getattr(part, "get_schema_operation_parameters", None)
            names |= {parameter["name"] for parameter in tell(self)} if tell else set()
        return names.union(
            *(names_of(name, one) for name, one in self._filter_fields())
        )

    def takes_several(self, name: str) -> bool:
        """Return whether a filter takes several values of that name."""
        field: Any = dict(self._filter_fields()).get(name)
        return bool(getattr(getattr(field, "widget", None), SEVERAL, False))

    def _filter_fields(self) -> list[tuple[str, Field]]:
        """Return the fields of all sets of filters, by the names of their parameters."""
        found: list[tuple[str, Field]] = []
        own: Any = getattr(self, "queryset", None)
        rows = self.get_queryset() if own is None else own
        for backend in (kind() for kind in self.filter_backends):
            make: Any = getattr(backend, "get_filterset", None)
            made = make(self.request, rows, self) if make else None
            if made is not None:
                fields = made.form.fields.items()
                found += [(made.form.add_prefix(name), one) for name, one in fields]
        return found


def _validated(kind: Any, data: Any) -> dict[str, Any]:
    serializer = kind(data=data)
    serializer.is_valid(raise_exception=True)
    values: dict[str, Any] = serializer.validated_data
    return values


def _unknown(name: str, known_names: set[str]) -> Refused:
    names = ", ".join(f"“{parameter}”" for parameter in sorted(known_names))
    sentence = _("There is no parameter “%(name)s”.") % {"name": name[:80]}
    if names:
        sentence += " " + _("Use one of: %(known)s.") % {"known": names}
    return Refused("unknown_parameter", sentence)


def caller_of(request: Request) -> Caller:
    """Return who calls. Raise ImproperlyConfigured if an authentication does not say."""
    if not isinstance(request.auth, Caller):
        raise ImproperlyConfigured(
            "Each of authentication_classes must return a Caller beside the user: "
            "derive it from ai_assistant.web.rest.base.CallerAuthentication."
        )
    return request.auth


def user_key(request: Request) -> UserKey:
    """Return the key of the user who calls."""
    return caller_of(request).user.pk


def carry_out(work: Coroutine[Any, Any, T]) -> T:
    """
    Do `work` on the loop of the server, and return what it returns.

    What has begun is done to its end, also when the client has gone. Without a loop
    that stays, as under WSGI, it has one of its own.
    """
    return async_to_sync(to_the_end)(work)
