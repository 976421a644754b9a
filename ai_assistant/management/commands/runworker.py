"""Channels' own worker, which here also executes runs without a message."""

import asyncio
import logging
from argparse import ArgumentParser
from typing import Any

from channels.management.commands.runworker import Command as ChannelsCommand
from channels.worker import Worker

from ai_assistant import conf
from ai_assistant.engine.execution.executor import executor
from ai_assistant.engine.storage.notifications import EXECUTOR_CHANNEL
from ai_assistant.providers.base import warm_up

logger = logging.getLogger("ai_assistant")


class ExecutingWorker(Worker):
    """Boots the executor first: a deaf channel layer must only add delay."""

    async def handle(self) -> None:
        if conf.enabled():
            warm_up(conf.profile())
            executor().boot()
        await super().handle()

    async def listener(self, channel: str) -> None:
        """Keep listening: a layer that is away must not end running work."""
        while True:
            try:
                await super().listener(channel)
            except Exception as error:  # noqa: BLE001 - any layer, any failure
                logger.warning("the channel layer cannot be heard: %s", error)
            await asyncio.sleep(float(conf.get("POLL_S")))


class Command(ChannelsCommand):
    """Execute runs and serve channels, by default only the assistant's."""

    worker_class = ExecutingWorker

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        for action in parser._actions:  # noqa: SLF001 - to make it optional
            if action.dest == "channels":
                action.nargs = "*"
                action.required = False

    def handle(self, *args: Any, **options: Any) -> None:
        options["channels"] = options["channels"] or [EXECUTOR_CHANNEL]
        try:
            super().handle(*args, **options)
        except (KeyboardInterrupt, asyncio.CancelledError):
            return
