"""Axe finds nothing in the panel and its launcher, in any state, light and dark."""

from collections.abc import Iterator
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page

import ai_assistant
from tests.browser import scenes
from tests.browser.owner_pages import addresses
from tests.browser.panel import Panel
from tests.browser.theatre import PHONE, Theatre, theatre
from tests.browser.visitor import Visitor
from tests.thorough import share

OURS = [["#aia"], ["#aia-launcher"], ["#aia-whole"]]  # the last on pages of their own
# A text box of several lines that offers a list: a combobox to who listens, for which
# HTML has no element.
COMBOBOX = 'aria-allowed-role: <textarea id="aia-input"'
# Tables of two answers may have the same columns, by which they are named, and each
# block of code is named alike.
ALIKE = (
    'landmark-unique: <div class="aia-table"',
    'landmark-unique: <pre tabindex="0" role="region"',
)
# What axe is asked: the rules of WCAG 2.2 AA and its own best practices.
TAGS = [
    *("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"),
    "best-practice",
]
# What a theme decides on; all else is the same in the other one.
OF_A_THEME = ["color-contrast", "link-in-text-block"]
RUN = "([context, options]) => axe.run(context, options)"
# Colours fade from one theme to the other, and half-way they have too little contrast.
# Each fade begins with the frame that draws it; what turns for ever is not waited for.
FADED = """async () => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  const ends = (one) => Number.isFinite(one.effect?.getComputedTiming().endTime);
  const fades = document.getAnimations().filter(ends);
  await Promise.allSettled(fades.map((one) => one.finished));
}"""
# As a browser names them.
LANGUAGES = sorted(
    folder.name.replace("_", "-")
    for folder in (Path(ai_assistant.__file__).parent / "locale").iterdir()
)
SCENE_S = 30  # at most, on a busy machine
# Of Django's own: its filters and their links, and its search.
OF_DJANGO = ("#changelist-filter", "#changelist-search")
FLOATING = (scenes.empty, scenes.done, scenes.approval, scenes.error)
ON_PHONE = (scenes.empty, scenes.done, scenes.approval, scenes.question, scenes.closed)


def faults(
    page: Page,
    *within: str,
    rules: list[str] = TAGS,
    without: tuple[str, ...] = (),
) -> list[str]:
    """Return what axe finds in the panel, or in these elements; an element a line."""
    if not page.evaluate("'axe' in window"):
        # By the debugger: the policy of the page lets no script in.
        page.evaluate(AXE_SCRIPT)
    context = {"include": [[one] for one in within] or OURS}
    if without:
        context["exclude"] = [[one] for one in without]
    options = {"resultTypes": ["violations"], "runOnly": rules}
    found: dict[str, Any] = page.evaluate(RUN, [context, options])
    told = (
        f"{fault['id']}: {node['html'][:160]} {node['failureSummary'][:300]}"
        for fault in found["violations"]
        for node in fault["nodes"]
    )
    return [one for one in told if not one.startswith((COMBOBOX, *ALIKE))]


def all_faults(panel: Panel, *within: str) -> list[str]:
    """Return what axe finds in light and in dark."""
    found = []
    for theme, rules in (("light", TAGS), ("dark", OF_A_THEME)):
        panel.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        panel.page.evaluate(FADED)
        found += [f"{theme}: {one}" for one in faults(panel.page, *within, rules=rules)]
    return found


@pytest.fixture(scope="module")
def house(browser: Browser) -> Iterator[Theatre]:
    with theatre(browser) as built:
        yield built


def checked(house: Theatre, scene: scenes.Scene, *, float_: bool = False, **more: Any):
    with house.play(scene, **more) as panel:
        if float_:
            panel.page.locator("#aia-mode").click()
            panel.page.locator("#aia[data-mode=float]").wait_for()
        return all_faults(panel)


@pytest.mark.scenario(39)
@pytest.mark.timeout(SCENE_S * len(scenes.SCENES))
def test_axe_finds_nothing_docked_floating_and_on_a_phone(
    house: Theatre, subtests: pytest.Subtests
) -> None:
    for scene in share(scenes.SCENES, every=12):
        with subtests.test(docked=scenes.name_of(scene)):
            assert checked(house, scene) == []
    for scene in share(FLOATING, every=4):
        with subtests.test(floating=scenes.name_of(scene)):
            assert checked(house, scene, float_=True) == []
    for scene in share(ON_PHONE, every=5):
        with subtests.test(phone=scenes.name_of(scene)):
            assert checked(house, scene, **PHONE) == []
    with subtests.test("a fault made on purpose is found, or all above shows nothing"):
        assert any("label" in fault for fault in faults_without_a_label(house))


@pytest.fixture(scope="module")
def owner_pages(house: Theatre) -> dict[str, str]:
    return addresses(house.server)


@pytest.mark.timeout(600)
def test_axe_finds_nothing_on_the_owners_pages(
    house: Theatre, owner_pages: dict[str, str], subtests: pytest.Subtests
) -> None:
    shown = share(sorted(owner_pages.items()), every=10)
    for place, options in (("desk", {}), ("phone", PHONE)):
        visitor = Visitor(house.browser, house.server.url, **options)
        tab = visitor.tab()
        for name, path in shown:
            with subtests.test(name, place=place):
                tab.goto(path)
                assert owner_faults(tab.page) == []
        visitor.leave()


@pytest.mark.timeout(180 * len(LANGUAGES))
def test_axe_finds_nothing_on_them_in_any_language(
    house: Theatre, owner_pages: dict[str, str], subtests: pytest.Subtests
) -> None:
    pairs = share(product(LANGUAGES, sorted(owner_pages.items())), every=48)
    for language, shown in groupby(pairs, key=itemgetter(0)):
        visitor = Visitor(house.browser, house.server.url, locale=language)
        tab = visitor.tab()
        for _language, (name, path) in shown:
            with subtests.test(name, language=language):
                tab.goto(path)
                told = tab.page.locator("html").get_attribute("lang")
                assert told == language.lower()
                assert faults(tab.page, "#content", without=OF_DJANGO) == []
        visitor.leave()


def owner_faults(page: Page) -> list[str]:
    """Return what axe finds in what a page of the owner holds, in light and in dark."""
    found = []
    for theme, rules in (("light", TAGS), ("dark", OF_A_THEME)):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.evaluate(FADED)
        found += faults(page, "#content", without=OF_DJANGO, rules=rules)
    return found


def faults_without_a_label(house: Theatre) -> list[str]:
    with house.play(scenes.empty) as panel:
        panel.page.evaluate(
            "() => document.getElementById('aia-input').labels[0].remove()"
            " ?? document.getElementById('aia-input').removeAttribute('placeholder')"
        )
        return faults(panel.page)
