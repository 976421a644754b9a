"""Where the panel stands: docked, floating, as a sheet, on a page of its own."""

import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.browser.panel import Panel

LIST = "/admin/questionnaires/questionnaire/"
FORM = "/admin/questionnaires/questionnaire/4/change/"
BOX = """query => {
  const { left, right, top, bottom, width, height } =
    document.querySelector(query).getBoundingClientRect();
  return { left, right, top, bottom, width, height };
}"""
SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll(
  "#aia, #aia-inner, #aia-scroll, #aia-form, .aia-head, .aia-settings")]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1).map((one) => one.id || one.tagName)"""
FLOATING = "o=1&m=float&w=400"
LOADED = "async () => void (await import(document.getElementById('aia').dataset.src))"


def box(panel: Panel, query: str = "#aia") -> dict[str, float]:
    return panel.page.evaluate(BOX, query)


def leave(panel: Panel, cookie: str) -> None:
    """Have the panel left as the cookie says; the next page shows it."""
    # The page that stands there writes the cookie too, once its script has come.
    panel.page.goto("about:blank")
    panel.page.context.add_cookies(
        [{"name": "aia_ui", "value": cookie, "url": panel.url}]
    )


def said(panel: Panel) -> dict[str, str]:
    """Return what the cookie says."""
    cookies = panel.page.context.cookies(panel.url)
    raw = next(one["value"] for one in cookies if one["name"] == "aia_ui")
    return dict(part.split("=") for part in raw.split("&"))


def drag(panel: Panel, query: str, dx: int, dy: int) -> None:
    """Drag an element by its middle; the panel follows, and stands on a step then."""
    panel.page.evaluate(LOADED)  # before that nobody hears the pointer
    before, where = box(panel), box(panel, query)
    x = where["left"] + where["width"] / 2
    y = where["top"] + where["height"] / 2
    mouse = panel.page.mouse
    mouse.move(x, y)
    mouse.down()

    def follows() -> bool:
        # What moves it is fetched when the pointer goes down.
        mouse.move(x + dx / 2, y + dy / 2)
        mouse.move(x + dx, y + dy)
        return box(panel) != before

    panel.wait(follows, "the panel follows")
    mouse.up()
    panel.wait(
        lambda: "--aia-width" not in (panel.root.get_attribute("style") or ""),
        "it stands on a step",
    )


def at_home(panel: Panel) -> bool:
    """Tell if the window stands where it does if nobody has moved it."""
    where = box(panel)
    size = (where["width"], where["height"])
    return (where["right"], where["bottom"], *size) == (1420, 880, 400, 640)


def is_in_sight(panel: Panel) -> bool:
    where, view = box(panel), panel.page.viewport_size
    assert view
    return (
        where["left"] >= -0.5
        and where["top"] >= -0.5
        and where["right"] <= view["width"] + 0.5
        and where["bottom"] <= view["height"] + 0.5
    )


@pytest.mark.scenario(40)
@pytest.mark.row("ui 94")
@pytest.mark.row("N06")
class TestWindow:
    @pytest.mark.smoke
    @pytest.mark.row("N08")
    def test_window_is_dragged_by_its_head_and_stays_there(self, tab):
        leave(tab, FLOATING)
        tab.goto()
        tab.page.locator(".aia-head").hover()
        before = box(tab)

        drag(tab, "#aia-title", -300, -120)

        after = box(tab)
        assert after["left"] == before["left"] - 300
        assert after["top"] == before["top"] - 120
        tab.goto(LIST)
        assert box(tab) == after

    @pytest.mark.row("N08")
    def test_window_is_left_sized_moved_by_keys_and_never_out_of_sight(
        self, tab, subtests
    ):
        with subtests.test("it stands where it was left: closed, and opened"):
            leave(tab, "o=0&m=float&w=400&p=20.10.5")
            tab.goto()
            tab.open()
            where = box(tab)
            place = (where["left"], where["top"])
            assert place == (1440 - 200 - 400, 900 - 100 - 400)
            assert (where["width"], where["height"]) == (400, 400)

        with subtests.test("a press on the head alone moves nothing"):
            tab.page.locator("#aia-title").click()
            assert box(tab) == where

        with subtests.test("moved and sized by keys"):
            self.move_by_keys(tab, where)

        with subtests.test("sized by its corners, and there on the next page"):
            self.size_by_corners(tab)
            after = box(tab)
            tab.goto(LIST)
            assert box(tab) == after

        with subtests.test("a double click on an edge puts all back"):
            drag(tab, '[data-grip="top start"]', -100, 100)
            tab.page.locator('[data-grip="top start"]').dblclick()
            tab.wait(lambda: at_home(tab), "the window in its corner")

        with subtests.test("in sight when the browser's window shrinks"):
            drag(tab, "#aia-title", -3000, -3000)
            for width, height in ((1000, 700), (660, 400), (1440, 900)):
                tab.page.set_viewport_size({"width": width, "height": height})
                assert is_in_sight(tab)
                assert tab.input.is_visible()

        with subtests.test("left on a larger screen: it is in sight"):
            tab.page.set_viewport_size({"width": 800, "height": 500})
            leave(tab, "o=1&m=float&w=800&p=79.255.63")
            tab.goto()
            assert is_in_sight(tab)
            assert tab.input.is_visible()
            tab.page.set_viewport_size({"width": 1440, "height": 900})

        with subtests.test("set afloat where it was"):
            leave(tab, "o=1&m=dock&w=400&p=20.10.5")
            tab.goto()
            tab.page.locator("#aia-mode").click()
            tab.wait(lambda: box(tab)["height"] == 400, "the place of the cookie")
            assert box(tab)["left"] == 1440 - 200 - 400

    def size_by_corners(self, tab):
        for grip, dx, dy, edges in (
            ("top start", -40, 80, ["left", "top"]),
            ("bottom end", -40, -80, ["right", "bottom"]),
        ):
            before = box(tab)
            drag(tab, f'[data-grip="{grip}"]', dx, dy)
            after = box(tab)
            for edge in ("left", "right", "top", "bottom"):
                by = dx if edge in ("left", "right") else dy
                assert after[edge] == before[edge] + (by if edge in edges else 0)

    def move_by_keys(self, tab, before):
        keys = tab.page.keyboard
        tab.page.locator("#aia-move").focus()
        for key in ("ArrowLeft", "ArrowLeft", "ArrowUp"):
            keys.press(key)
        tab.wait(lambda: box(tab)["top"] == before["top"] - 20, "20 px higher")
        assert box(tab)["left"] == before["left"] - 40

        tab.page.get_by_role("separator", name="Height").focus()
        keys.press("ArrowDown")
        tab.wait(lambda: box(tab)["height"] == before["height"] - 20, "lower by 20 px")
        width = tab.page.get_by_role("separator", name="Width")
        width.focus()
        keys.press("Home")
        tab.wait(lambda: box(tab)["width"] == 320, "the least width")
        assert width.get_attribute("aria-valuenow") == "320"
        keys.press("End")
        tab.wait(lambda: box(tab)["width"] == 800, "the greatest width")
        keys.press("Enter")
        tab.wait(lambda: at_home(tab), "all as it was at first")

    def test_window_stands_in_its_corner_without_a_script(self, server, visit):
        visitor = visit(server, java_script_enabled=False)
        tab = visitor.tab()
        leave(tab, f"{FLOATING}&p=20.10.5")
        tab.goto()

        assert tab.page.locator("#aia").bounding_box() == {
            "x": 1440 - 20 - 400,
            "y": 900 - 20 - 640,
            "width": 400,
            "height": 640,
        }


@pytest.mark.row("ui 93")
@pytest.mark.row("N06")
class TestDock:
    def test_width_follows_the_edge_and_keys(self, panel, subtests):
        grip = panel.page.locator("[data-grip=start]")
        with subtests.test("no grips but its edge"):
            shown = panel.page.locator("[data-grip]:visible")
            assert shown.count() == 1
            assert shown.get_attribute("data-grip") == "start"

        with subtests.test("by keys"):
            edge = panel.page.get_by_role("separator", name="Width")
            edge.focus()
            panel.page.keyboard.press("ArrowRight")
            panel.wait(lambda: box(panel)["width"] == 380, "a step narrower")
            panel.page.keyboard.press("Home")
            panel.wait(lambda: box(panel)["width"] == 320, "the least width")
            assert edge.get_attribute("aria-valuenow") == "320"

        with subtests.test("by the pointer, in steps"):
            drag(panel, "[data-grip=start]", -47, 0)
            assert box(panel)["width"] == 360
            assert box(panel, "#container")["right"] <= box(panel)["left"]
            panel.goto(LIST)
            assert box(panel)["width"] == 360

        with subtests.test("the page has its room"):
            drag(panel, "[data-grip=start]", -800, 0)
            assert box(panel)["left"] == 880
            assert grip.get_attribute("aria-valuemax") == "560"

    @pytest.mark.scenario(39)
    @pytest.mark.row("ui 105")
    def test_dock_and_window_are_mirrored(self, server, visit, subtests):
        """Where text runs from right to left."""
        mirrored = visit(server, locale="ar").panel()
        with subtests.test("the dock stands at the other side"):
            assert mirrored.page.locator("html").get_attribute("dir") == "rtl"
            assert box(mirrored)["left"] == 0
            drag(mirrored, "[data-grip=start]", 60, 0)
            assert box(mirrored)["right"] == 420
            assert box(mirrored, "#container")["left"] >= 420

        with subtests.test("what was asked is at one side, whatever its script"):
            for asked in ("Which drafts?", "أي مسودات؟"):
                mirrored.ask_and_wait(asked)
            bubbles = mirrored.log.locator("[data-role=user] > .aia-text")
            first, second = (one.bounding_box() for one in bubbles.all())
            assert first["x"] == second["x"] == box(mirrored, "#aia-log")["left"]

        with subtests.test("the window follows the pointer"):
            leave(mirrored, FLOATING)
            mirrored.goto()
            before = box(mirrored)
            drag(mirrored, "#aia-title", 200, -100)
            drag(mirrored, "[data-grip=start]", 60, 0)
            after = box(mirrored)
            assert after["left"] == before["left"] + 200
            assert after["right"] == before["right"] + 260
            mirrored.page.locator("#aia-move").focus()
            mirrored.page.keyboard.press("ArrowLeft")
            mirrored.wait(
                lambda: box(mirrored)["left"] == after["left"] - 20, "20 px to the left"
            )


WATCH = """() => {
  window.shifts = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (!entry.hadRecentInput) window.shifts += entry.value;
  }).observe({ type: "layout-shift" });
}"""
# A busy machine paints a part of a page before it has read the rest, which then
# moves that part: what counts is what moves once the whole page is painted.
WHOLE = """() => new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint').length"
PLACES = """(selectors) => selectors.map((selector) => {
  const { x, y, width, height } = document.querySelector(selector).getBoundingClientRect();
  return [x, y, width, height];
})"""


# How the panel was left, where, and what must not move there; on the list, nothing at all.
LOADED_PAGES = (
    ("o=1&m=dock&w=480", "/admin/auth/user/", ["#aia-input", "#aia-empty", "#content"]),
    ("o=1&m=float&w=440&p=28.20.6", "/admin/auth/user/", ["#aia-input", "#content"]),
    ("o=1&m=dock&w=400", FORM, ["#aia-input", "#aia-empty"]),
    ("o=1&m=dock&w=400", f"{LIST}1/change/", ["#aia-input", "#aia-empty"]),
)


@pytest.mark.scenario(2)
@pytest.mark.row("ui 96")
def test_open_panel_and_its_greeting_are_there_first_and_shift_nothing(tab, subtests):
    # The admin opens its own list at the side late, which shifts the page.
    tab.page.goto(f"{tab.url}/static/admin/css/base.css")
    tab.page.evaluate("localStorage['django.admin.navSidebarIsOpen'] = 'false'")
    for cookie, path, selectors in LOADED_PAGES:
        leave(tab, cookie)
        with subtests.test(path=path, cookie=cookie):
            first, last = places_before_and_after_the_script(tab, path, selectors)
            assert first[0][2] > 0
            assert last == first
            if "#content" in selectors:
                assert tab.page.evaluate("window.shifts") < 0.001


def places_before_and_after_the_script(tab: Panel, path: str, selectors: list[str]):
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    ours = re.compile("/ai_assistant/(?!place).*[.](js|more.css)")
    tab.page.route(ours, hold)
    tab.page.goto(f"{tab.url}{path}", wait_until="commit")
    tab.wait(lambda: tab.page.evaluate(PAINTED), "the first paint")
    tab.page.wait_for_function("() => document.readyState != 'loading'")
    first = tab.page.evaluate(PLACES, selectors)
    tab.page.evaluate(WHOLE)
    tab.page.evaluate(WATCH)
    tab.page.unroute(ours)  # lets those go that are held
    tab.ready()
    tab.page.locator("#aia-more").wait_for(state="attached")
    tab.page.wait_for_load_state("networkidle")
    tab.page.evaluate(WHOLE)
    assert held
    return first, tab.page.evaluate(PLACES, selectors)


PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
SMALL = """() => [...document.querySelectorAll("#aia :is(button, a, select, summary)")]
  .filter((one) => one.checkVisibility() && !one.closest(".aia-chip, .aia-drop, .aia-b"))
  .filter((one) => !one.matches(".aia-foot .aia-look"))
  .filter((one) => {
    const { height, width } = one.getBoundingClientRect();
    return Math.min(height, width) < 44;
  })
  .map((one) => one.outerHTML.slice(0, 80))"""


BARS = """() => {
  const add = (id, style) => {
    const bar = document.body.appendChild(document.createElement("div"));
    Object.assign(bar.style, { position: "fixed", ...style });
    bar.id = id;
  };
  add("grp-header", { inset: "0 0 auto 0", height: "60px", zIndex: 1000 });
  add("djDebug", { inset: "0 0 0 auto", width: "240px", zIndex: 100000000 });
}"""
ON_TOP = """() => [...document.querySelectorAll("#aia .aia-head button")]
  .filter((one) => one.checkVisibility()).map((one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    const found = document.elementFromPoint(left + width / 2, top + height / 2);
    return one.contains(found);
  })"""


ON_TOP_OF = "([x, y]) => Boolean(document.elementFromPoint(x, y)?.closest('#aia'))"
LAYER = "query => Number(getComputedStyle(document.querySelector(query)).zIndex)"


class TestBesideTheAdmin:
    @pytest.mark.scenario(40)
    def test_page_opens_its_popups_and_bars_and_prints_as_without_the_panel(
        self, tab, subtests
    ):
        tab.goto(FORM)
        with subtests.test("a form and its popup work beside it"):
            self.form_and_popup_work(tab)
        with subtests.test("print shows no panel"):
            self.print_shows_none(tab)
        leave(tab, "o=1&m=float&w=800&p=40.20.1")
        tab.goto("/admin/auth/user/1/change/")
        with subtests.test("lists and calendars open above the panel"):
            self.calendar_is_above(tab)
        tab.page.locator("#aia-dock").click()
        with subtests.test("bars that a package fixes to the page lie below"):
            self.bars_lie_below(tab)

    def form_and_popup_work(self, tab):
        with tab.page.expect_popup() as opened:
            tab.page.locator("#add_id_owner").click()
        popup = opened.value
        popup.wait_for_load_state()
        assert popup.locator("#aia, #aia-launcher, #aia-skip").count() == 0
        popup.close()
        assert tab.input.is_visible()

        tab.page.fill("#id_title", "Not saved yet")
        tab.page.locator("#aia-mode").click()
        drag(tab, "#aia-title", -200, -100)
        tab.page.locator("#aia-close").click()
        assert tab.page.locator("#id_title").input_value() == "Not saved yet"
        tab.open()

    def print_shows_none(self, tab):
        padding = "getComputedStyle(document.body).paddingInlineEnd"
        for mode, button in (("float", "#aia-dock"), ("dock", "#aia-mode")):
            assert tab.root.is_visible()
            tab.page.emulate_media(media="print")
            assert not tab.root.is_visible(), mode
            assert tab.page.evaluate(padding) == "0px", mode
            tab.page.emulate_media(media="screen")
            tab.page.locator(button).click()

    def calendar_is_above(self, tab):
        tab.page.locator("#calendarlink0").click()
        at = box(tab, "#calendarbox0")
        x, y = at["left"] + at["width"] / 2, at["top"] + 10
        assert not tab.page.evaluate(ON_TOP_OF, [x, y])
        panel = tab.page.evaluate(LAYER, "#aia")
        assert tab.page.evaluate(LAYER, "#calendarbox0") > panel
        tab.page.keyboard.press("Escape")
        tab.page.locator("#calendarbox0").wait_for(state="hidden")

    def bars_lie_below(self, tab):
        tab.page.evaluate(BARS)
        on_top = tab.page.evaluate(ON_TOP)
        assert on_top
        assert all(on_top)
        # The handle of the debug toolbar, at the right edge, stays free.
        size = tab.page.viewport_size or {}
        assert box(tab)["right"] == size["width"] - 54


@pytest.mark.row("ui 100")
class TestSheet:
    @pytest.mark.smoke
    def test_sheet_fills_the_phone_and_leaves_room_for_fingers_and_keys(
        self, server, visit, subtests
    ):
        sheet = visit(server, **PHONE).panel(FORM)
        with subtests.test("it fills the phone"):
            where = box(sheet)
            assert (where["left"], where["top"]) == (0, 0)
            assert (where["width"], where["height"]) == (390, 844)
            assert sheet.page.evaluate(SIDEWAYS) == []
            assert sheet.page.locator(".aia-empty").is_visible()
            assert not sheet.page.locator(".aia-shortcut").is_visible()

        with subtests.test("fingers find their targets"):
            sheet.page.locator("#aia-settings summary").click()
            sheet.page.locator(".aia-settings").wait_for()
            assert sheet.page.evaluate(SMALL) == []
            sheet.page.keyboard.press("Escape")

        with subtests.test("it ends above the keyboard of the screen"):
            self.ends_above_the_keyboard(sheet)

        with subtests.test("the launcher leaves the last row of a page free"):
            sheet.page.locator("#aia-close").click()
            launcher = sheet.page.locator("#aia-launcher")
            launcher.wait_for()
            sheet.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
            last = box(sheet, ".submit-row")
            assert last["bottom"] <= box(sheet, "#aia-launcher")["top"]

    def ends_above_the_keyboard(self, sheet):
        # Chromium without a screen has no such keyboard: what it reports is set here.
        sheet.page.evaluate("""() => {
          Object.defineProperty(visualViewport, "height", { value: 500, configurable: true });
          visualViewport.dispatchEvent(new Event("resize"));
        }""")
        sheet.wait(lambda: box(sheet)["height"] == 500, "the room above the keyboard")
        assert box(sheet, "#aia-form")["bottom"] <= 500
        sheet.page.evaluate("""() => {
          delete visualViewport.height;
          visualViewport.dispatchEvent(new Event("resize"));
        }""")
        sheet.wait(lambda: box(sheet)["height"] == 844, "the whole height")


@pytest.mark.scenario(39)
def test_nothing_runs_over_at_any_size_and_the_composer_is_there(tab, subtests):
    for mode in ("dock", "float"):
        tab.page.set_viewport_size({"width": 720, "height": 450})
        leave(tab, f"o=1&m={mode}&w=800&p=79.1.1")
        tab.goto(LIST)
        tab.page.locator("#aia-settings summary").click()
        for width, height in ((720, 450), (640, 400), (320, 568)):
            tab.page.set_viewport_size({"width": width, "height": height})
            with subtests.test(mode=mode, width=width):
                wide = {*tab.page.evaluate(SIDEWAYS)}
                assert not {"aia", "aia-inner", "aia-form"} & wide
                assert is_in_sight(tab)
                send = box(tab, "#aia-send")
                assert send["right"] <= width
                assert send["bottom"] <= height


@pytest.mark.row("ui 95")
class TestFullPage:
    def test_full_page_leads_back_and_has_its_list(self, tab, subtests):
        tab.goto(LIST)
        tab.page.locator("#aia-settings summary").click()
        tab.page.get_by_role("link", name="Open on its own page").click()
        tab.page.wait_for_url("**/assistant/**")
        tab.ready()
        with subtests.test("the list stands beside a readable thread"):
            tab.ask_and_wait("Hello")
            history = box(tab, "#aia-history")
            assert history["left"] == box(tab)["left"] == 0
            assert history["right"] <= box(tab, "#aia-log")["left"]
            assert box(tab, "#aia-log")["width"] <= 760
            assert tab.page.locator("#aia-history a").first.is_visible()
            assert tab.page.locator("#aia-launcher, [data-grip]").count() == 0

        with subtests.test("it stays one when another conversation is drawn"):
            tab.new_conversation()
            assert tab.page.locator("#aia-history").is_visible()
            assert tab.page.locator("#aia-close, #aia-mode").count() == 0
            assert said(tab).get("m") != "page"

        with subtests.test("it leads back"):
            tab.page.get_by_role("link", name="Back", exact=True).click()
            tab.page.wait_for_url(f"**{LIST}")

        with subtests.test("a narrow page opens the list at a wish"):
            tab.page.set_viewport_size({"width": 900, "height": 700})
            tab.goto("/assistant/")
            assert not tab.page.locator("#aia-history").is_visible()
            tab.page.locator("#aia-list").click()
            tab.page.locator("#aia-history").wait_for()


MARK = "one => getComputedStyle(one, '::after').content"
UNDER_WAY = "An answer is under way."
RUNNING = """() => document.getAnimations().filter(({ effect }) =>
  effect.target?.closest('#aia, #aia-launcher')).length"""


@pytest.mark.row("ui 97")
class TestLauncher:
    def choose(self, panel: Panel, name: str) -> None:
        panel.page.locator("#aia-settings summary").click()
        panel.page.get_by_label("Button that opens").select_option(label=name)
        panel.page.keyboard.press("Escape")
        panel.page.locator("#aia-close").click()

    @pytest.mark.row("N12")
    def test_launcher_stands_where_chosen_or_nowhere(self, panel, subtests):
        launcher = panel.page.locator("#aia-launcher")
        with subtests.test("in the chosen corner, closed as it was left"):
            self.choose(panel, "Lower left")
            assert box(panel, "#aia-launcher")["left"] == 20
            panel.goto(LIST)
            assert panel.root.get_attribute("data-open") is None
            assert box(panel, "#aia-launcher")["left"] == 20
            launcher.click()
            panel.input.wait_for()

        with subtests.test("it can be done without"):
            self.choose(panel, "None")
            panel.goto(LIST)
            assert not launcher.is_visible()
            panel.page.keyboard.press("Control+Shift+A")
            panel.input.wait_for()

        with subtests.test("nobody is left without a way in"):
            panel.page.locator("#aia-settings summary").click()
            panel.page.get_by_label("Open and close with").uncheck()
            panel.page.keyboard.press("Escape")
            self.choose(panel, "None")
            assert launcher.is_visible()
            panel.goto(LIST)
            assert launcher.is_visible()

    @pytest.mark.scenario(39)
    @pytest.mark.row("N02", "H17", "ui 104")
    def test_launcher_shows_that_an_answer_is_under_way_and_nothing_moves(
        self, panel, model
    ):
        launcher = panel.page.locator("#aia-launcher")
        panel.ask("[[script:think]]")
        reasoning = panel.log.locator(".aia-reasoning")
        reasoning.wait_for()
        assert panel.page.evaluate(RUNNING) == 0  # who wishes no motion has none
        panel.page.locator("#aia-close").click()
        self.assert_under_way(launcher)
        panel.goto(LIST)  # drawn by the server now
        self.assert_under_way(launcher)
        panel.open()  # looked at meanwhile, on another page, and closed again
        reasoning.wait_for()
        panel.page.locator("#aia-close").click()
        self.assert_under_way(launcher)

        model.release("thought")
        expect(launcher).not_to_contain_text("under way", use_inner_text=True)
        assert launcher.evaluate(MARK) == "none"
        panel.reload()
        assert UNDER_WAY not in launcher.inner_text()

    def assert_under_way(self, launcher):
        expect(launcher).to_contain_text(UNDER_WAY, use_inner_text=True)
        assert launcher.evaluate(MARK) != "none"
        assert UNDER_WAY in launcher.aria_snapshot()
