"""The panel and its own pages in Jazzmin, whose pages are rows of Bootstrap."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.panel import Panel
from tests.browser.panel_scenes import answer_menu, share_link
from tests.browser.sites import site
from tests.browser.test_themes import LIST, THEMES
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import text

Visit = Callable[..., Visitor]
SMALL: dict[str, Any] = {
    "viewport": {"width": 320, "height": 640},
    "has_touch": True,
    "is_mobile": True,
}

# How much wider the place of the panel is than the panel.
FREE = """panel => {
  const place = panel.parentElement.getBoundingClientRect();
  return Math.round(place.width - panel.getBoundingClientRect().width);
}"""
# How far the words of a cell are from those of the next one.
ROOM = """cell => {
  const { paddingInlineStart, paddingInlineEnd } = getComputedStyle(cell);
  return parseFloat(paddingInlineStart) + parseFloat(paddingInlineEnd);
}"""
WIDER = "document.documentElement.scrollWidth - innerWidth"
# By how many pixels the tables of the dashboard go beyond their cards.
BEYOND = """tables => Math.max(...tables.map((table) => {
  const card = table.closest(".card").getBoundingClientRect();
  return table.getBoundingClientRect().right - card.right;
}))"""

BOX = """panel => {
  const { left, top, width, height } = panel.getBoundingClientRect();
  return [left, top, width, height];
}"""


def test_panel_and_pages_have_the_room_of_the_theme(
    tmp_path: Path,
    model: ModelServerProcess,
    visit: Visit,
    subtests: pytest.Subtests,
) -> None:
    model.script("default", [[text("Three drafts could be published.")]])
    with site(tmp_path, model, THEMES["jazzmin"].settings) as server:
        panel = visit(server).panel()
        for fact in (own_page_is_as_wide_as_its_place, tables_have_room, sharing_fits):
            with subtests.test(fact.__name__):
                fact(panel)
        german = visit(server, locale="de").panel()
        for fact in (dashboard_has_its_columns, form_is_in_its_card):
            with subtests.test(fact.__name__):
                fact(german)
        with subtests.test("all of the sheet is in the window of a small phone"):
            sheet_is_in_sight(visit(server, locale="de", **SMALL).tab())


def own_page_is_as_wide_as_its_place(panel: Panel) -> None:
    """However little is said in it."""
    panel.goto("/assistant/")
    panel.input.wait_for()
    assert panel.root.evaluate(FREE) == 0


def tables_have_room(panel: Panel) -> None:
    panel.goto()
    panel.open()
    answer_menu(panel)
    link = panel.page.get_by_role("link", name="Show raw")
    panel.goto(link.get_attribute("href") or "")
    cells = panel.page.locator("#aia-whole :is(th, td)")
    assert min(cell.evaluate(ROOM) for cell in cells.all()) >= 8


def sharing_fits(panel: Panel) -> None:
    panel.goto()
    panel.open()
    share_link(panel)
    link = panel.page.locator("#aia-share pre").inner_text()
    panel.page.set_viewport_size({"width": 390, "height": 844})
    panel.page.goto(link)
    panel.page.locator(".aia-shared").wait_for()
    assert panel.page.evaluate(WIDER) <= 0


def dashboard_has_its_columns(panel: Panel) -> None:
    panel.page.set_viewport_size({"width": 1280, "height": 900})
    assert panel.root.get_attribute("data-mode") == "dock"
    tables = panel.page.locator(".app-content .card table")
    assert tables.evaluate_all(BEYOND) <= 0


def form_is_in_its_card(panel: Panel) -> None:
    """And words of its labels are not broken."""
    panel.goto(f"{LIST}4/change/")
    panel.page.set_viewport_size({"width": 1280, "height": 900})
    assert panel.root.get_attribute("data-open") is not None
    form = panel.page.locator(".tab-content")
    assert form.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    label = panel.page.locator("label[for=id_description]")
    assert label.evaluate("box => box.clientHeight") < 30


def sheet_is_in_sight(panel: Panel) -> None:
    """A list that is wider than the window would widen it."""
    for path in ("/admin/", LIST):
        panel.goto(path)
        panel.open()
        assert panel.root.evaluate(BOX) == [0, 0, 320, 640], path
