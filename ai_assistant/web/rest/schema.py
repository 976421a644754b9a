"""
The OpenAPI document of the API, made by drf-spectacular (the extra `schema`).

It is made apart from the document of the site's own API, and changes nothing of that:
neither `SPECTACULAR_SETTINGS` nor the views, whose `schema` stays None.
"""

import inspect
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from types import SimpleNamespace
from typing import Any

from django.urls import reverse
from django.utils import translation
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import EndpointEnumerator, SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import get_class, get_doc, normalize_result_object
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from ai_assistant import __version__, conf
from ai_assistant.web.problems import CONTENT_TYPE, STATUS
from ai_assistant.web.rest.base import (
    ApiView,
    CallerAuthentication,
    Operation,
    operation,
)
from ai_assistant.web.rest.errors import ProblemSerializer
from ai_assistant.web.rest.routes import resolver
from ai_assistant.web.rest.serializers import Body
from ai_assistant.web.rest.starting import KEY_CHARS, KEY_HEADER

ABOUT = """\
What the caller may see and do with the assistant of this site: always their own rows,
never another user's. Programs send an access token, `Authorization: Bearer aia_…`;
a page of the site may use the session, and sends the header `X-CSRFToken`.

Every refusal is a problem (RFC 9457) with a `code` that stays and a `detail` for
people. Parameters and fields that are not told here are refused.
"""
JSON = "application/json"
NULL = {"type": "null"}
LIMITED = 429
ALWAYS = (
    *("unknown_parameter", "signed_out", "permission", "scope", "not_acceptable"),
    *("throttled", "limited"),
)
OF_BODIES = ("invalid", "bad_request", "too_large", "media_type")
KEY = OpenApiParameter(
    KEY_HEADER,
    {
        "type": "string",
        "minLength": 1,
        "maxLength": KEY_CHARS,
        "pattern": "^[\\x20-\\x7e]+$",
    },
    OpenApiParameter.HEADER,
    description="The same key and request a second time change nothing.",
)


class _CallerScheme(OpenApiAuthenticationExtension):
    target_class = CallerAuthentication
    name = ("token", "session")

    def get_security_requirement(self, auto_schema: Any) -> list[dict[str, Any]]:
        """Return that one of them is enough."""
        return [{"token": []}, {"session": []}]

    def get_security_definition(self, auto_schema: Any) -> list[dict[str, Any]]:
        """Return both ways in."""
        return [
            {"type": "http", "scheme": "bearer", "description": "An access token."},
            {
                "type": "apiKey",
                "in": "cookie",
                "name": "sessionid",
                "description": "A session of the site. What does not only read needs "
                "the header `X-CSRFToken` too.",
            },
        ]


class ApiSchema(AutoSchema):
    """Tells of an action what its Operation, its docstring and its view say."""

    @property
    def operation(self) -> Operation:
        """What the action takes and answers."""
        operation: Operation = self.view.operation_of(self.method)
        return operation

    @property
    def action(self) -> str:
        """The name of the action."""
        return getattr(self.view, "action", None) or self.method.lower()

    def get_operation_id(self) -> str:
        """Return the name of the operation."""
        basename = getattr(self.view, "basename", None) or type(self.view).__name__
        name, _dash, nested = basename.partition("-")
        verb = {"retrieve": "read"}.get(self.action, self.action)
        return self.operation.id or f"{name}_{nested or verb}"

    def get_tags(self) -> list[str]:
        """Return the first word of the name."""
        return [self.get_operation_id().partition("_")[0]]

    def get_summary(self) -> str:
        """Return the first line of the docstring."""
        return self._words()[0]

    def get_description(self) -> str:
        """Return the rest of it, and the scope that is needed."""
        scope = self.view.scope_of(self.method)
        return f"{self._words()[1]}\n\nScope of a token: `{scope}`.".strip()

    def _words(self) -> tuple[str, str]:
        function = getattr(self.view, self.action)
        is_own = not function.__module__.startswith("rest_framework")
        docstring = inspect.getdoc(function if is_own else type(self.view)) or ""
        first, _break, body = docstring.partition("\n\n")
        if not is_own:  # the view names its rows: "The own runs, the newest first."
            rows = first.partition(",")[0].removeprefix("The ")
            first = f"{'List' if self.action == 'list' else 'Read one of'} the {rows}"
        return first.rstrip("."), body

    def get_override_parameters(self) -> list[Any]:
        """Return the parameters that are no filters, and the header of a repeat."""
        query = [self.operation.query] if self.operation.query else []
        return [*query, *([KEY] if self.operation.takes_key else [])]

    def get_filter_backends(self) -> list[Any]:
        """Return what chooses the rows, where that is done."""
        return list(self.view.filter_backends) if self.operation.is_list else []

    def _get_request_body(self, direction: Any = "request") -> dict[str, Any] | None:
        """Return the body: it is read whole, also by a PATCH."""
        operation = self.operation
        if operation.body is None:
            return None
        content = {"schema": self.resolve_serializer(operation.body, direction).ref}
        if operation.example:
            content["examples"] = {"Example": {"value": dict(operation.example)}}
        kinds = [parser.media_type for parser in self.view.parser_classes]
        return {"required": True, "content": dict.fromkeys(kinds, content)}

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> dict[str, Any]:
        """Return the schema; of a body it takes no other fields."""
        schema: dict[str, Any] = super()._map_basic_serializer(serializer, direction)
        if isinstance(serializer, Body):
            schema["additionalProperties"] = False
        return schema

    def get_response_serializers(self) -> dict[Any, Any]:
        """Return the answers, and the problems by their status."""
        answers = self.operation.answers or {200: self._get_serializer()}
        renderers = self.view.get_renderers()
        kinds = [one.media_type for one in renderers if one.format != "api"]
        codes = defaultdict(set)
        for code in self._codes():
            status = LIMITED if code == "limited" else STATUS.get(code, 400)
            codes[status].add(f"`{code}`")
        return {
            **{
                (status, kind): OpenApiResponse(
                    self._own(serializer), description=_about(serializer)
                )
                for status, serializer in answers.items()
                for kind in kinds
            },
            **{
                (status, CONTENT_TYPE): OpenApiResponse(
                    ProblemSerializer, description=f"Codes: {', '.join(sorted(names))}"
                )
                for status, names in sorted(codes.items())
            },
        }

    def _own(self, answer: Any) -> Any:
        """Return the class that the view has in place of that of the operation."""
        is_class = inspect.isclass(answer) and issubclass(answer, BaseSerializer)
        return self.view.serializer_of(answer) if is_class else answer

    def _codes(self) -> Iterable[str]:
        operation = self.operation
        yield from (*ALWAYS, *operation.problems)
        if operation.is_list or operation.query:
            yield "invalid"
        if self.action == "list":
            yield "bad_cursor"
        if "{" in self.path:
            yield "not_found"
        if self.method != "GET":
            yield "csrf"
        if operation.body is not None:
            yield from OF_BODIES

    def get_paginated_name(self, serializer_name: str) -> str:
        """Return the name of a page of rows."""
        return f"{serializer_name}Page"


def _about(answer: Any) -> str:
    if answer is None:
        return "Done."
    is_basic = isinstance(answer, OpenApiTypes)
    return "" if is_basic else get_doc(get_class(answer))


Endpoint = tuple[str, str, str, Any]  # path, regular expression, method, view


class _Endpoints(EndpointEnumerator):
    def get_api_endpoints(self, patterns: Any = None, prefix: str = "") -> Any:
        """Return those of the API, without the hooks of the site's own document."""
        first: dict[tuple[str, str], Endpoint] = {}  # as a request is resolved
        for endpoint in self._get_api_endpoints(patterns, prefix):
            first.setdefault((endpoint[0], endpoint[2]), endpoint)
        return [first[key] for key in sorted(first)]

    def should_include_endpoint(self, path: str, callback: Any) -> bool:
        """Take those of the API, though a document of the site leaves them out."""
        return issubclass(getattr(callback, "cls", object), ApiView)


class ApiSchemaGenerator(SchemaGenerator):
    """Has words and versions of its own, whatever the site has for its own API."""

    endpoint_inspector_cls = _Endpoints

    def create_view(self, callback: Any, method: str, request: Any = None) -> Any:
        """Return the view, with the schema that its class has not."""
        view = super().create_view(callback, method, request)
        view.schema = ApiSchema()
        view.schema.view = view
        return view

    def parse(self, input_request: Any, public: Any) -> dict[str, Any]:
        """Return the operations by path and method."""
        self._initialise_endpoints()
        paths: dict[str, dict[str, Any]] = defaultdict(dict)
        for path, regex, method, view in self._get_paths_and_endpoints():
            entry = view.schema.get_operation(path, regex, "", method, self.registry)
            paths[path][method.lower()] = entry
        return paths

    def get_schema(self, request: Any = None, public: Any = None) -> dict[str, Any]:
        """Return the document, with the address under which it is served here."""
        servers = [{"url": reverse("ai_assistant:api").rstrip("/")}]
        return {**_document(conf.get("REST_URLCONF")), "servers": servers}


@cache
def _document(urlconf: str) -> dict[str, Any]:
    """Return what the views of a URLconf say of themselves, made once."""
    generator = ApiSchemaGenerator(patterns=resolver().url_patterns)
    with translation.override(None):
        document = {
            "openapi": "3.1.0",
            "info": {
                "title": "Assistant",
                "version": __version__,
                "description": ABOUT,
            },
            "paths": generator.parse(None, public=True),
            "components": generator.registry.build({}),
        }
        normalized: dict[str, Any] = normalize_result_object(document)
    return _as_3_1(normalized)


def _as_3_1(schema: Any) -> Any:
    """Return it in OpenAPI 3.1, without what the library notes for its own use."""
    if isinstance(schema, list):
        return [_as_3_1(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    converted = {
        name: _as_3_1(value)
        for name, value in schema.items()
        if name not in ("readOnly", "nullable", "x-spec-enum-id")
    }
    if isinstance(about := converted.get("description"), str):
        converted["description"] = re.sub(r"\n*^\* `.*", "", about, flags=re.M | re.S)
        if not converted["description"] and "enum" in converted:
            del converted["description"]
    if schema.get("nullable") and "type" in converted:
        converted["type"] = [converted["type"], "null"]
    elif schema.get("nullable") and "allOf" in converted:
        converted["oneOf"] = [*converted.pop("allOf"), NULL]
    if converted.get("oneOf") == [{}, NULL]:
        del converted["oneOf"]  # anything is null too
    return converted


def preprocess_add_assistant(
    endpoints: list[Endpoint], **options: Any
) -> list[Endpoint]:
    """
    Add the assistant's operations to the site's own document.

    A hook for `SPECTACULAR_SETTINGS["PREPROCESSING_HOOKS"]`.
    """
    prefix = reverse("ai_assistant:api").rstrip("/")
    own = _Endpoints(resolver().url_patterns).get_api_endpoints()
    return [
        *endpoints,
        *(
            (prefix + path, regex, method, _with_schema(view))
            for path, regex, method, view in own
        ),
    ]


def _with_schema(view: Any) -> Any:
    """Return a view that has the schema that its class leaves out."""
    kind = type(view.cls.__name__, (view.cls,), {"schema": ApiSchema()})
    return SimpleNamespace(
        cls=kind, initkwargs=view.initkwargs, actions=getattr(view, "actions", None)
    )


class SchemaView(ApiView, SpectacularAPIView):
    """Tells what the API takes and answers."""

    @operation(id="schema_read", answers={200: OpenApiTypes.OBJECT})
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Read this document."""
        return super().get(request, *args, **kwargs)


schema_view = SchemaView.as_view(generator_class=ApiSchemaGenerator)
