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


@pytest.mark.parametrize("width", [1280, 1366, 1440])
class TestBesideThePage:
    @pytest.fixture
    def docked(self, server, visit, width):
        return start(visit, server, width)

    @pytest.mark.parametrize(
        "path", ["/admin/", LIST, FORM, "/admin/auth/user/1/change/"]
    )
    def test_nothing_is_cut(self, docked, path):
        docked.goto(path)

        assert docked.page.evaluate(CUT) == []

    def test_change_list_has_most_of_the_page(self, docked):
        docked.goto(LIST)

        left, right = edges(docked, "#result_list")
        assert right - left > 0.85 * edges(docked, "#aia")[0]

    def test_panel_is_at_least_360_px_wide(self, docked):
        left, right = edges(docked, "#aia")

        assert right - left == 360


@pytest.mark.parametrize(("window", "wide"), [(1600, 400), (1920, 480), (2400, 480)])
def test_panel_is_wider_in_a_wider_window(server, visit, window, wide):
    left, right = edges(start(visit, server, window), "#aia")

    assert right - left == wide


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

    def test_folds(self, docked, navigation):
        expect(navigation).to_be_hidden()

    def test_comes_back_with_the_room(self, docked, navigation):
        docked.page.locator("#aia-close").click()

        expect(navigation).to_be_visible()

    def test_opens_by_its_own_button_and_stays_open(self, docked, navigation, button):
        button.click()
        expect(navigation).to_be_visible()

        docked.goto(LIST)

        expect(navigation).to_be_visible()
        button.click()
        expect(navigation).to_be_hidden()

    def test_opens_where_the_person_had_closed_it(self, docked, navigation, button):
        docked.page.locator("#aia-close").click()
        button.click()
        expect(navigation).to_be_hidden()
        docked.open()

        button.click()

        expect(navigation).to_be_visible()

    def test_is_there_in_a_wide_window(self, server, visit):
        panel = start(visit, server, 1920)
        panel.goto(LIST)

        expect(panel.page.locator("#nav-sidebar")).to_be_visible()


class TestFilter:
    @pytest.fixture
    def docked(self, server, visit):
        panel = start(visit, server, 1440)
        panel.goto(LIST)
        return panel

    @pytest.fixture
    def choices(self, docked):
        return docked.page.locator("#changelist-filter details").first

    @pytest.fixture
    def heading(self, docked):
        return docked.page.get_by_role("button", name="Filter", exact=True)

    def test_folds_above_the_list(self, docked, choices):
        expect(choices).to_be_hidden()

    def test_opens_by_pointer_and_stays_open(self, docked, choices, heading):
        heading.click()
        expect(heading).to_have_attribute("aria-expanded", "true")

        docked.goto(LIST)

        expect(choices).to_be_visible()

    def test_opens_by_keyboard(self, choices, heading):
        heading.press("Enter")
        expect(choices).to_be_visible()

        heading.press(" ")
        expect(choices).to_be_hidden()

    def test_that_is_on_can_be_ended(self, docked):
        docked.goto(f"{LIST}?status__exact=draft")

        expect(
            docked.page.get_by_role("link", name="Clear all filters")
        ).to_be_visible()

    def test_comes_back_with_the_room(self, docked, choices):
        docked.page.locator("#aia-close").click()

        expect(choices).to_be_visible()
        assert docked.page.get_by_role("button", name="Filter").count() == 0


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
