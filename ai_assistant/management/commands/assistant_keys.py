from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from ai_assistant.configuration.profiles import rotate_keys
from ai_assistant.safety.audit import record


class Command(BaseCommand):
    """For operators: the keys of models after a change of SECRET_KEY."""

    help = "Encrypt the stored keys of model profiles with the SECRET_KEY of now."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="does", required=True)
        actions.add_parser(
            "rotate",
            help="after it, the former SECRET_KEY is no longer needed as a fallback "
            "for these keys",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with transaction.atomic():
            count, unreadable = rotate_keys()
            if count:
                record("keys.rotated", user=None, details={"profiles": count})
        self.stdout.write(f"{count} keys encrypted anew.")
        if unreadable:
            raise CommandError(
                f"The key of these profiles cannot be read: {', '.join(unreadable)}. "
                "Add the SECRET_KEY with which it was stored to SECRET_KEY_FALLBACKS, "
                "or enter the key again."
            )
