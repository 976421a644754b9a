from argparse import ArgumentParser
from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError

from ai_assistant.management.newtool import VERBS, NotPossible, new_tool


class Command(BaseCommand):
    """Add a tool to the assistant.py of an app, and a test of it beside."""

    help = "Add a tool to the assistant.py of an app, and a test of it beside."
    requires_system_checks = ()  # it is used while something else is unfinished

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("app", help="label of the app")
        parser.add_argument("name", help="name of the tool, and of its function")
        parser.add_argument(
            "--effect", choices=[*VERBS], default="read", help="what it does at most"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            app = apps.get_app_config(options["app"])
            made = new_tool(app, options["name"], options["effect"])
            made.path.write_text(made.text, encoding="utf-8")
            made.test_path.write_text(made.test_text, encoding="utf-8")
        except (LookupError, NotPossible, OSError) as error:
            raise CommandError(str(error).strip("'\"")) from error
        self.stdout.write(f"Tool {options['name']!r} is in {made.path}.")
        self.stdout.write(f"Its test is in {made.test_path}.")
        self.stdout.write("Write what it does, and its docstring, for the model.")
