"""Keep what a piece of a call writes, in the transaction in which it does."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ai_assistant.changes.recorder import recording
from ai_assistant.changes.store import store
from ai_assistant.engine.elsewhere import taken_back_with, written_ones
from ai_assistant.engine.locking import check_rows_free
from ai_assistant.models.call import ToolCall
from ai_assistant.models.run import Run


@contextmanager
def kept_changes(run: Run, call: ToolCall, user: Any) -> Iterator[None]:  # noqa: ANN401 - the site's user model
    """Record what the block writes, in its transaction, as changes of the call."""
    with taken_back_with(written_ones()):
        with recording() as recorder:
            yield
        check_rows_free(recorder.rows, run)
        store(recorder, run, call, user)
