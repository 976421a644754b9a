"""The result of a call: made of a value or an exception, stored, shown and sent."""

import inspect
import json
from collections.abc import Awaitable
from dataclasses import replace
from datetime import datetime
from math import ceil
from typing import Any

from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import ModelRetry, NotValid, ToolFailed
from ai_assistant.text.redaction.redact import redact, redact_json
from ai_assistant.text.unicode import join_surrogates, whole_json
from ai_assistant.tools.arguments import is_paged
from ai_assistant.types import ToolDefinition, ToolResult

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
    """Return the preview of a result for its card; empty if it failed."""
    return indented_json(result.data) if result.ok else ""


def paginate(tool: ToolDefinition, value: Any, page: int) -> Any:
    """
    Return one page of a list or a queryset, with the totals.

    Any other value is returned as it is; a coroutine is paged once it is awaited.
    Raise ModelRetry for a page that does not exist.
    """
    if not is_paged(tool):
        return value
    if inspect.iscoroutine(value):
        return _paged_later(tool, value, page)
    if not isinstance(value, list | tuple | QuerySet):
        return value
    total = value.count() if isinstance(value, QuerySet) else len(value)
    pages = max(ceil(total / tool.display.page_size), 1)
    if page > pages:
        raise ModelRetry(f"There is no page {page}: the last is {pages}.")
    first = (page - 1) * tool.display.page_size
    return {
        "rows": list(value[first : first + tool.display.page_size]),
        "total": total,
        "page": page,
        "pages": pages,
    }


async def _paged_later(tool: ToolDefinition, value: Awaitable[Any], page: int) -> Any:
    return paginate(tool, await value, page)


VALIDATION = "validation"  # error_type of values that the site does not take
# Types of errors after which a call is denied, and not failed.
HOOK = "hook"  # error_type of what a hook of the site has refused
REFUSALS = ("permission", "policy", "rate_limited", "not_here", HOOK)
# The fields that the model reads of a result that is more than data.
SUCCESS_FIELDS = ("ok", "message", "data", "changed")
FAILURE_FIELDS = ("ok", "error", "error_type", "suggestion", "schema_hint", "data")
STORED_CHARS = 1_000_000  # of a result in its row
READ_RESULT = "read_result"  # the tool with which the model reads the rest of one


def from_value(name: str, value: object) -> ToolResult:
    """Return the result of a tool that returned `value`."""
    if isinstance(value, ToolResult):
        normalized = from_value(name, [value.data, value.changed, value.schema_hint])
        if not normalized.ok or not isinstance(normalized.data, list):
            return replace(normalized, ok=value.ok) if normalized.ok else normalized
        data, changed, hint = normalized.data
        return replace(value, data=data, changed=tuple(changed), schema_hint=hint)
    try:
        text = json.dumps(
            value, cls=DjangoJSONEncoder, ensure_ascii=False, allow_nan=False
        )
    except (TypeError, ValueError, RecursionError) as error:
        return ToolResult(
            ok=False,
            error=_("Tool “%(name)s” returned a value that is not JSON serializable.")
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
        summary=_stored(result.summary),
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
    text, suggestion, hint, summary = "", "", None, ""
    match error:
        case NotValid():
            error_type, summary = VALIDATION, error.sentence
        case ModelRetry():
            error_type, hint = "retry", getattr(error, "schema_hint", None)
            # The text is for the model.
            summary = _("The assistant asked for this wrongly, and was told why.")
        case ToolFailed():
            error_type, suggestion = "failed", error.suggestion
        case ValidationError():
            error_type, text = VALIDATION, " ".join(error.messages)
        case ObjectDoesNotExist():
            error_type = "not_found"
            summary = _("What the assistant looked for does not exist.")
        case PermissionDenied():
            return permission_denied_result(name)
        case _:
            error_type = "exception"
            text = _("Tool “%(name)s” failed with an internal error (%(error)s).") % {
                "name": name,
                "error": type(error).__name__,
            }
            suggestion = _("Try other arguments, or tell the person.")
    return ToolResult(
        ok=False,
        error=text or str(error),
        error_type=error_type,
        suggestion=suggestion,
        schema_hint=hint,
        summary=summary,
    )


def permission_denied_result(name: str) -> ToolResult:
    """Return the result of a call for which the user lacks permission."""
    return ToolResult(
        ok=False,
        error=_("You have no permission for “%(name)s”.") % {"name": name},
        error_type="permission",
        suggestion=_("Tell the person; do not try another way."),
        summary=_("You have no permission for this."),
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
        summary=_("This was done too often. It is possible again at %(time)s.")
        % {"time": moment},
        data={"opens_at": opens_at.isoformat()},
    )


def text_for_model(result: ToolResult, call_id: str = "") -> str:
    """
    Return the text for the model: the data, or an object with further fields.

    It is cut; `call_id` names the call of which the rest can be read.
    """
    return cut_result(whole_text(result), call_id)


def whole_text(result: ToolResult) -> str:
    """Return the text for the model, before it is cut."""
    if result.ok and not (result.message or result.changed):
        content: Any = result.data
    else:
        names = SUCCESS_FIELDS if result.ok else FAILURE_FIELDS
        empty: Any = ("", None, [], ()) if result.ok else ("", None)
        fields = {name: getattr(result, name) for name in names}
        content = {name: value for name, value in fields.items() if value not in empty}
    return (
        content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    )


def result_chars() -> int:
    """Return how much of a result the model reads at once."""
    return int(conf.get("LIMITS", "RESULT_CHARS"))


def is_cut(text: str) -> bool:
    """Return whether the model reads only the beginning of a text."""
    return len(text) > result_chars()


def cut_result(text: str, call_id: str = "") -> str:
    """Return `text` within the limit RESULT_CHARS, with a note if cut."""
    if not is_cut(text):
        return text
    limit = result_chars()
    said = f"cut: {limit} of {len(text)} characters. Ask for less"
    if call_id:
        said += f", or read on: {READ_RESULT}(call={call_id!r}, from={limit})"
    return f"{text[:limit]}\n[{said}.]"
