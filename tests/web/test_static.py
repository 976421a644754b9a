import gzip
import re
from pathlib import Path

import pytest
import rcssmin
import rjsmin

import ai_assistant

FOLDER = Path(ai_assistant.__file__).parent / "static" / "ai_assistant"
SHEETS = ("panel.css", "more.css")
THEMES = [f"themes/{file.name}" for file in sorted((FOLDER / "themes").glob("*.css"))]
SCRIPTS = sorted(FOLDER.glob("*.js"))
HTMX = FOLDER / "vendor" / "htmx.esm.min.js"
FETCHING = FOLDER / "fetching.js"
# All that is fetched without htmx.
FETCHES = {
    "the outbox: send": ["sending.js"],
    "frames by HTTP": ["polling.js"],
    "tools of the page": ["tools.js"],
    "pages of the site": ["follow.js"],
    "JSON and clipboard": ["sync.js", "copy.js"],
}
TEMPLATES = Path(ai_assistant.__file__).parent / "templates"


def packed_bytes(file: Path) -> int:
    minify = rjsmin.jsmin if file.suffix == ".js" else rcssmin.cssmin
    return len(gzip.compress(minify(file.read_text()).encode(), 9))


def imported(file: Path, *, every: bool = False) -> set[Path]:
    """Return what `file` imports: at once, or at its first use too."""
    if file == HTMX:
        return set()  # it says so, in one long line
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


AT_ONCE = {FOLDER / "boot.js", *reached(FOLDER / "panel.js")}


# Fetched by the first call of a tool of the page, and what each brings.
FIRST_CALLS = {
    "page_state.js": 1_350,
    "highlight.js": 985,
    "tour.js": 2_100,
    "fill.js": 3_650,
    "page_forms.js": 6_850,  # outside of the admin alone
    "formsets.js": 3_850,  # by the first formset there
    "outline.js": 6_200,
    "page_action.js": 10_700,
}
OF_TOOLS = {
    *(FOLDER / "effects.js", FOLDER / "forms.js"),
    *(FOLDER / name for name in FIRST_CALLS),
}


class TestScripts:
    def test_closed_page_loads_little(self):
        assert packed_bytes(FOLDER / "boot.js") <= 800

    def test_open_panel_loads_little_at_once(self):
        assert sum(map(packed_bytes, reached(FOLDER / "panel.js"))) <= 12_000

    def test_rest_is_small_too(self):
        assert sum(map(packed_bytes, {*SCRIPTS} - AT_ONCE - OF_TOOLS)) <= 38_000

    @pytest.mark.parametrize(("name", "most"), FIRST_CALLS.items(), ids=[*FIRST_CALLS])
    def test_what_a_tool_of_the_page_brings_is_small_too(self, name, most):
        assert sum(map(packed_bytes, reached(FOLDER / name) & OF_TOOLS)) <= most

    def test_rest_waits_for_its_first_use(self):
        """Each is imported when it is wanted, or named by what wants it."""
        sources = [file.read_text() for file in TEMPLATES.rglob("*.html")]
        named = {
            FOLDER / f"{name}.js"
            for source in sources
            for name in re.findall(r'data-aia-use="(\w+)"', source)
        }
        wanted = set().union(*(reached(file, every=True) for file in AT_ONCE))

        assert named <= imported(FOLDER / "actions.js", every=True)
        assert {*SCRIPTS, HTMX} == wanted
        assert not named & AT_ONCE

    @pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
    def test_scripts_never_import_in_a_circle(self, file):
        """A storage that hashes names and rewrites imports would never end."""
        below = set().union(
            *(reached(one, every=True) for one in imported(file, every=True))
        )

        assert file not in below

    @pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
    def test_only_frames_turn_text_into_html(self, file):
        risky = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write"

        assert not re.search(risky, file.read_text()) or file.name == "frames.js"

    def test_ask_for_html_by_attributes_of_templates_alone(self):
        """What is fetched by hand is no HTML, or must outlive the page."""
        sources = {file: file.read_text() for file in SCRIPTS}
        by_hand = re.compile(r"fetch\(|XMLHttpRequest|sendBeacon|EventSource|\.ajax\(")
        fetching = [file.name for file in SCRIPTS if by_hand.search(sources[file])]
        made = [name for name, source in sources.items() if "aiaHx" in source]
        users = {
            file.name for file in SCRIPTS if FETCHING in imported(file, every=True)
        }

        assert fetching == [FETCHING.name]
        assert made == []  # no script adds an attribute that asks
        assert users == {name for names in FETCHES.values() for name in names}

    def test_what_applies_frames_stays_short(self):
        assert len((FOLDER / "frames.js").read_text().splitlines()) <= 130

    @pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
    def test_evaluate_nothing(self, file):
        assert not re.search(
            r"\beval\(|new Function|setTimeout\(\s*[\"'`]", file.read_text()
        )

    @pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
    def test_import_only_what_is_there(self, file):
        for other in imported(file, every=True):
            assert other.is_file()


def without_comments(sheet: str) -> str:
    return re.sub(r"/\*.*?\*/", "", (FOLDER / sheet).read_text(), flags=re.S)


def selectors(sheet: str) -> list[str]:
    return re.findall(r"(?:^|[{}])\s*([^@{};]+)\{", without_comments(sheet))


class TestStyles:
    def test_styles_are_small(self):
        sheets = (FOLDER / "panel.css", FOLDER / "code.css")

        assert sum(map(packed_bytes, sheets)) <= 8_192 + 1_536

    def test_what_a_click_brings_is_small_too(self):
        assert packed_bytes(FOLDER / "more.css") <= 2_850

    @pytest.mark.parametrize("sheet", SHEETS)
    def test_reach_nothing_outside_the_panel(self, sheet):
        for selector in selectors(sheet):
            is_frame = re.fullmatch(r"to|\d+%", selector.strip())
            is_theme = selector.strip() == ":where(:root)"  # variables of ours alone
            is_nested = selector.startswith("&")  # in one that was looked at
            is_ours = "#aia" in selector or ".aia-fullpage" in selector
            assert is_frame or is_theme or is_nested or is_ours, selector

    @pytest.mark.parametrize("sheet", [*SHEETS, *THEMES])
    def test_no_growing_answer_styles_all_its_rows_anew(self, sheet):
        """
        `:has(...)` before a bare element's name, or on the page at any depth.

        Either makes the browser look at all such elements, or at the whole page,
        with each frame: 12 to 50 ms a frame in the middle of a long answer. So do the
        rules inside of one for the page: `#aia ~ *` finds it as well.
        """
        for selector in selectors(sheet):
            page = r"(:root|html|body)[^ :]*:has\((?!>)"
            assert not re.search(page, selector), selector
            for one in re.split(r",(?![^(]*\))", selector):
                bare = r":has\(.*[ >+~](\*|[a-z][\w-]*)$"
                assert not re.search(bare, one.strip()), one
        inside = r"(:root|html|body)[^{};]*:has\([^{};]*\{[^{}]*\{"
        assert not re.search(inside, without_comments(sheet))


class TestHtmx:
    def test_htmx_is_the_version_of_the_decision(self):
        assert 'version="4.0.1"' in HTMX.read_text()

    def test_htmx_waits_for_an_open_panel(self):
        assert HTMX not in AT_ONCE

    def test_htmx_has_its_licence_beside_it(self):
        licence = (FOLDER / "vendor" / "htmx.LICENSE.txt").read_text()

        assert "Zero-Clause BSD" in licence
