import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ai_assistant.configuration.transfer.applied import (
    ADDED,
    CHANGED,
    REMOVED,
    Applied,
    apply,
)
from ai_assistant.configuration.transfer.document import (
    JSON_ENDING,
    WrongFile,
    read,
    written,
)

SIGNS = {ADDED: "+", CHANGED: "~", REMOVED: "-"}
SHOWN_CHARS = 100  # of a value
STANDARD = "-"


class Command(BaseCommand):
    """The configuration of a site as one file: for its next site, or for a deployment."""

    help = (
        "Write the rows of configuration to a file, compare a file with them, or make "
        "them as a file says. Keys are in no file."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=("export", "import", "diff"))
        parser.add_argument(
            "file", help="YAML, or JSON if it ends in .json; '-': standard in or output"
        )
        parser.add_argument(
            "--remove",
            action="store_true",
            help="delete rows that the file does not have, in the sections that it has",
        )
        parser.add_argument(
            "--exit-code",
            action="store_true",
            help="with diff: exit with 1 if something differs",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file: str = options["file"]
        if options["action"] == "export":
            self._export(file)
            return
        is_trial = options["action"] == "diff"
        try:
            document = read(_text_of(file), file)
        except WrongFile as error:
            raise CommandError(f"The file '{file}' is refused. {error}") from error
        removes: bool = options["remove"]
        done = apply(document, name=Path(file).name, removes=removes, is_trial=is_trial)
        self._tell(done)
        if done.problems:
            raise CommandError("Nothing was changed.")
        if is_trial and options["exit_code"] and done.rows:
            sys.exit(1)
        if not is_trial:
            self.stdout.write(f"{len(done.rows)} rows were changed.")

    def _export(self, file: str) -> None:
        text = written(as_json=file.endswith(JSON_ENDING))
        if file == STANDARD:
            self.stdout.write(text, ending="")
            return
        try:
            Path(file).write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(
                f"The file '{file}' cannot be written: {error.strerror}. Name another."
            ) from error

    def _tell(self, done: Applied) -> None:
        for one in done.rows:
            self.stdout.write(f"{SIGNS[one.status]} {one.kind.section} {one.name}")
            if one.status == CHANGED:
                for label, before, after in one.fields():
                    told = f"{_brief(before)} -> {_brief(after)}"
                    self.stdout.write(f"    {label}: {told}")
        for problem in done.problems:
            self.stderr.write(problem)
        if not done.rows and not done.problems:
            self.stdout.write("Nothing differs.")


def _text_of(file: str) -> str:
    try:
        return sys.stdin.read() if file == STANDARD else Path(file).read_text("utf-8")
    except OSError as error:
        raise CommandError(
            f"The file '{file}' cannot be read: {error.strerror}."
        ) from error
    except UnicodeDecodeError as error:
        raise CommandError(f"The file '{file}' is not UTF-8. Save it as UTF-8.") from (
            error
        )


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]} ..."
