"""Tell hooks how a run moves on, and show them its text while it grows."""

import asyncio
import time

from ai_assistant.engine.calls.provenance import has_data
from ai_assistant.engine.lifecycle.hooks import RunHooks, note_failures, store_kept
from ai_assistant.engine.lifecycle.writer import RunWriter
from ai_assistant.engine.storage.units import in_db, unit
from ai_assistant.events import TextContent
from ai_assistant.hooks.points import AnswerGrown, StatusChanged
from ai_assistant.models.run import Run

UPDATE_S = 0.5  # at least so long between two of one run


class TextUpdates:
    """The text of the reply that grows, for the hooks of `response_update`."""

    def __init__(self, hooks: RunHooks) -> None:
        self._hooks = hooks
        self._message_id = ""
        self._text: list[str] = []
        self._told_at = 0.0
        self._task: asyncio.Task[object] | None = None

    def add(self, piece: TextContent, step: int) -> None:
        """Take a piece; tell the hooks, unless they were told a moment ago."""
        found = self._hooks.at("response_update")
        if not found:
            return
        if piece.message_id != self._message_id:
            self._message_id, self._text = piece.message_id, []
        self._text.append(piece.delta)
        is_busy = self._task is not None and not self._task.done()
        if is_busy or time.monotonic() - self._told_at < UPDATE_S:
            return
        self._told_at = time.monotonic()
        grown = AnswerGrown(
            text="".join(self._text), message_id=self._message_id, step=step
        )
        self._task = asyncio.create_task(self._hooks.aask(found, grown))


def leave_kept(hooks: RunHooks, writer: RunWriter) -> None:
    """Have what hooks leave stored with the next commit, which follows at once."""
    if (kept := hooks.kept.handed_out()) is not None:
        run = hooks.run
        writer.defer(lambda: store_kept(run, kept, lambda: has_data(run)))


async def tell_state(hooks: RunHooks, state: str) -> None:
    """Tell hooks that the run has another state."""
    if found := hooks.at("status_changed"):
        await hooks.aask(found, StatusChanged(state=state))


async def tell_wait(hooks: RunHooks) -> None:
    """Tell hooks for what the run waits, which is stored by now."""
    if not hooks.at("status_changed"):
        return
    rows = Run.objects.filter(pk=hooks.run.pk)
    await tell_state(hooks, await in_db(rows.values_list("state", flat=True).get))
    if (kept := hooks.kept.handed_out()) and kept.failures:
        await in_db(unit(note_failures), hooks.run.pk, kept.failures)
