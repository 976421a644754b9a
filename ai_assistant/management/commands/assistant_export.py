import json
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder

from ai_assistant.management import user_named
from ai_assistant.management.export import head, parts


class Command(BaseCommand):
    """Write what the assistant holds of one user as one JSON object."""

    help = "Write all data of one user as JSON: conversations, calls, usage, audit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", required=True, help="the name of the user")
        parser.add_argument(
            "--output", type=Path, help="the file to write; default: standard output"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = user_named(options["user"])
        path: Path | None = options["output"]
        if path is None:
            self._print(user)
            return
        try:
            with path.open("w", encoding="utf-8") as output:
                write_all(user, output)
        except OSError as error:
            raise CommandError(
                f"The file '{path}' cannot be written: {error.strerror}. "
                "Name another one with --output."
            ) from error

    def _print(self, user: Any) -> None:
        try:
            write_all(user, self.stdout)  # type: ignore[arg-type] # it has write
            self.stdout.flush()
        except BrokenPipeError:  # whoever read it, as `head`, has enough
            # Python would flush once more as it ends, and complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_all(user: Any, output: TextIO) -> None:
    """Write the object piece by piece: a busy user may have much."""
    output.write(_json(head(user))[:-1])
    for name, rows in parts(user):
        output.write(f', "{name}": [')
        for index, row in enumerate(rows):
            output.write((", " if index else "") + _json(row))
        output.write("]")
    output.write("}\n")


def _json(value: Any) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)
