"""Keep what a piece of a call writes, in the transaction in which it does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ai_assistant.changes.recorder import Recorder, recording
from ai_assistant.changes.store import store
from ai_assistant.engine.elsewhere import taken_back_with, written_ones
from ai_assistant.engine.locking import check_rows_free
from ai_assistant.models.call import ToolCall
from ai_assistant.models.run import Run


@contextmanager
def kept_changes(
    run: Run,
    call: ToolCall,
    user: Any,  # noqa: ANN401 - the site's user model
    check: Callable[[Recorder], None] | None = None,
) -> Iterator[None]:
    """
    Record what the block writes, in its transaction, as changes of the call.

    What `check` raises takes it back.
    """
    with taken_back_with(written_ones()):
        with recording() as recorder:
            yield
        if check is not None:
            check(recorder)
        check_rows_free(recorder.rows, run)
        store(recorder, run, call, user)
