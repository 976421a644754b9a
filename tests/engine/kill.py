"""A process that is killed at one of its commits."""

import asyncio
from contextlib import suppress

from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.lifecycle import writer as writer_module
from ai_assistant.engine.lifecycle.writer import Flusher


class Kill:
    """Cancels the executing task at one commit, before or after it."""

    def __init__(self, monkeypatch, *, at, after):
        self.at, self.after = at, after
        self.seen = 0
        self.victim = None
        self.commit = writer_module.RunWriter.commit
        kill = self

        async def commit(writer, work=None, **more):
            number, kill.seen = kill.seen, kill.seen + 1
            if number == kill.at and not kill.after:
                await kill.strike()
            await kill.commit(writer, work, **more)
            if number == kill.at and kill.after:
                await kill.strike()

        monkeypatch.setattr(writer_module.RunWriter, "commit", commit)

    async def strike(self):
        self.victim.cancel()
        await asyncio.Event().wait()

    def execute(self, hold):
        """Execute a run until it is killed, or at rest."""

        async def scenario():
            self.victim = asyncio.create_task(execute(hold, Flusher()))
            with suppress(asyncio.CancelledError):
                await self.victim

        asyncio.run(scenario())
