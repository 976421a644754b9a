"""From a view's thread to the loop of the server, and not back before it is done."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar, cast
from uuid import uuid4

from asgiref.sync import async_to_sync
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, ValidationError
from rest_framework.request import Request

from ai_assistant.exceptions import Refused
from ai_assistant.web.rest.errors import FieldError, Invalid

T = TypeVar("T")

# Work that outlives its request: the reference keeps it from being collected.
_accepted: set[asyncio.Task[Any]] = set()


def carry_out(work: Coroutine[Any, Any, T]) -> T:
    """
    Do `work` on the loop of the server, and return what it returns.

    What has begun is done to its end, also when the client has gone. Without a loop
    that stays, as under WSGI, it has one of its own.
    """
    return async_to_sync(_to_the_end)(work)


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.ensure_future(work)
    _accepted.add(task)
    task.add_done_callback(_accepted.discard)
    return await asyncio.shield(task)


KEY_HEADER = "Idempotency-Key"
KEY_CHARS = 50
MOST_ERRORS = 20  # that are told


class Body(BaseModel):
    """What a request may say: no other fields, and types as they are told."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Query(BaseModel):
    """What may be asked for in an address: no other parameters, each once."""

    model_config = ConfigDict(extra="forbid", frozen=True)


B = TypeVar("B", bound=Body)
Q = TypeVar("Q", bound=Query)


def read_body(request: Request, model: type[B]) -> B:
    """Return the body. Raise Refused bad_request if it is no JSON, else invalid."""
    try:
        return model.model_validate_json(cast("bytes", request.data) or b"{}")
    except ValidationError as error:
        if any(one["type"] == "json_invalid" for one in error.errors()):
            sentence = _("The body is not JSON: %(why)s.")
            why = error.errors()[0]["msg"].removeprefix("Invalid JSON: ")
            raise Refused("bad_request", sentence % {"why": why}) from error
        raise Invalid(_errors(error)) from error


def read_query(request: Request, model: type[Q]) -> Q:
    """Return the parameters. Raise Refused unknown_parameter or invalid."""
    given = request.query_params
    for name in given:
        if name not in model.model_fields:
            raise _unknown(name, model)
        if len(given.getlist(name)) > 1:
            raise Invalid([{"field": name, "detail": _("it is given twice")}])
    try:
        return model.model_validate(given.dict())
    except ValidationError as error:
        raise Invalid(_errors(error)) from error


def read_key(request: Request) -> str:
    """Return the key that makes a repeat harmless; a new one if none is given."""
    said = request.headers.get(KEY_HEADER)
    if said is None:
        return str(uuid4())
    if 0 < len(said) <= KEY_CHARS and said.isascii() and said.isprintable():
        return said
    sentence = _("%(header)s must be 1 to %(most)d printable ASCII characters.")
    named = {"header": KEY_HEADER, "most": KEY_CHARS}
    raise Refused("bad_key", sentence % named)


def _unknown(name: str, model: type[Query]) -> Refused:
    known = ", ".join(f"“{one}”" for one in sorted(model.model_fields))
    sentence = _("There is no parameter “%(name)s”.") % {"name": name[:80]}
    if known:
        sentence += " " + _("Use one of: %(known)s.") % {"known": known}
    return Refused("unknown_parameter", sentence)


def _errors(error: ValidationError) -> list[FieldError]:
    return [
        {"field": ".".join(map(str, one["loc"])) or "body", "detail": one["msg"]}
        for one in error.errors(include_url=False, include_input=False)[:MOST_ERRORS]
    ]
