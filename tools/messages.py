"""
Write the catalogues of the app anew: `python tools/messages.py`.

Takes the texts out of code and templates into each .po (needs GNU gettext), and packs
each into the .mo that Django reads. What is not translated yet is named, and the exit
code is 1 then.
"""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.core.management import call_command
from django.core.management.commands.makemessages import Command

APP = Path(__file__).resolve().parent.parent / "ai_assistant"
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
SOURCE = "en"  # the texts themselves
LANGUAGES = ("ar", "de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt_BR", "zh_Hans")


class Messages(Command):
    """Django's command, which guesses nothing from texts that are alike."""

    msgmerge_options: ClassVar = [*Command.msgmerge_options, "--no-fuzzy-matching"]


def po_file(language: str) -> Path:
    """Return where the catalogue of `language` is."""
    return APP / "locale" / language / "LC_MESSAGES" / "django.po"


def read(language: str) -> Catalog:
    """Return the catalogue of `language`."""
    with po_file(language).open("rb") as file:
        catalog = read_po(file, locale=language)
    catalog.locale = language  # a new file does not say it
    return catalog


def extract() -> None:
    """Bring every .po up to date with code and templates."""
    (APP / "locale").mkdir(exist_ok=True)
    os.chdir(APP)
    call_command(
        Messages(),
        locale=list(LANGUAGES),
        no_location=True,
        no_obsolete=True,
        no_wrap=True,
        verbosity=0,
    )


def untranslated(catalog: Catalog) -> list[str]:
    """Return the texts without a translation, or with an unsure one."""
    return [
        message.id if isinstance(message.id, str) else message.id[0]
        for message in catalog
        if message.id
        and (
            message.fuzzy
            or not all(message.string if message.pluralizable else [message.string])
        )
    ]


def fill_source() -> None:
    """Let the source language say its texts as they are."""
    catalog = read(SOURCE)
    for message in catalog:
        if message.id:
            message.string = message.id
    write(catalog)


def write(catalog: Catalog) -> None:
    """Write the .po of a catalogue, and the .mo that is made of it."""
    catalog.fuzzy = False  # its header
    catalog.project, catalog.header_comment = "ai_assistant", ""
    catalog.last_translator = catalog.language_team = ""
    catalog.creation_date = catalog.revision_date = EPOCH  # else each run is a change
    file = po_file(str(catalog.locale))
    with file.open("wb") as opened:
        write_po(opened, catalog, width=0)
    with file.with_suffix(".mo").open("wb") as opened:
        write_mo(opened, catalog)


def main() -> int:
    """Write all catalogues; return the exit code."""
    extract()
    fill_source()
    left = {}
    for language in LANGUAGES:
        write(read(language))
        if texts := untranslated(read(language)):
            left[language] = texts
    for language, texts in left.items():
        print(f"{language}: {len(texts)} texts without a translation")
        for text in texts[:20]:
            print(f"  {text[:100]!r}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
