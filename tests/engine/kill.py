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
        for name in ("commit", "commit_asking"):
            own = getattr(writer_module.RunWriter, name)
            monkeypatch.setattr(writer_module.RunWriter, name, self.killed_at(own))

    def killed_at(self, commit):
        async def killed(writer, *args, **more):
            number, self.seen = self.seen, self.seen + 1
            if number == self.at and not self.after:
                await self.strike()
            await commit(writer, *args, **more)
            if number == self.at and self.after:
                await self.strike()

        return killed

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
