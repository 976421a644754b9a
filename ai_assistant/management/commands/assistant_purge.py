from argparse import ArgumentParser
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet

from ai_assistant import conf
from ai_assistant.engine.queries import changes_with_images, unused_conversations
from ai_assistant.engine.service import purge_deleted
from ai_assistant.management import user_named
from ai_assistant.management.retention import (
    days_ago,
    dead_tokens,
    old_changes,
    old_entries,
    purge_audit,
    purge_changes,
    purge_conversations,
    purge_images,
    purge_tokens,
)

OF_DELETED = "changes of deleted conversations"


class Command(BaseCommand):
    """For cron: delete conversations, tokens and audit entries that are old enough."""

    help = (
        "Delete conversations unused for CONVERSATION_DAYS, with their runs and changes, "
        "the images of changes older than UNDO_DAYS, access tokens that ended TOKEN_DAYS ago, and audit entries older "
        "than AUDIT_DAYS, all of AI_ASSISTANT['RETENTION']."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=int, help="instead of CONVERSATION_DAYS")
        parser.add_argument("--user", help="only the conversations of this user")
        parser.add_argument(
            "--dry-run", action="store_true", help="delete nothing; report how many"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["dry_run"]:
            self._deleted()
        days, of_audit = options["days"], conf.get("RETENTION", "AUDIT_DAYS")
        of_tokens = conf.get("RETENTION", "TOKEN_DAYS")
        of_images = conf.get("RETENTION", "UNDO_DAYS")
        days = conf.get("RETENTION", "CONVERSATION_DAYS") if days is None else days
        if (days, of_images, of_audit, of_tokens) == (None,) * 4:
            raise CommandError(
                f"{conf.typed('RETENTION', 'CONVERSATION_DAYS')} is not set. "
                "Set it, or give --days."
            )
        if days is not None and days < 0:
            raise CommandError(f"--days is {days}. Give 0 or more.")
        user_id = user_named(options["user"]).pk if options["user"] else None
        purge = partial(self._purge, dry=options["dry_run"])
        if days is not None:
            of_whom = days_ago(days), user_id
            purge("conversations", unused_conversations, purge_conversations, *of_whom)
            purge(OF_DELETED, old_changes, purge_changes, *of_whom)
        if of_images is not None:
            of_whom = days_ago(of_images), user_id
            purge(
                "images of changes",
                changes_with_images,
                purge_images,
                *of_whom,
            )
        if of_tokens is not None:
            of_whom = days_ago(of_tokens), user_id
            purge("access tokens", dead_tokens, purge_tokens, *of_whom)
        if of_audit is not None and user_id is None:
            purge("audit entries", old_entries, _purge_audit, days_ago(of_audit))

    def _deleted(self) -> None:
        """Delete for good what people have deleted and can no longer restore."""
        if count := sum(iter(partial(purge_deleted, now=True), 0)):
            self.stdout.write(
                f"{count} conversations that people had deleted were removed."
            )

    def _purge(
        self,
        kind: str,
        old: Callable[..., QuerySet[Any]],
        purge: Callable[..., int],
        *of_whom: object,
        dry: bool,
    ) -> None:
        count = old(*of_whom).distinct().count() if dry else purge(*of_whom)
        if count or kind != OF_DELETED:  # of these there are seldom any
            verb = "would be deleted" if dry else "deleted"
            self.stdout.write(f"{count} {kind} {verb}.")


def _purge_audit(before: datetime) -> int:
    try:
        return purge_audit(before)
    except ValueError as error:
        raise CommandError(
            f"The audit log is not intact, so it is kept. {error} See manage.py "
            "assistant_audit verify."
        ) from error
