"""
Write the document of the REST API: `python tools/openapi.py`.

drf-spectacular makes it from what the views say of themselves. It is a file and not
made anew in each site, since that library has its settings for a whole process: a
site's own document would be made with ours.
"""

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

if __name__ == "__main__":
    import django

    django.setup()

from django.urls import path  # noqa: E402
from drf_spectacular.extensions import OpenApiAuthenticationExtension  # noqa: E402
from drf_spectacular.generators import SchemaGenerator  # noqa: E402
from drf_spectacular.openapi import AutoSchema  # noqa: E402
from drf_spectacular.settings import patched_settings  # noqa: E402
from drf_spectacular.types import OpenApiTypes  # noqa: E402
from drf_spectacular.utils import (  # noqa: E402
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
)
from pydantic import BaseModel  # noqa: E402
from pydantic.json_schema import model_json_schema  # noqa: E402

from ai_assistant import __version__  # noqa: E402
from ai_assistant.web.problems import CONTENT_TYPE, STATUS  # noqa: E402
from ai_assistant.web.rest.base import (  # noqa: E402
    ApiView,
    CallerAuthentication,
)
from ai_assistant.web.rest.document import FILE  # noqa: E402
from ai_assistant.web.rest.paging import PageQuery  # noqa: E402
from ai_assistant.web.rest.reading import KEY_CHARS, KEY_HEADER, Query  # noqa: E402
from ai_assistant.web.rest.routes import VIEWS, load  # noqa: E402
from ai_assistant.web.rest.shapes import (  # noqa: E402
    ATTRIBUTE,
    Operation,
    Problem,
)

ABOUT = """\
What the caller may see and do with the assistant of this site: always their own rows,
never another user's. Programs send an access token, `Authorization: Bearer aia_…`;
a page of the site may use the session, and sends the header `X-CSRFToken`.

Every refusal is a problem (RFC 9457) with a `code` that stays and a `detail` for
people. Parameters and fields that are not told here are refused.
"""
OPTIONS: dict[str, Any] = {
    "TITLE": "Assistant",
    "DESCRIPTION": ABOUT,
    "VERSION": __version__,
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "",
    "SCHEMA_PATH_PREFIX_TRIM": False,
    "SERVERS": [],
    "TAGS": [],
    "SECURITY": [],
    "PREPROCESSING_HOOKS": [],
    "POSTPROCESSING_HOOKS": [],
    "CAMELIZE_NAMES": False,
    "COMPONENT_SPLIT_REQUEST": False,
    "COMPONENT_SPLIT_PATCH": False,
    "DISABLE_ERRORS_AND_WARNINGS": False,
    "SORT_OPERATIONS": True,
}
ALWAYS = (
    *("unknown_parameter", "signed_out", "permission", "scope", "not_acceptable"),
    *("throttled", "limited"),
)
LIMITED = 429
METHODS = ("get", "post", "patch", "delete")


class _CallerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = CallerAuthentication
    name = ["token", "session"]  # noqa: RUF012 - as the library has it

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


def generate() -> dict[str, Any]:
    """Return the document, without the address at which a site serves it."""
    patterns = [
        path(f"{route}", _documented(load(view)).as_view(), name=name)
        for route, view, name in VIEWS
    ]
    with patched_settings(OPTIONS):
        found = SchemaGenerator(patterns=patterns).get_schema(request=None, public=True)
    found.pop("servers", None)
    return _named(json.loads(json.dumps(found)))


def _named(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with the names of its parts as a reader would have them."""
    text = json.dumps(document)
    for name in document["components"]["schemas"]:
        text = text.replace(
            f'schemas/{name}"', f'schemas/{name.removesuffix("Shape")}"'
        )
    renamed: dict[str, Any] = json.loads(text)
    schemas = renamed["components"]["schemas"]
    renamed["components"]["schemas"] = {
        name.removesuffix("Shape"): schema for name, schema in schemas.items()
    }
    for schema in renamed["components"]["schemas"].values():
        if "title" in schema:
            schema["title"] = schema["title"].removesuffix("Shape")
    return renamed


def _documented(view: type[ApiView]) -> type[ApiView]:
    """Return the view as drf-spectacular wants it."""
    schema = AutoSchema()  # type: ignore[no-untyped-call]
    documented = type(view.__name__, (view,), {"schema": schema})
    for method in METHODS:
        function = getattr(view, method, None)
        if function is None:
            continue
        told: Operation = getattr(function, ATTRIBUTE)

        def stand_in(*_: Any) -> None:
            raise NotImplementedError

        stand_in.__name__ = method
        # Else the decorator would take what the site has for its own API.
        stand_in.kwargs = {"schema": AutoSchema}  # type: ignore[attr-defined]
        setattr(documented, method, _decorated(stand_in, told, view, method))
    return documented


def _decorated(function: Any, told: Operation, view: type[ApiView], method: str) -> Any:
    scope = view.scope_of(method.upper())
    about = f"{told.about}\n\nScope of a token: `{scope}`.".strip()
    examples = []
    if told.example:
        examples = [
            OpenApiExample("Example", value=dict(told.example), request_only=True)
        ]
    return extend_schema(
        operation_id=told.id,
        summary=told.summary,
        description=about,
        tags=[told.id.partition("_")[0]],
        parameters=list(_parameters(told)),
        request={"application/json": told.body} if told.body else None,
        responses={**_answers(told), **_problems(told, method)},
        examples=examples,
    )(function)


def _parameters(told: Operation) -> Iterator[OpenApiParameter]:
    if told.query is not None:
        yield from _of_query(told.query)
    if told.takes_key:
        yield OpenApiParameter(
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


def _of_query(query: type[Query]) -> Iterator[OpenApiParameter]:
    schema = model_json_schema(query)
    for name, field in sorted(schema.get("properties", {}).items()):
        description = field.pop("description", "")
        field.pop("title", None)
        yield OpenApiParameter(
            name,
            _without_null(field),
            OpenApiParameter.QUERY,
            description=description,
        )


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter, which is there or not, but never null."""
    kinds = [one for one in field.pop("anyOf", []) if one.get("type") != "null"]
    for kind in kinds:
        field |= kind
    if field.get("default", ...) is None:
        del field["default"]
    if "enum" in field:
        return {"type": "string", "enum": field["enum"]}
    return field


def _answers(told: Operation) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for status, shape in told.answers.items():
        if shape is None and status == 200:
            found[status, "application/json"] = OpenApiTypes.OBJECT
        elif shape is None:
            found[status] = OpenApiResponse(description="Done.")
        else:
            found[status, "application/json"] = _answer(shape)
    return found


def _answer(shape: type[BaseModel]) -> OpenApiResponse:
    return OpenApiResponse(shape, description=(shape.__doc__ or "").strip())


def _problems(told: Operation, method: str) -> dict[Any, Any]:
    codes = defaultdict(list)
    for code in _codes(told, method):
        status = LIMITED if code == "limited" else STATUS.get(code, 400)
        codes[status].append(code)
    return {
        (status, CONTENT_TYPE): OpenApiResponse(
            Problem,
            description="Codes: " + ", ".join(f"`{code}`" for code in sorted(set(own))),
        )
        for status, own in sorted(codes.items())
    }


def _codes(told: Operation, method: str) -> Iterable[str]:
    yield from ALWAYS
    yield from told.problems
    if told.query is not None and told.query is not Query:
        yield "invalid"
    if told.query is not None and issubclass(told.query, PageQuery):
        yield "bad_cursor"
    if method != "get":
        yield "csrf"
    if told.body is not None:
        yield from ("invalid", "bad_request", "too_large", "media_type")


def main() -> None:
    """Write the file."""
    text = json.dumps(generate(), indent=1, ensure_ascii=False, sort_keys=True)
    FILE.write_text(text + "\n", encoding="utf-8")
    print(f"{FILE.relative_to(ROOT)}: {len(text)} characters")


if __name__ == "__main__":
    main()
