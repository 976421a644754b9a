"""A short token of what was read of an object, field by field."""

import base64
import binascii
import hashlib
import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model

from ai_assistant.exceptions import ModelRetry
from ai_assistant.tools.data.access import Door
from ai_assistant.tools.data.fields import shown_fields

DIGEST_BYTES = 3


def version_of(door: Door, obj: Model) -> str:
    """Return the token of the fields of `obj` that the user sees now."""
    return version_from(shown_fields(door, obj), obj)


def version_from(fields: list[Any], obj: Model) -> str:
    """Return the token of these fields of `obj`; only those with a column count."""
    kept = _kept(fields)
    names = _digest([field.name for field in kept])
    values = (_digest(_plain(field, obj)) for field in kept)
    whole = names + b"".join(values)
    return base64.urlsafe_b64encode(whole).decode().rstrip("=")


def changed_since(door: Door, obj: Model, token: str) -> list[str]:
    """
    Return the names of the fields that differ from what `token` has seen.

    All of them if other fields are shown now. Raise ModelRetry if the token is
    none that a tool has told.
    """
    fields = _kept(shown_fields(door, obj))
    then, now = _parts(token), _parts(version_from(fields, obj))
    if len(then) != len(now) or then[0] != now[0]:
        return [field.name for field in fields]
    pairs = zip(fields, then[1:], now[1:], strict=True)
    return [field.name for field, before, after in pairs if before != after]


def _kept(fields: list[Any]) -> list[Any]:
    kept = [field for field in fields if field.concrete and not field.many_to_many]
    return sorted(kept, key=lambda field: str(field.name))


def _plain(field: Any, obj: Model) -> Any:  # noqa: ANN401 - JSON or what str() tells
    value = field.value_from_object(obj)
    return bytes(value).hex() if isinstance(value, bytes | memoryview) else value


def _digest(value: Any) -> bytes:  # noqa: ANN401
    text = json.dumps(value, cls=_Encoder, sort_keys=True)
    return hashlib.sha256(text.encode()).digest()[:DIGEST_BYTES]


def _parts(token: str) -> list[bytes]:
    try:
        whole = base64.b64decode(
            f"{token}{'=' * (-len(token) % 4)}", altchars=b"-_", validate=True
        )
    except (binascii.Error, ValueError) as error:
        raise _unknown(token) from error
    if not whole or len(whole) % DIGEST_BYTES:
        raise _unknown(token)
    starts = range(0, len(whole), DIGEST_BYTES)
    return [whole[start : start + DIGEST_BYTES] for start in starts]


def _unknown(token: str) -> ModelRetry:
    return ModelRetry(
        f"version {token[:50]!r} is none that a tool has told. Read the object again."
    )


class _Encoder(DjangoJSONEncoder):
    """Takes every value of a field: a file, a point, a range by its text."""

    def default(self, o: Any) -> Any:  # noqa: ANN401
        try:
            return super().default(o)
        except TypeError:
            return str(o)
