"""The record of a call: what its writes changed, or how it failed."""

import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings

from ai_assistant.changes.capture.databases import taken_back_with, written_ones
from ai_assistant.changes.capture.recorder import Recorder, recording
from ai_assistant.changes.capture.store import store
from ai_assistant.engine.lifecycle.object_lock import check_rows_free
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.engine.snapshots import Keeper
from ai_assistant.engine.storage.notifications import ring_pages
from ai_assistant.models.call import ToolCall
from ai_assistant.models.run import Run
from ai_assistant.text.redaction.redact import redact
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.tools.result import from_exception
from ai_assistant.types import ToolResult

logger = logging.getLogger("ai_assistant")

TRACEBACK_CHARS = 20_000  # the last of them: they name the error


def result_of(call: ToolCall, error: BaseException) -> ToolResult:
    """Return the result of a call that raised; log an error of the tool itself."""
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
        call.traceback = redact(join_surrogates(told))[-TRACEBACK_CHARS:]


@contextmanager
def kept_changes(
    run: Run,
    call: ToolCall,
    user: Any,
    check: Callable[[Recorder], None] | None = None,
) -> Iterator[None]:
    """
    Record what the block writes, in its transaction, as changes of the call.

    What `check` raises takes it back.
    """
    with taken_back_with(written_ones()):
        keeper = Keeper(run.module, lambda: RunScope(run, user).context)
        with recording() as recorder:
            yield
        if check is not None:
            check(recorder)
        check_rows_free(recorder.rows, run)
        keeper.keep(store(recorder, run, call, user))
        ring_pages(run, (row.label for row in recorder.rows))
