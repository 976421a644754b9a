"""The pages as a site, as `make docs` builds it."""

import re
import subprocess

import pytest

from tests.docs.blocks import ROOT
from tests.servers.process import python

pytestmark = [
    pytest.mark.servers,
    pytest.mark.broad,
    pytest.mark.xdist_group("documentation"),
]

FROM_ELSEWHERE = re.compile(
    r"<(?:script|img|link|iframe)\b[^>]*(?:src|href)=\"(?:https?:)?//[^\"]+"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    build = ["-q", "-W", "--keep-going", "-d", str(folder / "trees"), "docs"]
    done = subprocess.run(
        python("-m", "sphinx", *build, str(folder / "site")),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_every_page_is_built(site):
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}

    assert pages <= {path.stem for path in site.glob("*.html")}


def test_no_page_asks_another_server(site):
    asked = {
        page.name: FROM_ELSEWHERE.findall(page.read_text())
        for page in site.glob("*.html")
    }

    assert asked
    assert not {name: found for name, found in asked.items() if found}


def test_search_knows_settings_and_docstrings(site):
    index = (site / "searchindex.js").read_text()

    assert '"message_char"' in index  # words are stemmed
    assert '"RunContext"' in index


def test_reference_has_the_docstring_of_a_public_name(site):
    text = (site / "reference.html").read_text()

    assert 'id="ai_assistant.tool"' in text
    assert "Register a function, sync or async, as a tool of the model." in text


def test_drawings_are_shown(site):
    text = (site / "architecture.html").read_text()

    assert re.findall(r'<img [^>]*src="_images/architecture-\w+\.svg"', text)
