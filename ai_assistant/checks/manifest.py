"""The committed manifest: whether the tools are those that were reviewed."""

from collections.abc import Iterator
from pathlib import Path

from django.core.checks import CheckMessage, Warning  # noqa: A004 - Django's name

from ai_assistant import conf
from ai_assistant.tools.manifest import differences, read_manifest

HINT = "Run `python manage.py assistant_manifest`, review its difference and commit it."


def check_manifest() -> list[CheckMessage]:
    """Return how the tools differ from AI_ASSISTANT['TOOL_MANIFEST'], if it is set."""
    name = str(conf.get("TOOL_MANIFEST"))
    return list(_compare(Path(name))) if name else []


def _compare(path: Path) -> Iterator[CheckMessage]:
    try:
        committed = read_manifest(path)
    except (OSError, ValueError) as error:
        yield Warning(
            f"AI_ASSISTANT['TOOL_MANIFEST'] is {str(path)!r}, which cannot be read: "
            f"{error}",
            hint="Run `python manage.py assistant_manifest` to write it.",
            id="ai_assistant.W106",
        )
        return
    for told in differences(committed):
        yield Warning(f"{told} since {path.name!r}.", hint=HINT, id="ai_assistant.W107")
