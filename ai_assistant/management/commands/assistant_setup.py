from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ai_assistant.management.setup import SetupProblem, changes, write

THEN = """
Then:
  python manage.py migrate
  python manage.py runserver

Sign in to the admin as a superuser: the panel leads to the model and its key.
"""


class Command(BaseCommand):
    """Show what the settings, asgi.py and urls.py of a site lack, or write it."""

    help = (
        "Show the difference that a chat needs in settings.py, asgi.py and urls.py, "
        "or write it."
    )
    requires_system_checks = ()  # it is what mends them

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--write", action="store_true", help="write it, if the site starts with it"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            wanted = changes()
            if options["write"]:
                write(wanted)
        except SetupProblem as problem:
            raise CommandError(str(problem)) from problem
        for change in wanted:
            self.stdout.write(change.difference())
        if not wanted:
            self.stdout.write("Nothing is missing. `assistant_doctor` tells the rest.")
        elif options["write"]:
            self.stdout.write(f"Written.\n{THEN}")
        else:
            self.stdout.write(
                "Nothing is written yet. Run it with --write, or copy what you want."
            )
