"""What a card shows of a call: the first of its arguments, of its result, its error."""

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.core.exceptions import (
    ObjectDoesNotExist,
    PermissionDenied,
    ValidationError,
)
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.text.redaction import redact, redact_json
from ai_assistant.text.unicode import join_surrogates, whole_json
from ai_assistant.types import ToolResult

SHOWN_CHARS = 2048


def indented_json(value: object) -> str:
    """Return `value` as text or indented JSON, cut to what a card shows."""
    if value in (None, {}, ""):
        return ""
    if isinstance(value, str):
        return cut_for_card(value)
    # Cut before it is set out: a result may be a megabyte.
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= SHOWN_CHARS:
        text = json.dumps(value, indent=2, ensure_ascii=False)
    return cut_for_card(text)


def cut_for_card(text: str) -> str:
    """Return the first SHOWN_CHARS characters of `text`, marked if it has more."""
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]} …"


def result_preview(result: ToolResult) -> str:
    """Return what the card shows of a result; nothing of one that failed."""
    return indented_json(result.data) if result.ok else ""


# Types of errors after which a call is denied, and not failed.
REFUSALS = ("permission", "policy", "rate_limited", "not_here")
STORED_CHARS = 1_000_000  # of a result in its row


def from_value(name: str, value: object) -> ToolResult:
    """Return the result of a tool that returned `value`."""
    if isinstance(value, ToolResult):
        told = from_value(name, [value.data, value.changed, value.schema_hint])
        if not told.ok or not isinstance(told.data, list):
            return replace(told, ok=value.ok) if told.ok else told
        data, changed, hint = told.data
        return replace(value, data=data, changed=tuple(changed), schema_hint=hint)
    try:
        text = json.dumps(
            value, cls=DjangoJSONEncoder, ensure_ascii=False, allow_nan=False
        )
    except (TypeError, ValueError, RecursionError) as error:
        return ToolResult(
            ok=False,
            error=_("Tool “%(name)s” returned something that has no JSON form.")
            % {"name": name},
            error_type="bad_result",
            suggestion=str(error),
        )
    if len(text) > STORED_CHARS:
        return ToolResult(ok=True, data=text[:STORED_CHARS])
    # Also makes plain JSON of dates, decimals and lazy strings.
    return ToolResult(ok=True, data=json.loads(text))


def storable_result(result: ToolResult) -> ToolResult:
    """Return `result` redacted, in characters and a size that every database takes."""
    return replace(
        result,
        data=redact_json(whole_json(result.data)),
        error=_stored(result.error),
        error_type=join_surrogates(str(result.error_type)),
        suggestion=_stored(result.suggestion),
        message=_stored(result.message),
        schema_hint=redact_json(whole_json(result.schema_hint)),
        changed=tuple(redact_json(whole_json(result.changed))),
    )


def _stored(text: object) -> str:
    return redact(join_surrogates(str(text)))[:STORED_CHARS]


def from_exception(name: str, error: BaseException) -> ToolResult:
    """
    Return the result of a tool that raised.

    Texts of exceptions that are meant to be read are passed on; of all others
    only the class is named, since their text may hold anything.
    """
    if isinstance(error, ModelRetry):
        return ToolResult(
            ok=False,
            error=str(error),
            error_type="retry",
            schema_hint=getattr(error, "schema_hint", None),
        )
    if isinstance(error, ToolFailed):
        return ToolResult(
            ok=False,
            error=str(error),
            error_type="failed",
            suggestion=error.suggestion,
        )
    if isinstance(error, ValidationError):
        return ToolResult(
            ok=False, error=" ".join(error.messages), error_type="validation"
        )
    if isinstance(error, ObjectDoesNotExist):
        return ToolResult(ok=False, error=str(error), error_type="not_found")
    if isinstance(error, PermissionDenied):
        return permission_denied_result(name)
    return ToolResult(
        ok=False,
        error=_("Tool “%(name)s” failed with an error of its own (%(error)s).")
        % {"name": name, "error": type(error).__name__},
        error_type="exception",
        suggestion=_("Try other arguments, or tell the person."),
    )


def permission_denied_result(name: str) -> ToolResult:
    """Return the result of a call that the user has no permission for."""
    return ToolResult(
        ok=False,
        error=_("You have no permission for “%(name)s”.") % {"name": name},
        error_type="permission",
        suggestion=_("Tell the person; do not try another way."),
    )


def rate_limited(name: str, opens_at: datetime) -> ToolResult:
    """Return the result of a call that comes too soon after many others."""
    moment = date_format(timezone.localtime(opens_at), "H:i:s")
    return ToolResult(
        ok=False,
        error=_("“%(name)s” was called too often. It can be called again at %(time)s.")
        % {"name": name, "time": moment},
        error_type="rate_limited",
        suggestion=_("Go on without it, or tell the person."),
        data={"opens_at": opens_at.isoformat()},
    )


def text_for_model(result: ToolResult) -> str:
    """Return what the model reads: the data, or an object if there is more to say."""
    if not result.ok:
        said: Any = _error_fields(result)
    elif result.message or result.changed:
        said = _success_fields(result)
    else:
        said = result.data
    return cut_result(
        said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    )


def cut_result(text: str) -> str:
    """Return `text` within the limit RESULT_CHARS, with a note if cut."""
    most = int(conf.get("LIMITS", "RESULT_CHARS"))
    if len(text) <= most:
        return text
    return f"{text[:most]}\n[cut: {most} of {len(text)} characters. Ask for less.]"


def _error_fields(result: ToolResult) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "ok": False,
        "error": result.error,
        "error_type": result.error_type,
        "suggestion": result.suggestion,
        "schema_hint": result.schema_hint,
        "data": result.data,
    }
    return {key: value for key, value in fields.items() if value not in ("", None)}


def _success_fields(result: ToolResult) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "ok": True,
        "message": result.message,
        "data": result.data,
        "changed": list(result.changed),
    }
    return {key: value for key, value in fields.items() if value not in ("", None, [])}
