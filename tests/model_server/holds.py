"""Places where a reply waits for the test, however slow the machine is."""

import asyncio
from collections import defaultdict


class Holds:
    """Each release lets one reply pass the hold of that name, now or later."""

    def __init__(self) -> None:
        self._open: defaultdict[str, asyncio.Semaphore]
        self._open = defaultdict(lambda: asyncio.Semaphore(0))

    async def wait(self, name: str) -> None:
        """Wait until `name` is released."""
        await self._open[name].acquire()

    def release(self, name: str) -> None:
        """Let one reply pass."""
        self._open[name].release()
