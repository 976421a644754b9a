import asyncio
import time
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

import ai_assistant
from ai_assistant import conf
from ai_assistant.engine.queries import (
    Run,
    queued_messages,
    runs,
    waits_for_person,
)
from ai_assistant.engine.service import cannot_execute, is_worked_on, look_after
from ai_assistant.exceptions import Refused
from ai_assistant.management import user_named
from ai_assistant.types import UserKey

LOOK_S = 0.5  # between two looks for more of an answer


class Command(BaseCommand):
    """For cron, scripts and operators: `ai_assistant.start()` from a shell."""

    help = "Ask the assistant something for a user; print its conversation and run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("text", help="what to ask")
        parser.add_argument("--user", required=True, help="the user for whom it works")
        parser.add_argument("--page", default="", help="the path of a page of the site")
        parser.add_argument("--conversation", help="the id of one to continue")
        parser.add_argument("--key", default="", help="a repeat of it starts nothing")
        parser.add_argument("--profile", default=conf.DEFAULT, help="of the model")
        parser.add_argument("--agent", help="the name of the agent that answers")
        parser.add_argument(
            "--label",
            default="data",
            help="whose words the text is: data (default), site or user",
        )
        parser.add_argument(
            "--wait",
            action="store_true",
            help="print the answer; exit with 1 if there is none",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = user_named(options["user"])
        names = ("text", "page", "conversation", "key", "profile", "agent", "label")
        try:
            started = ai_assistant.start(
                user=user, **{name: options[name] for name in names}
            )
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        self.stdout.write(f"conversation {started.conversation_id}")
        self.stdout.write(f"run {started.run_id}")
        if options["wait"]:
            self._print_answer(user, started.conversation_id, started.run_id)
        elif cannot_execute():
            self.stderr.write(
                "No process of this site executes runs now: it waits for one. Serve "
                "the site with ASGI, start `runworker`, or give --wait."
            )

    def _print_answer(self, user: Any, conversation_id: UUID, run_id: UUID) -> None:
        printed: set[UUID] = set()
        run = None
        while run is None or not _is_over(run):
            if not is_worked_on():
                asyncio.run(look_after(conversation_id))
            run = _run_of(user.pk, conversation_id, run_id)
            self._print_new(run, printed)
            if run is None or not _is_over(run):
                time.sleep(LOOK_S)
        _check_answered(run, user.get_username())

    def _print_new(self, run: "Run | None", printed: set[UUID]) -> None:
        """Print what the assistant has said since the last look."""
        said = run.messages.filter(role="assistant").order_by("position") if run else ()
        for message in said:
            if message.pk not in printed and message.text.strip():
                self.stdout.write(message.text)
            printed.add(message.pk)


def _run_of(user_id: UserKey, conversation_id: UUID, run_id: UUID) -> "Run | None":
    """Return the run, None while it waits its turn. Raise CommandError if it is gone."""
    run = runs(user_id).filter(pk=run_id).first()
    if run is None and not queued_messages(conversation_id).filter(pk=run_id).exists():
        # It may have begun in between.
        run = runs(user_id).filter(pk=run_id).first()
        if run is None:
            raise CommandError(
                f"Run {run_id} is gone: its conversation was deleted, or its message "
                "was dropped or given to another run."
            )
    return run


def _is_over(run: "Run") -> bool:
    """Return whether nothing more is said before a person does something."""
    return run.is_final or bool(waits_for_person(run))


def _check_answered(run: "Run", name: str) -> None:
    """Raise CommandError if the run has not come to its answer."""
    if waits_for_person(run):
        raise CommandError(
            f"Run {run.pk} waits for {name!r}: it goes on when they have answered it "
            "in the panel."
        )
    if run.state != "succeeded":
        raise CommandError(run.error_text or f"Run {run.pk} ended as {run.state!r}.")
