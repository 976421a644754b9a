"""What a tool raises by a fault of its own: told to the log, and to its card."""

import logging
import traceback

from django.conf import settings

from ai_assistant.models.call import ToolCall
from ai_assistant.safety.redaction import redact
from ai_assistant.tools.characters import whole
from ai_assistant.tools.result import from_exception
from ai_assistant.types import ToolResult

logger = logging.getLogger("ai_assistant")

TRACEBACK_CHARS = 20_000  # the last of them: they name the error


def result_of(call: ToolCall, error: BaseException) -> ToolResult:
    """Return the result of a call that raised; one by a fault of its tool is told."""
    result = from_exception(call.name, error)
    if result.error_type == "exception":
        tell(call, error)
    return result


def tell(call: ToolCall, error: BaseException) -> None:
    """
    Log what the tool of a call has raised, with its traceback.

    Under DEBUG the call keeps that for its card, once its result is recorded.
    """
    logger.error(
        "tool %r failed in call %s of run %s",
        call.name,
        call.pk,
        call.run_id,
        exc_info=error,
    )
    if settings.DEBUG:
        told = "".join(traceback.format_exception(error))
        call.traceback = redact(whole(told))[-TRACEBACK_CHARS:]
