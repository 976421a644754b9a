"""A token of an object's values as read, and whether they have changed since."""

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
from ai_assistant.tools.data.access.model_admin import AdminAccess
from ai_assistant.tools.data.access.values import object_name, shown_value
from ai_assistant.tools.data.access.visibility import admin_fields
from ai_assistant.types import RunContext, ToolResult

DIGEST_BYTES = 3
READING = ("get_object", "search_objects")
WRITING = ("create_object", "change_object", "change_objects")
MOST_CALLS = 30


def object_version(access: AdminAccess, obj: Model) -> str:
    """Return the token of the fields of `obj` that the user sees now."""
    return version_from(admin_fields(access, obj), obj)


def version_from(fields: list[Any], obj: Model) -> str:
    """Return the token of these fields of `obj`; only those with a column count."""
    columns = _columns(fields)
    digests = [_digest([field.name for field in columns])]
    for field in columns:
        value = field.value_from_object(obj)
        is_binary = isinstance(value, bytes | memoryview)
        digests.append(_digest(bytes(value).hex() if is_binary else value))
    return base64.urlsafe_b64encode(b"".join(digests)).decode().rstrip("=")


def changed_since(access: AdminAccess, obj: Model, token: str) -> list[str]:
    """
    Return the names of the fields that have changed since `token` was made.

    All of them if other fields are shown now. Raise ModelRetry if no tool can have
    returned the token.
    """
    columns = _columns(admin_fields(access, obj))
    earlier, current = _digests(token), _digests(version_from(columns, obj))
    if len(earlier) != len(current) or earlier[0] != current[0]:
        return [field.name for field in columns]
    pairs = zip(columns, earlier[1:], current[1:], strict=True)
    return [field.name for field, before, after in pairs if before != after]


def _columns(fields: list[Any]) -> list[Any]:
    columns = [field for field in fields if field.concrete and not field.many_to_many]
    return sorted(columns, key=lambda field: str(field.name))


def _digest(value: Any) -> bytes:
    text = json.dumps(value, cls=_Encoder, sort_keys=True)
    return hashlib.sha256(text.encode()).digest()[:DIGEST_BYTES]


def _digests(token: str) -> list[bytes]:
    try:
        digests = base64.b64decode(
            f"{token}{'=' * (-len(token) % 4)}", altchars=b"-_", validate=True
        )
    except (binascii.Error, ValueError):
        digests = b""
    if not digests or len(digests) % DIGEST_BYTES:
        raise ModelRetry(
            f"version {token[:50]!r} is not one that a tool returned. Read the object "
            "again."
        )
    starts = range(0, len(digests), DIGEST_BYTES)
    return [digests[start : start + DIGEST_BYTES] for start in starts]


class _Encoder(DjangoJSONEncoder):
    """Encode any other value of a field, as a file or a range, as its text."""

    def default(self, o: Any) -> Any:
        try:
            return super().default(o)
        except TypeError:
            return str(o)


class Freshness:
    """Compare objects with the versions that tools of this conversation have read."""

    def __init__(self, context: RunContext, access: AdminAccess) -> None:
        self.context, self.access = context, access
        self.newest: dict[str, str] | None = None  # versions, by id

    def refuse(self, obj: Model, token: str = "") -> ToolResult | None:
        """
        Return the refusal of a change if `obj` has changed since it was read, or None.

        `token` is the version in the call; without it, that of the newest call that
        read or wrote the object.
        """
        token = token or self._newest_version(obj)
        names = [
            name
            for name in (changed_since(self.access, obj, token) if token else ())
            # Every save sets these automatically.
            if not getattr(self.access.options.get_field(name), "auto_now", False)
        ]
        if not names:
            return None
        changed: dict[str, Any] = {}
        for name in names:
            field = self.access.options.get_field(name)
            text = shown_value(field, obj)
            changed[name] = text
            if field.is_relation:
                changed[name] = {"id": str(getattr(obj, field.attname)), "text": text}
        return ToolResult(
            ok=False,
            error=_("“%(object)s” has been changed since it was read: %(fields)s.")
            % {"object": object_name(obj), "fields": ", ".join(names)},
            error_type="changed",
            suggestion=_("Check its current values, then decide again."),
            data={
                "id": str(obj.pk),
                "changed": changed,
                "version": object_version(self.access, obj),
            },
        )

    def _newest_version(self, obj: Model) -> str:
        if self.newest is None:
            self.newest = {}
            for object_id, version in self._returned_versions():
                self.newest.setdefault(object_id, version)
        return self.newest.get(str(obj.pk), "")

    def _returned_versions(self) -> Iterator[tuple[str, str]]:
        """Yield ids and versions that tools have returned, newest first."""
        calls = ToolCall.objects.filter(
            run__conversation_id=self.context.conversation_id,
            name__in=(*READING, *WRITING),
            status=CallStatus.COMPLETE,
        ).order_by("-created_at", "-step__index", "-position")[:MOST_CALLS]
        for arguments, result in calls.values_list("arguments", "result"):
            data = (result or {}).get("data")
            label = str(arguments.get("model", "")).lower()
            if label == self.access.label and isinstance(data, dict):
                yield from _versions(data)


def _versions(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the versions in a result: its own, or those of the objects in its lists."""
    lists = [value for value in data.values() if isinstance(value, list)]
    for item in [data, *(item for rows in lists for item in rows)]:
        version = item.get("version") if isinstance(item, dict) else None
        if isinstance(version, str) and version and item.get("id") not in (None, ""):
            yield str(item["id"]), version
