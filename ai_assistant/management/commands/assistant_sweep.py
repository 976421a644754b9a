"""For cron: resume stalled work, where no process sweeps."""

from typing import Any

from django.core.management.base import BaseCommand

from ai_assistant.engine.service import sweep_once


class Command(BaseCommand):
    """
    Expire approvals, end stopped runs, and give out background calls again.

    Runs themselves are taken over by the processes that execute them.
    """

    help = "Do once what executor processes do every few seconds."

    def handle(self, *args: Any, **options: Any) -> None:
        moved = sweep_once().moved
        self.stdout.write(f"{len(moved)} runs moved.")
