"""A docked panel leaves the pages of the admin enough room to be used."""

import pytest
from playwright.sync_api import expect

LIST = "/admin/questionnaires/questionnaire/"
FORM = "/admin/questionnaires/questionnaire/1/change/"
EDGES = """query => {
    const box = document.querySelector(query).getBoundingClientRect();
    return [box.left, box.right];
}"""
# What reaches under the panel, and can be scrolled into sight by nothing.
CUT = """() => {
  const edge = document.getElementById("aia").getBoundingClientRect().left;
  const isScrolled = (element) => {
    for (let one = element; (one = one.parentElement); )
      if (/auto|scroll/.test(getComputedStyle(one).overflowX)) return true;
    return false;
  };
  return [...document.querySelectorAll("#container *")].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width && box.height && box.right > edge + 1 && !isScrolled(element);
  }).map((element) => element.outerHTML.slice(0, 80));
}"""


def edges(panel, query):
    """Return the left and the right edge of an element, in pixels."""
    return panel.page.evaluate(EDGES, query)


def start(visit, server, width, **options):
    """Open the panel in a window whose person has never chosen its width."""
    visitor = visit(server, viewport={"width": width, "height": 800}, **options)
    cookie = {"name": "aia_ui", "value": "o=1&m=dock", "url": server.url}
    visitor.context.add_cookies([cookie])
    return visitor.panel()


class TestBesideThePage:
    @pytest.fixture
    def docked(self, server, visit):
        return start(visit, server, 1280)

    def test_page_has_room_at_each_width(self, docked, subtests):
        for width in (1280, 1366, 1440):
            docked.page.set_viewport_size({"width": width, "height": 800})
            for path in ("/admin/", FORM, "/admin/auth/user/1/change/", LIST):
                docked.goto(path)
                with subtests.test("nothing is cut", width=width, path=path):
                    assert docked.page.evaluate(CUT) == []

            with subtests.test("list and panel", width=width):
                left, right = edges(docked, "#result_list")
                assert right - left > 0.85 * edges(docked, "#aia")[0]
                left, right = edges(docked, "#aia")
                assert right - left == 360

    def test_wider_window_has_navigation_and_wider_panel(self, docked, subtests):
        for window, wide in ((1600, 400), (1920, 480), (2400, 480)):
            docked.page.set_viewport_size({"width": window, "height": 800})
            docked.goto()
            with subtests.test(window=window):
                left, right = edges(docked, "#aia")
                assert right - left == wide

        docked.page.set_viewport_size({"width": 1920, "height": 800})
        docked.goto(LIST)
        expect(docked.page.locator("#nav-sidebar")).to_be_visible()


class TestNavigation:
    @pytest.fixture
    def docked(self, server, visit):
        panel = start(visit, server, 1440)
        panel.goto(LIST)
        return panel

    @pytest.fixture
    def navigation(self, docked):
        return docked.page.locator("#nav-sidebar")

    @pytest.fixture
    def button(self, docked):
        return docked.page.locator("#toggle-nav-sidebar")

    def test_folds_and_comes_back_with_the_room(self, docked, navigation, button):
        expect(navigation).to_be_hidden()

        docked.page.locator("#aia-close").click()
        expect(navigation).to_be_visible()

        # It opens where the person had closed it.
        button.click()
        expect(navigation).to_be_hidden()
        docked.open()
        button.click()
        expect(navigation).to_be_visible()

    def test_opens_by_its_own_button_and_stays_open(self, docked, navigation, button):
        button.click()
        expect(navigation).to_be_visible()

        docked.goto(LIST)

        expect(navigation).to_be_visible()
        button.click()
        expect(navigation).to_be_hidden()


class TestFilter:
    def test_folds_opens_and_comes_back_with_room(self, server, visit):
        docked = start(visit, server, 1440)
        docked.goto(LIST)
        choices = docked.page.locator("#changelist-filter details").first
        heading = docked.page.get_by_role("button", name="Filter", exact=True)
        expect(choices).to_be_hidden()

        docked.goto(f"{LIST}?status__exact=draft")
        expect(
            docked.page.get_by_role("link", name="Clear all filters")
        ).to_be_visible()

        docked.goto(LIST)
        docked.page.locator("#aia-close").click()
        expect(choices).to_be_visible()
        assert docked.page.get_by_role("button", name="Filter").count() == 0
        docked.open()
        expect(choices).to_be_hidden()

        heading.press("Enter")
        expect(choices).to_be_visible()
        heading.press(" ")
        expect(choices).to_be_hidden()

        heading.click()
        expect(heading).to_have_attribute("aria-expanded", "true")
        docked.goto(LIST)
        expect(choices).to_be_visible()


def test_names_of_rows_stay_in_sight(server, visit):
    panel = start(visit, server, 1280)
    panel.goto(LIST)
    before = edges(panel, "#result_list tbody th")[0]

    panel.page.evaluate(
        """() => {
          document.getElementById("result_list").style.width = "2000px";
          document.querySelector("#changelist-form .results").scrollLeft = 600;
        }"""
    )

    assert edges(panel, "#result_list tbody th")[0] <= before
    assert edges(panel, "#result_list tbody th")[0] >= edges(panel, "#changelist")[0]
