"""Tell hooks how a run moves on, and show them its text while it grows."""

import asyncio

from ai_assistant.engine.calls.provenance import has_data
from ai_assistant.engine.lifecycle.commits import Work
from ai_assistant.engine.lifecycle.hooks import RunHooks, note_failures, store_kept
from ai_assistant.engine.lifecycle.writer import RunWriter
from ai_assistant.engine.storage.units import in_db, unit
from ai_assistant.events import TextContent
from ai_assistant.hooks.points import AnswerGrown, StatusChanged
from ai_assistant.models.run import Run

UPDATE_S = 0.5  # at least so long between two of one run
SETTLE_S = 0.02  # of a first text: what is whole by then is told as the reply


class TextUpdates:
    """The text of the reply that grows, for the hooks of `response_update`."""

    def __init__(self, hooks: RunHooks) -> None:
        self._hooks = hooks
        self._message_id = ""
        self._text: list[str] = []
        self._told_at = 0.0
        self._due: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[object] | None = None

    def add(self, piece: TextContent, step: int) -> None:
        """Take a piece; tell the hooks soon, and at most every half second."""
        if not self._hooks.at("response_update"):
            return
        if piece.message_id != self._message_id:
            self.close()
            self._message_id, self._text = piece.message_id, []
        self._text.append(piece.delta)
        if self._due is None:
            loop = asyncio.get_running_loop()
            wait_s = max(SETTLE_S, self._told_at + UPDATE_S - loop.time())
            self._due = loop.call_later(wait_s, self._tell, step)

    def close(self) -> None:
        """Tell no more of this text: it is whole, or given up."""
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _tell(self, step: int) -> None:
        loop = asyncio.get_running_loop()
        if self._task is not None and not self._task.done():
            self._due = loop.call_later(UPDATE_S, self._tell, step)
            return
        self._due, self._told_at = None, loop.time()
        grown = AnswerGrown(
            text="".join(self._text), message_id=self._message_id, step=step
        )
        found = self._hooks.at("response_update")
        self._task = asyncio.create_task(self._hooks.aask(found, grown))


def leave_kept(hooks: RunHooks, writer: RunWriter) -> None:
    """Have what hooks leave stored with the next commit, which follows at once."""
    for work in kept_by(hooks):
        writer.defer(work)


def kept_by(hooks: RunHooks) -> list[Work]:
    """Return what stores what hooks leave, if there is any."""
    if (kept := hooks.kept.handed_out()) is None:
        return []
    return [lambda: store_kept(hooks.run, kept, lambda: has_data(hooks.run))]


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
