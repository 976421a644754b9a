"""The consumer of a `runworker` process: it is notified of queued runs."""

from typing import Any

from channels.consumer import AsyncConsumer

from ai_assistant.engine.execution.executor import executor


class WorkerConsumer(AsyncConsumer):
    """Wakes the executor of this process; the rows say for what."""

    async def aia_queued(self, _message: dict[str, Any]) -> None:
        """Look for queued runs now."""
        executor().boot()
        executor().wake()
