import gzip
import re
from pathlib import Path

import pytest
import rjsmin

import ai_assistant

FOLDER = Path(ai_assistant.__file__).parent / "static" / "ai_assistant"
SCRIPTS = sorted(FOLDER.glob("*.js"))


def packed_bytes(file: Path) -> int:
    return len(gzip.compress(rjsmin.jsmin(file.read_text()).encode(), 9))


def imported(file: Path, *, every: bool = False) -> set[Path]:
    """Return what `file` imports: at once, or at its first use too."""
    at_once = r'^(?:import|export)\b[^;]*?"\./(.+?)";'
    later = r'\bimport\("\./(.+?)"\)'
    names = re.findall(at_once, file.read_text(), re.M)
    names += re.findall(later, file.read_text()) if every else []
    return {FOLDER / name for name in names}


def reached(file: Path, *, every: bool = False) -> set[Path]:
    """Return `file` and all that it brings with it."""
    found: set[Path] = set()
    left = {file}
    while left:
        found.add(one := left.pop())
        left |= imported(one, every=every) - found
    return found


class TestScripts:
    def test_closed_page_loads_little(self):
        assert packed_bytes(FOLDER / "boot.js") <= 800

    def test_open_panel_loads_little_at_once(self):
        assert sum(map(packed_bytes, reached(FOLDER / "panel.js"))) <= 13_000

    def test_all_together_stay_small(self):
        assert sum(map(packed_bytes, SCRIPTS)) <= 34_000

    def test_rest_waits_for_its_first_use(self):
        at_once = {FOLDER / "boot.js", *reached(FOLDER / "panel.js")}

        assert {file.name for file in SCRIPTS if file not in at_once} == {
            "changed.js",
            "choices.js",
            "clock.js",
            "collectors.js",
            "items.js",
            "mention.js",
            "tools.js",
        }

    @pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
    def test_never_import_in_a_circle(self, file):
        """A storage that hashes names and rewrites imports would never end."""
        below = set().union(
            *(reached(one, every=True) for one in imported(file, every=True))
        )

        assert file not in below

    @pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
    def test_only_frames_turn_text_into_html(self, file):
        risky = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write"

        assert not re.search(risky, file.read_text()) or file.name == "frames.js"

    @pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
    def test_evaluate_nothing(self, file):
        assert not re.search(
            r"\beval\(|new Function|setTimeout\(\s*[\"'`]", file.read_text()
        )

    @pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
    def test_import_only_what_is_there(self, file):
        for other in imported(file, every=True):
            assert other.is_file()


class TestStyles:
    def test_panel_is_small(self):
        assert len(gzip.compress((FOLDER / "panel.css").read_bytes(), 9)) <= 8_000

    def test_reach_nothing_outside_the_panel(self):
        text = re.sub(r"/\*.*?\*/", "", (FOLDER / "panel.css").read_text(), flags=re.S)
        for selector in re.findall(r"(?:^|[{}])\s*([^@{};]+)\{", text):
            is_frame = re.fullmatch(r"to|\d+%", selector.strip())
            assert is_frame or "#aia" in selector, selector


class TestHtmx:
    def test_is_the_version_of_the_decision(self):
        source = (FOLDER / "vendor" / "htmx.min.js").read_text()

        assert 'version="4.0.1"' in source

    def test_has_its_licence_beside_it(self):
        licence = (FOLDER / "vendor" / "htmx.LICENSE.txt").read_text()

        assert "Zero-Clause BSD" in licence
