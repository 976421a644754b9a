from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ai_assistant import conf
from ai_assistant.tools.manifest import (
    current_manifest,
    manifest_differences,
    manifest_text,
    read_manifest,
)


class Command(BaseCommand):
    """Write the versions and schemas of all tools to a file, or compare with it."""

    help = (
        "Write a manifest of all tools to a file that is committed, or compare them "
        "with it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "path", nargs="?", help="instead of AI_ASSISTANT['TOOL_MANIFEST']"
        )
        parser.add_argument(
            "--check", action="store_true", help="write nothing; fail if they differ"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["path"] or conf.get("TOOL_MANIFEST")
        if not name:
            raise CommandError("Give a path, or set AI_ASSISTANT['TOOL_MANIFEST'].")
        path = Path(name)
        if options["check"]:
            self._compare(path)
            return
        tools = current_manifest()
        path.write_text(manifest_text(tools), encoding="utf-8")
        self.stdout.write(f"{len(tools)} tools written to {path}.")

    def _compare(self, path: Path) -> None:
        try:
            differences = list(manifest_differences(read_manifest(path)))
        except (OSError, ValueError) as error:
            raise CommandError(f"{path} cannot be read: {error}") from error
        if differences:
            raise CommandError("; ".join(differences) + ".")
        self.stdout.write(f"All tools match {path}.")
