"""A docked panel leaves the pages of the admin enough room to be used."""

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


def resize(panel, width):
    panel.page.set_viewport_size({"width": width, "height": 800})


def test_page_has_room_beside_the_panel_at_each_width(server, visit, subtests):
    panel = start(visit, server, 1280)
    for path in ("/admin/", FORM, "/admin/auth/user/1/change/", LIST):
        panel.goto(path)
        for width in (1280, 1366, 1440):
            resize(panel, width)
            with subtests.test("nothing is cut", width=width, path=path):
                assert panel.page.evaluate(CUT) == []
                left, right = edges(panel, "#aia")
                assert right - left == 360

    for width in (1280, 1366, 1440):
        with subtests.test("the list fills what is left", width=width):
            resize(panel, width)
            left, right = edges(panel, "#result_list")
            assert right - left > 0.85 * edges(panel, "#aia")[0]

    with subtests.test("names of rows stay in sight"):
        resize(panel, 1280)
        names_of_rows_stay_in_sight(panel)

    for width, wide in ((1600, 400), (2400, 480), (1920, 480)):
        with subtests.test("a wider window has a wider panel", width=width):
            resize(panel, width)
            panel.goto(LIST)
            left, right = edges(panel, "#aia")
            assert right - left == wide
    expect(panel.page.locator("#nav-sidebar")).to_be_visible()


def names_of_rows_stay_in_sight(panel):
    before = edges(panel, "#result_list tbody th")[0]
    panel.page.evaluate(
        """() => {
          document.getElementById("result_list").style.width = "2000px";
          document.querySelector("#changelist-form .results").scrollLeft = 600;
        }"""
    )
    assert edges(panel, "#result_list tbody th")[0] <= before
    assert edges(panel, "#result_list tbody th")[0] >= edges(panel, "#changelist")[0]


def test_navigation_and_filter_fold_and_come_back_with_the_room(
    server, visit, subtests
):
    docked = start(visit, server, 1440)
    docked.goto(LIST)
    with subtests.test("folded, and back with the room"):
        navigation_and_filter_come_back(docked)
    with subtests.test("the filter opens by its heading"):
        filter_opens_by_its_heading(docked)
    with subtests.test("what was opened stays open on the next page"):
        opened_stays_open(docked)


def navigation_and_filter_come_back(docked):
    navigation, choices = parts(docked)
    button = docked.page.locator("#toggle-nav-sidebar")
    expect(navigation).to_be_hidden()
    expect(choices).to_be_hidden()

    docked.page.locator("#aia-close").click()
    expect(navigation).to_be_visible()
    expect(choices).to_be_visible()
    assert docked.page.get_by_role("button", name="Filter").count() == 0

    # It opens where the person had closed it.
    button.click()
    expect(navigation).to_be_hidden()
    docked.open()
    expect(choices).to_be_hidden()
    button.click()
    expect(navigation).to_be_visible()
    button.click()
    expect(navigation).to_be_hidden()


def filter_opens_by_its_heading(docked):
    choices = parts(docked)[1]
    heading = docked.page.get_by_role("button", name="Filter", exact=True)
    heading.press("Enter")
    expect(choices).to_be_visible()
    heading.press(" ")
    expect(choices).to_be_hidden()
    heading.click()
    expect(heading).to_have_attribute("aria-expanded", "true")


def opened_stays_open(docked):
    docked.page.locator("#toggle-nav-sidebar").click()
    docked.goto(f"{LIST}?status__exact=draft")
    navigation, choices = parts(docked)
    expect(docked.page.get_by_role("link", name="Clear all filters")).to_be_visible()
    expect(navigation).to_be_visible()
    expect(choices).to_be_visible()
    docked.page.locator("#toggle-nav-sidebar").click()
    expect(navigation).to_be_hidden()


def parts(docked):
    """Return the navigation and the first choices of the filter."""
    choices = docked.page.locator("#changelist-filter details").first
    return docked.page.locator("#nav-sidebar"), choices
