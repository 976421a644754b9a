"""A token of what was read of an object, and whether the object is still so."""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model
from django.utils.translation import gettext as _

from ai_assistant.exceptions import ModelRetry
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.tools.data.access.fields import admin_fields
from ai_assistant.tools.data.access.model_admin import AdminAccess
from ai_assistant.tools.data.access.values import object_name, shown_value
from ai_assistant.types import JSON, RunContext, ToolResult

DIGEST_BYTES = 3


def object_version(door: AdminAccess, obj: Model) -> str:
    """Return the token of the fields of `obj` that the user sees now."""
    return version_from(admin_fields(door, obj), obj)


def version_from(fields: list[Any], obj: Model) -> str:
    """Return the token of these fields of `obj`; only those with a column count."""
    kept = _kept(fields)
    names = _digest([field.name for field in kept])
    values = (_digest(_plain(field, obj)) for field in kept)
    whole = names + b"".join(values)
    return base64.urlsafe_b64encode(whole).decode().rstrip("=")


def changed_since(door: AdminAccess, obj: Model, token: str) -> list[str]:
    """
    Return the names of the fields that differ from what `token` has seen.

    All of them if other fields are shown now. Raise ModelRetry if the token is
    none that a tool has told.
    """
    fields = _kept(admin_fields(door, obj))
    then, now = _parts(token), _parts(version_from(fields, obj))
    if len(then) != len(now) or then[0] != now[0]:
        return [field.name for field in fields]
    pairs = zip(fields, then[1:], now[1:], strict=True)
    return [field.name for field, before, after in pairs if before != after]


def _kept(fields: list[Any]) -> list[Any]:
    kept = [field for field in fields if field.concrete and not field.many_to_many]
    return sorted(kept, key=lambda field: str(field.name))


def _plain(field: Any, obj: Model) -> Any:
    value = field.value_from_object(obj)
    return bytes(value).hex() if isinstance(value, bytes | memoryview) else value


def _digest(value: Any) -> bytes:
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

    def default(self, o: Any) -> Any:
        try:
            return super().default(o)
        except TypeError:
            return str(o)


READING = ("get_object", "search_objects")
WRITING = ("create_object", "change_object", "change_objects")
MOST_CALLS = 30


class Freshness:
    """Compares objects with what tools of this conversation have told of them."""

    def __init__(self, context: RunContext, door: AdminAccess) -> None:
        self.context, self.door = context, door
        self.told: dict[str, str] | None = None  # newest versions, by id

    def refuse(self, obj: Model, token: str = "") -> ToolResult | None:
        """
        Return the refusal of a change of `obj`, if it is not as it was read.

        `token` is the version that the model gives; without it, that of the newest
        call that read or wrote the object. None: nothing is in the way.
        """
        token = token or self._newest().get(str(obj.pk), "")
        names = _changed(self.door, obj, token) if token else []
        if not names:
            return None
        return ToolResult(
            ok=False,
            error=_("“%(object)s” was changed since it was read: %(fields)s.")
            % {"object": object_name(obj), "fields": ", ".join(names)},
            error_type="changed",
            suggestion=_("Look at what it holds now, then decide again."),
            data={
                "id": str(obj.pk),
                "changed": {name: _now(self.door, obj, name) for name in names},
                "version": object_version(self.door, obj),
            },
        )

    def _newest(self) -> dict[str, str]:
        if self.told is None:
            self.told = {}
            for own, version in _told(self.context, self.door):
                self.told.setdefault(own, version)
        return self.told


def _changed(door: AdminAccess, obj: Model, token: str) -> list[str]:
    """Return the changed fields, but for those that every save sets by itself."""
    return [
        name for name in changed_since(door, obj, token) if not _is_stamp(door, name)
    ]


def _is_stamp(door: AdminAccess, name: str) -> bool:
    return bool(getattr(door.options.get_field(name), "auto_now", False))


def _now(door: AdminAccess, obj: Model, name: str) -> JSON:
    field = door.options.get_field(name)
    text = shown_value(field, obj)
    if not field.is_relation:
        return text
    return {"id": str(getattr(obj, field.attname)), "text": text}


def _told(context: RunContext, door: AdminAccess) -> Iterator[tuple[str, str]]:
    """Yield ids and versions that tools have told of this model, newest first."""
    calls = ToolCall.objects.filter(
        run__conversation_id=context.conversation_id,
        name__in=(*READING, *WRITING),
        status=CallStatus.COMPLETE,
    ).order_by("-created_at", "-step__index", "-position")[:MOST_CALLS]
    for arguments, result in calls.values_list("arguments", "result"):
        if str(arguments.get("model", "")).lower() == door.label:
            yield from _versions((result or {}).get("data"))


def _versions(data: Any) -> Iterator[tuple[str, str]]:
    """Yield the versions of a result: of itself, or of the objects in its lists."""
    if not isinstance(data, dict):
        return
    lists = [one for one in data.values() if isinstance(one, list)]
    for told in [data, *(one for listed in lists for one in listed)]:
        found = told.get("version") if isinstance(told, dict) else None
        if isinstance(found, str) and found and told.get("id") not in (None, ""):
            yield str(told["id"]), found
