"""The page that says where things go: what it names is there, and on its way."""

import json
import re
import subprocess

import pytest

from tests.docs.blocks import ROOT, blocks, page, section
from tests.figures import FIGURE
from tests.servers.process import python

TEXT = page("docs/contributing.md")
APP = ROOT / "ai_assistant"
KINDS = re.findall(r"^\| (.+?) \| (.+) \|$", section(TEXT, "Kinds of change"), re.M)[2:]
REDRAW = "Correct the drawing in docs/contributing.md, then run make drawings."
PATH = re.compile(r"`([\w-]+(?:/[\w.-]+)*/?)`")
WAYS = dict(
    zip(
        ("message", "text", "call"),
        [one.code for one in blocks(TEXT) if one.language == "mermaid"],
        strict=True,
    )
)


def paths(text):
    """Return what looks like a path in `text`."""
    return [name for name in PATH.findall(text) if "/" in name or "." in name]


def drawn(way):
    """Return the modules of a drawing, below `ai_assistant`."""
    found = set()
    for room, names in re.findall(r"<br/>([\w.]+): ([\w., ]+)", WAYS[way]):
        inside = "" if room == "ai_assistant" else f"{room}."
        found |= {inside + name for name in names.split(", ")}
    return found


@pytest.fixture(scope="module")
def gone():
    """The modules through which each way goes in fact."""
    done = subprocess.run(
        python("-m", "tests.docs.ways"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return {way: set(names) for way, names in json.loads(done.stdout).items()}


class TestKinds:
    def test_kinds_are_twenty_or_more(self):
        assert len(KINDS) >= 20

    @pytest.mark.parametrize(("kind", "files"), KINDS)
    def test_kinds_names_at_most_six_files_that_are_there(self, kind, files):
        named = [name for name in paths(files) if not name.startswith("ai_assistant.")]

        assert 1 <= len(named) <= 6
        missing = [
            name
            for name in named
            if not (APP / name).exists() and not (ROOT / name).exists()
        ]
        assert not missing, kind


class TestRooms:
    def test_rooms_are_there_and_none_is_left_out(self):
        rooms = re.findall(r"^\| ((?:`[\w/]+/`(?:, )?)+) \|", TEXT, re.M)
        named = {name for row in rooms for name in re.findall(r"`([\w/]+)/`", row)}

        assert all((APP / name).is_dir() for name in named)
        inside = {path.parent.name for path in (APP / "engine").glob("*/__init__.py")}
        assert {f"engine/{name}" for name in inside} <= named


# A thread of the pool that has just become free may be seen on any way.
IDLE = {"engine.storage.pool"}


@pytest.mark.row("E07")
class TestWays:
    @pytest.mark.parametrize("way", WAYS)
    def test_ways_shows_modules_that_are_there(self, way):
        files = {name: APP / f"{name.replace('.', '/')}.py" for name in drawn(way)}

        assert files
        assert not [
            name
            for name, file in files.items()
            if not file.is_file() and not file.with_suffix("").is_dir()
        ]

    @pytest.mark.servers
    @pytest.mark.broad
    @pytest.mark.xdist_group("ways")
    @pytest.mark.parametrize("way", WAYS)
    def test_ways_shows_every_module_that_it_goes_through(
        self, gone, way, record_property
    ):
        record_property(FIGURE, f"{way}: {len(gone[way])} modules")
        assert sorted(gone[way] - drawn(way) - IDLE) == [], REDRAW
        assert sorted(drawn(way) - gone[way]) == [], REDRAW
