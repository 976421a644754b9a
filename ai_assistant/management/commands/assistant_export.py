import json
from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import BaseCommand
from django.core.serializers.json import DjangoJSONEncoder

from ai_assistant.management.export import head, parts
from ai_assistant.management.people import user_named


class Command(BaseCommand):
    """Write what the assistant holds of one user as one JSON object."""

    help = "Write all data of one user as JSON: conversations, calls, usage, audit."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", required=True, help="the name of the user")
        parser.add_argument("--output", type=Path, help="a file; else it is printed")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ANN401
        user = user_named(options["user"])
        with ExitStack() as stack:
            path: Path | None = options["output"]
            out: Any = self.stdout
            if path is not None:
                out = stack.enter_context(path.open("w", encoding="utf-8"))
            write_all(user, out)


def write_all(user: Any, out: TextIO) -> None:  # noqa: ANN401 - the site's user model
    """Write the object piece by piece: a busy user may have much."""
    out.write(_json(head(user))[:-1])
    for name, rows in parts(user):
        out.write(f', "{name}": [')
        for index, row in enumerate(rows):
            out.write((", " if index else "") + _json(row))
        out.write("]")
    out.write("}\n")


def _json(value: Any) -> str:  # noqa: ANN401
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)
