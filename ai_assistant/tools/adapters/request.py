"""What the code of an admin says to the person, kept for the result of a tool."""

import io
import json
from typing import Any

from django.contrib.messages.storage.base import BaseStorage
from django.http import HttpRequest, QueryDict

from ai_assistant.request_context import below_prefix, request_meta


class UnshownMessages(BaseStorage):
    """A storage of messages that no page will show: `request._messages`."""

    def _get(self, *_args: Any, **_kwargs: Any) -> tuple[list[Any], bool]:
        return [], True

    def _store(self, messages: Any, *_args: Any, **_kwargs: Any) -> list[Any]:
        return list(messages)


JSON_TYPE = "application/json"


def user_request(
    user: Any,
    method: str,
    path: str,
    *,
    query: dict[str, Any] | None = None,
    form: dict[str, Any] | None = None,
    body: Any = None,
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


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
