from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

import ai_assistant
from ai_assistant.exceptions import Refused

TEXT = "List the draft questionnaires."


class Command(BaseCommand):
    """For cron: `0 3 * * * python manage.py demo_nightly`; safe to repeat in a night."""

    help = "Have the assistant list what is still a draft, for who has to finish it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", default="editor", help="for whom")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["user"]
        user = get_user_model().objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"User {name!r} does not exist. Run demo_users first.")
        try:
            started = ai_assistant.start(
                user=user,
                text=TEXT,
                page="/admin/questionnaires/questionnaire/",
                label="site",
                key=f"drafts-{timezone.localdate()}",
            )
        except Refused as refused:
            raise CommandError(str(refused)) from refused
        done = "started" if started.is_new else "was started before"
        self.stdout.write(f"Run {started.run_id} {done}.")
