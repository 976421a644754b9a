"""A request of the user that never came over the wire."""

import io
import json
from typing import Any

from django.http import HttpRequest, QueryDict

from ai_assistant.ambient import below_prefix, request_meta

JSON_TYPE = "application/json"


def user_request(
    user: Any,  # noqa: ANN401 - the site's user model
    method: str,
    path: str,
    *,
    query: dict[str, Any] | None = None,
    form: dict[str, Any] | None = None,
    body: Any = None,  # noqa: ANN401 - JSON
) -> HttpRequest:
    """Return a request by `user`; a form or a JSON body, and no cookies."""
    request = HttpRequest()
    request.method, request.user = method, user
    request.path, request.path_info = path, below_prefix(path) or path
    request.GET, request.POST = _query(query), _query(form)  # type: ignore[assignment]
    content = b"" if body is None else json.dumps(body).encode()
    request.META = {
        **request_meta(request),
        "HTTP_ACCEPT": JSON_TYPE,
        "CONTENT_TYPE": JSON_TYPE if body is not None else "",
        "CONTENT_LENGTH": str(len(content)),
    }
    request._stream = io.BytesIO(content)  # noqa: SLF001
    request._body = content  # noqa: SLF001 - read already
    request._read_started = True  # type: ignore[attr-defined] # noqa: SLF001
    return request


def _query(values: dict[str, Any] | None) -> QueryDict:
    made = QueryDict(mutable=True)
    for name, value in (values or {}).items():
        made.setlist(name, [str(one) for one in _listed(value)])
    return made


def _listed(value: Any) -> list[Any]:  # noqa: ANN401
    return list(value) if isinstance(value, list | tuple) else [value]
