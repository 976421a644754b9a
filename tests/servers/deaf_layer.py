"""A channel layer that loses everything, and never says so."""

import asyncio
from typing import Any

from channels.layers import BaseChannelLayer


class DeafLayer(BaseChannelLayer):
    """Takes every message and delivers none."""

    extensions = ("groups", "flush")

    def __init__(self, **config: Any) -> None:
        super().__init__(**config)
        self._count = 0

    async def send(self, channel: str, message: dict[str, Any]) -> None:
        return

    async def receive(self, channel: str) -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def new_channel(self, prefix: str = "specific") -> str:
        self._count += 1
        return f"{prefix}!deaf{self._count}"

    async def group_add(self, group: str, channel: str) -> None:
        return

    async def group_discard(self, group: str, channel: str) -> None:
        return

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        return

    async def flush(self) -> None:
        return
