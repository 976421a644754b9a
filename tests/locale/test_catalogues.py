"""The catalogues: whole, true to their texts, and packed as they are read."""

import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo, write_mo

ROOT = Path(__file__).resolve().parents[2]
PLACES = re.compile(r"%\([a-z_]+\)[sd]|%[sd%]|\{[a-z_]+\}|<[^>]+>|&[a-z]+;")


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "messages", ROOT / "tools" / "messages.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


messages = _tool()
LANGUAGES: tuple[str, ...] = messages.LANGUAGES
TRANSLATED = [name for name in LANGUAGES if name != messages.SOURCE]


def texts(message: Message) -> list[str]:
    return list(message.id) if message.pluralizable else [message.id]


def translations(message: Message) -> list[str]:
    return list(message.string) if message.pluralizable else [message.string]


def own(catalog: Catalog) -> Iterator[Message]:
    return (message for message in catalog if message.id)


def places(text: str) -> list[str]:
    return sorted(PLACES.findall(text))


def names(catalog: Catalog) -> set[tuple[str, str]]:
    return {(message.context or "", texts(message)[0]) for message in own(catalog)}


@pytest.mark.parametrize("language", LANGUAGES)
class TestCatalogue:
    @pytest.mark.row("N10")
    def test_catalogue_is_whole(self, language: str) -> None:
        assert messages.untranslated(messages.read(language)) == []

    def test_catalogue_keeps_places_of_values(self, language: str) -> None:
        """A plural form may leave the number out: “one row”."""
        wrong = []
        for message in own(messages.read(language)):
            wanted = places(texts(message)[-1])
            for said in translations(message):
                is_less = message.pluralizable and set(places(said)) <= set(wanted)
                if places(said) != wanted and not is_less:
                    wrong.append((texts(message)[0], said))

        assert wrong == []

    def test_catalogue_keeps_lines(self, language: str) -> None:
        wrong = [
            text
            for message in own(messages.read(language))
            for said in translations(message)
            if (text := texts(message)[0]).endswith("\n") != said.endswith("\n")
        ]

        assert wrong == []

    def test_catalogue_is_packed_as_it_is(self, language: str) -> None:
        wanted = io.BytesIO()
        write_mo(wanted, messages.read(language))
        packed = messages.po_file(language).with_suffix(".mo")
        with packed.open("rb") as file:
            assert read_mo(file).num_plurals == messages.read(language).num_plurals

        assert packed.read_bytes() == wanted.getvalue()


@pytest.mark.row("N10")
def test_there_are_eleven() -> None:
    folders = (ROOT / "ai_assistant" / "locale").glob("*/LC_MESSAGES/django.mo")

    assert sorted(path.parts[-3] for path in folders) == sorted(LANGUAGES)
    assert len(LANGUAGES) == 11


def test_all_have_the_same_texts() -> None:
    wanted = names(messages.read(messages.SOURCE))

    assert {name: names(messages.read(name)) ^ wanted for name in TRANSLATED} == {
        name: set() for name in TRANSLATED
    }


@pytest.mark.servers
@pytest.mark.skipif(
    shutil.which("xgettext") is None, reason="install gettext to run this"
)
def test_nothing_is_missing_from_them(tmp_path: Path) -> None:
    """Take the texts out of a copy of the app anew."""
    copy = tmp_path / "ai_assistant"
    shutil.copytree(
        ROOT / "ai_assistant", copy, ignore=shutil.ignore_patterns("__pycache__")
    )
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "import messages; messages.APP = Path(sys.argv[2]); messages.extract()"
    )
    command = [sys.executable, "-c", code, str(ROOT / "tools"), str(copy)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DJANGO")}
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    messages.APP = copy
    try:
        found = names(messages.read(messages.SOURCE))
    finally:
        messages.APP = ROOT / "ai_assistant"

    assert found == names(messages.read(messages.SOURCE)), "run `make messages`"
