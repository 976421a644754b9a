from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ai_assistant import conf
from ai_assistant.engine.service import purge_deleted
from ai_assistant.management.people import user_named
from ai_assistant.management.retention import (
    days_ago,
    dead_tokens,
    old_changes,
    old_conversations,
    purge_audit,
    purge_changes,
    purge_conversations,
    purge_tokens,
)
from ai_assistant.models.audit import AuditEntry
from ai_assistant.types import UserKey

OF_DELETED = "of deleted conversations"


class Command(BaseCommand):
    """For cron: delete conversations, tokens and audit entries that are old enough."""

    help = (
        "Delete conversations unused for CONVERSATION_DAYS, with their runs and changes, "
        "access tokens that ended TOKEN_DAYS ago, and audit entries older "
        "than AUDIT_DAYS, all of AI_ASSISTANT['RETENTION']."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=int, help="instead of CONVERSATION_DAYS")
        parser.add_argument("--user", help="only the conversations of this user")
        parser.add_argument(
            "--dry-run", action="store_true", help="delete nothing, tell how many"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["dry_run"]:
            self._deleted()
        days, of_audit = options["days"], conf.get("RETENTION", "AUDIT_DAYS")
        of_tokens = conf.get("RETENTION", "TOKEN_DAYS")
        days = conf.get("RETENTION", "CONVERSATION_DAYS") if days is None else days
        if days is None and of_audit is None and of_tokens is None:
            raise CommandError(
                f"{conf.typed('RETENTION', 'CONVERSATION_DAYS')} is not set. "
                "Set it, or give --days."
            )
        if days is not None and days < 0:
            raise CommandError(f"--days is {days}. Give 0 or more.")
        user_id = user_named(options["user"]).pk if options["user"] else None
        if days is not None:
            self._conversations(days, user_id, dry=options["dry_run"])
        if of_tokens is not None:
            self._tokens(of_tokens, user_id, dry=options["dry_run"])
        if of_audit is not None and user_id is None:
            self._audit(of_audit, dry=options["dry_run"])

    def _deleted(self) -> None:
        """Delete for good what people have deleted, when nobody can undo it."""
        if gone := sum(iter(partial(purge_deleted, now=True), 0)):
            self.stdout.write(f"{gone} conversations that people had deleted are gone.")

    def _conversations(self, days: int, user_id: UserKey | None, *, dry: bool) -> None:
        before = days_ago(days)
        if dry:
            count = old_conversations(before, user_id).distinct().count()
            self.stdout.write(f"{count} conversations would be deleted.")
            if left := old_changes(before, user_id).count():
                self.stdout.write(f"{left} changes {OF_DELETED} would be deleted.")
            return
        count = purge_conversations(before, user_id)
        self.stdout.write(f"{count} conversations deleted.")
        if left := purge_changes(before, user_id):
            self.stdout.write(f"{left} changes {OF_DELETED} deleted.")

    def _tokens(self, days: int, user_id: UserKey | None, *, dry: bool) -> None:
        before = days_ago(days)
        if dry:
            count = dead_tokens(before, user_id).count()
            self.stdout.write(f"{count} access tokens would be deleted.")
            return
        count = purge_tokens(before, user_id)
        self.stdout.write(f"{count} access tokens deleted.")

    def _audit(self, days: int, *, dry: bool) -> None:
        before = days_ago(days)
        if dry:
            count = AuditEntry.objects.filter(created_at__lt=before).count()
            self.stdout.write(f"{count} audit entries would be deleted.")
            return
        try:
            count = purge_audit(before)
        except ValueError as error:
            raise CommandError(
                f"The audit log is not whole, so it is kept. {error} "
                "See manage.py assistant_audit verify."
            ) from error
        self.stdout.write(f"{count} audit entries deleted.")
