"""The JSON value of a column, sealed where it is sensitive."""

import base64
import datetime
import decimal
import hmac
import json
import math
import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.db.backends.utils import format_number
from django.db.models.expressions import Value
from django.db.models.fields.files import FieldFile
from django.utils.duration import duration_iso_string

from ai_assistant.safety.identity.session import decrypted, encrypted, site_key
from ai_assistant.safety.policy.sensitive import (
    is_opened_field,
    is_sensitive_field,
    is_sensitive_model,
    secrets_in,
)

SEALED = "$sealed"
PLAIN = frozenset({int, str, bool, type(None)})
SEAL, MAC = "changes.seal", "changes.mac"  # what their keys are for


def seal_column(value: Any) -> dict[str, str]:
    """Return the sealed form of a JSON value."""
    text = json.dumps(value, sort_keys=True).encode()
    return {SEALED: encrypted(text, SEAL), "mac": keyed_digest(text)}


def unseal(value: Any) -> Any:
    """
    Return the sealed value; any other value unchanged.

    Raise CannotUnseal if none of the site's secret keys opens it.
    """
    return json.loads(decrypted(value[SEALED], SEAL)) if is_sealed(value) else value


def is_sealed(value: Any) -> bool:
    """Return whether a JSON value is a sealed one."""
    return isinstance(value, dict) and SEALED in value


def keyed_digest(text: bytes) -> str:
    """Return a digest of `text` that only this site can make, as hex."""
    return hmac.digest(site_key(settings.SECRET_KEY, MAC), text, "sha256").hex()


def raw(field: Any, value: Any) -> Any:
    """
    Return the JSON of what the column of `field` holds for `value`.

    `value` is what a cleaned form or an instance has for it: a related object
    counts as its key, a local time as UTC. A sensitive value is sealed.
    """
    clear = plain_column_value(field, value)
    if clear is None:
        return None
    return (
        seal_column(clear)
        if is_sealed_column(field) or holds_secret(field, clear)
        else clear
    )


def holds_secret(field: Any, value: Any) -> bool:
    """Return whether the JSON of a column has secret keys: it is sealed as a whole."""
    if not isinstance(field, models.JSONField) or not isinstance(value, dict | list):
        return False
    return bool(secrets_in(value)) and not is_opened_field(field)


def is_sealed_column(field: Any) -> bool:
    """Return whether the values of this column are kept sealed."""
    if is_sensitive_field(field):
        return True
    readable_key = field.primary_key and isinstance(
        field, models.IntegerField | models.UUIDField
    )
    return is_sensitive_model(field.model) and not readable_key


def holds_plain(field: Any) -> bool:
    """Return whether values of the types in PLAIN are the JSON of the column."""
    while isinstance(field, models.ForeignKey):
        field = field.target_field
    return not isinstance(field, models.JSONField | models.DecimalField)


def plain_column_value(field: Any, value: Any) -> Any:
    """Return the JSON of `value` without sealing it."""
    if isinstance(value, models.Model):
        value = getattr(value, _target(field).attname)
    if isinstance(field, models.ForeignKey):
        return plain_column_value(_target(field), value)
    if isinstance(field, models.JSONField):
        return _json(field, value)
    if value is None:
        return None
    if isinstance(field, models.DecimalField):
        return _decimal(field, value)
    if isinstance(value, FieldFile):
        return value.name or ""
    is_known_type, encoded = _by_type(value)
    return encoded if is_known_type else {"$text": _by_field(field, value)}


def _by_type(value: Any) -> tuple[bool, Any]:
    for types, convert in CONVERSIONS:
        if isinstance(value, types):
            return True, convert(value)
    return False, None


def _by_field(field: Any, value: Any) -> str:
    """Return the text that fixtures would hold, which any field can make."""
    holder = field.model()
    setattr(holder, field.attname, value)
    return str(field.value_to_string(holder))


def _target(field: Any) -> Any:
    return field.target_field if field.is_relation else field


def _json(field: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, Value):  # the only way to say null instead of NULL
        value = value.value
    decoded = json.loads(json.dumps(value, cls=field.encoder))
    marked = isinstance(decoded, dict) and any(key.startswith("$") for key in decoded)
    return {"$json": decoded} if decoded is None or marked else decoded


def _decimal(field: Any, value: Any) -> str:
    if not isinstance(value, decimal.Decimal | int | float | str):
        value = field.to_python(value)  # of a value with a unit, as an amount of money
    number = decimal.Decimal(str(value))
    try:
        text = format_number(number, field.max_digits, field.decimal_places)
    except decimal.DecimalException:  # more places than the column has
        text = None
    return text if text is not None else str(number)


def _float(value: float) -> Any:
    signed_zero = value == 0 and math.copysign(1, value) < 0
    if math.isfinite(value) and not signed_zero:
        return float(value)
    return {"$float": repr(value)}


def _datetime(value: datetime.datetime) -> str:
    if value.tzinfo is None:
        return value.isoformat()
    return value.astimezone(datetime.UTC).isoformat()


# The first that fits: bool is an int, datetime is a date.
CONVERSIONS: tuple[tuple[Any, Any], ...] = (
    (bool, bool),
    (int, int),
    (float, _float),
    (str, str.__str__),  # not what a subclass, as an enumeration, makes of it
    (decimal.Decimal, str),
    (datetime.datetime, _datetime),
    ((datetime.date, datetime.time), lambda value: value.isoformat()),
    (datetime.timedelta, duration_iso_string),
    (uuid.UUID, str),
    (
        (bytes, bytearray, memoryview),
        lambda value: {"$base64": base64.b64encode(bytes(value)).decode()},
    ),
)
