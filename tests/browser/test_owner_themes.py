"""The owner's pages in the themes of packages: axe finds nothing, and all fit a phone."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.owner_pages import addresses
from tests.browser.panel import Panel
from tests.browser.sites import site
from tests.browser.test_axe import OF_A_THEME, OF_DJANGO, TAGS, faults
from tests.browser.test_themes import THEMES, choose
from tests.browser.theatre import PHONE
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.thorough import share

Visit = Callable[..., Visitor]

# What a page has beside navigation and head.
CONTENT = {"unfold": "#content", "jazzmin": ".app-content"}
# Of a theme itself, on each page: the heads of its lists, what looks a row up, and the
# head of a list of tables.
OF_PACKAGE = (*OF_DJANGO, "#result_list thead", ".related-lookup", "h5.m-0")
# Whether nothing of the theme lies over the page: not in its middle, nor at its sides.
UNCOVERED = """query => {
  const part = document.querySelector(query);
  const box = part.getBoundingClientRect();
  return [0.05, 0.5, 0.95].every((way) => {
    const found = document.elementFromPoint(box.left + box.width * way, innerHeight / 2);
    return part.contains(found) || found.contains(part);
  });
}"""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", share([*CONTENT], every=2))
def test_owners_pages_in_the_theme_of_a_package(
    tmp_path: Path,
    model: ModelServerProcess,
    visit: Visit,
    subtests: pytest.Subtests,
    name: str,
) -> None:
    with site(tmp_path, model, THEMES[name].settings) as server:
        shown = share(sorted(addresses(server).items()), every=10)
        tab = visit(server).tab()
        for one, path in shown:
            with subtests.test("axe", page=one):
                tab.goto(path)
                assert faults_in_both(tab, name) == []
        for language in ("en", "ar"):
            phone = visit(server, locale=language, **PHONE).tab().page
            for one, path in shown:
                with subtests.test("fits a phone", page=one, language=language):
                    assert wider_than_a_phone(phone, server.url + path) <= 1
                    assert phone.evaluate(UNCOVERED, CONTENT[name])


def faults_in_both(panel: Panel, name: str) -> list[str]:
    """Return what axe finds in the page of the owner, in light and in dark."""
    found = []
    for mode, rules in (("light", TAGS), ("dark", OF_A_THEME)):
        choose(panel, name, mode, mode)
        found += faults(panel.page, CONTENT[name], rules=rules, without=OF_PACKAGE)
    return found


def wider_than_a_phone(page: Page, url: str) -> int:
    """Return by how many pixels a page of the owner is; it has to be there."""
    response = page.goto(url)
    assert response is not None
    assert response.status == 200
    return int(page.evaluate("document.documentElement.scrollWidth - innerWidth"))
