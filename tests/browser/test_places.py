"""Where the panel stands: docked, floating, as a sheet, on a page of its own."""

import re
from itertools import product
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


def is_in_sight(panel: Panel) -> bool:
    where, view = box(panel), panel.page.viewport_size
    assert view
    return (
        where["left"] >= -0.5
        and where["top"] >= -0.5
        and where["right"] <= view["width"] + 0.5
        and where["bottom"] <= view["height"] + 0.5
    )


@pytest.fixture
def floating(panel: Panel) -> Panel:
    leave(panel, FLOATING)
    panel.goto()
    panel.page.locator(".aia-head").hover()
    return panel


@pytest.mark.scenario(40)
@pytest.mark.row("ui 94")
@pytest.mark.row("N06")
class TestWindow:
    @pytest.mark.smoke
    @pytest.mark.row("N08")
    def test_window_is_dragged_by_its_head_and_stays_there(self, floating):
        before = box(floating)

        drag(floating, "#aia-title", -300, -120)

        after = box(floating)
        assert after["left"] == before["left"] - 300
        assert after["top"] == before["top"] - 120
        floating.goto(LIST)
        assert box(floating) == after

    @pytest.mark.row("N08")
    def test_window_stands_where_it_was_left(self, panel, subtests):
        with subtests.test("closed, and opened"):
            leave(panel, "o=0&m=float&w=400&p=20.10.5")
            panel.goto()
            panel.open()
            where = box(panel)
            assert (where["left"], where["top"]) == (1440 - 200 - 400, 900 - 100 - 400)
            assert (where["width"], where["height"]) == (400, 400)

        with subtests.test("set afloat"):
            leave(panel, "o=1&m=dock&w=400&p=20.10.5")
            panel.goto()
            panel.page.locator("#aia-mode").click()
            panel.wait(lambda: box(panel)["height"] == 400, "the place of the cookie")
            assert box(panel)["left"] == 1440 - 200 - 400

        with subtests.test("on a larger screen: it is in sight"):
            panel.page.set_viewport_size({"width": 800, "height": 500})
            leave(panel, "o=1&m=float&w=800&p=79.255.63")
            panel.goto()
            assert is_in_sight(panel)
            assert panel.input.is_visible()

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

    def test_window_is_sized_by_its_corners(self, panel, subtests):
        for grip, dx, dy, edges in (
            ("top start", -40, 80, ["left", "top"]),
            ("bottom end", -40, -80, ["right", "bottom"]),
        ):
            with subtests.test(grip=grip):
                leave(panel, "o=1&m=float&w=480&p=30.10.5")
                panel.goto()
                before = box(panel)

                drag(panel, f'[data-grip="{grip}"]', dx, dy)

                after = box(panel)
                for edge in ("left", "right", "top", "bottom"):
                    by = dx if edge in ("left", "right") else dy
                    assert after[edge] == before[edge] + (by if edge in edges else 0)
                panel.goto(LIST)
                assert box(panel) == after

    def test_window_moves_by_keys_and_stays_in_sight(self, floating, subtests):
        before = box(floating)
        with subtests.test("a press on the head alone moves nothing"):
            floating.page.locator("#aia-title").click()
            assert box(floating) == before
            assert "p" not in said(floating)

        with subtests.test("moved and sized by keys"):
            self.move_by_keys(floating, before)

        with subtests.test("a double click on an edge puts all back"):
            drag(floating, '[data-grip="top start"]', -100, 100)
            floating.page.locator('[data-grip="top start"]').dblclick()
            floating.wait(lambda: box(floating) == before)

        with subtests.test("in sight when the browser's window shrinks"):
            drag(floating, "#aia-title", -3000, -3000)
            for width, height in ((1000, 700), (660, 400), (1440, 900)):
                floating.page.set_viewport_size({"width": width, "height": height})
                assert is_in_sight(floating)
                assert floating.input.is_visible()

    def move_by_keys(self, floating, before):
        keys = floating.page.keyboard
        floating.page.locator("#aia-move").focus()
        for key in ("ArrowLeft", "ArrowLeft", "ArrowUp"):
            keys.press(key)
        floating.wait(lambda: box(floating)["top"] == before["top"] - 20)
        assert box(floating)["left"] == before["left"] - 40

        floating.page.get_by_role("separator", name="Height").focus()
        keys.press("ArrowDown")
        floating.wait(lambda: box(floating)["height"] == before["height"] - 20)
        width = floating.page.get_by_role("separator", name="Width")
        width.focus()
        keys.press("Home")
        floating.wait(lambda: box(floating)["width"] == 320)
        assert width.get_attribute("aria-valuenow") == "320"
        keys.press("End")
        floating.wait(lambda: box(floating)["width"] == 800)
        keys.press("Enter")
        floating.wait(lambda: box(floating) == before, "all as it was")


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
            panel.wait(lambda: box(panel)["width"] == 380)
            panel.page.keyboard.press("Home")
            panel.wait(lambda: box(panel)["width"] == 320)
            assert edge.get_attribute("aria-valuenow") == "320"

        with subtests.test("by the pointer, in steps"):
            leave(panel, "o=1&m=dock&w=400")
            panel.goto()
            drag(panel, "[data-grip=start]", -47, 0)
            assert box(panel)["width"] == 440
            assert box(panel, "#container")["right"] <= box(panel)["left"]
            panel.goto(LIST)
            assert box(panel)["width"] == 440

        with subtests.test("the page has its room"):
            drag(panel, "[data-grip=start]", -800, 0)
            assert box(panel)["left"] == 880
            assert grip.get_attribute("aria-valuemax") == "560"


class TestMirrored:
    """Where text runs from right to left."""

    @pytest.fixture
    def mirrored(self, server, visit):
        return visit(server, locale="ar").panel()

    @pytest.mark.scenario(39)
    @pytest.mark.row("ui 105")
    def test_dock_and_window_are_mirrored(self, mirrored, subtests):
        with subtests.test("the dock stands at the other side"):
            assert mirrored.page.locator("html").get_attribute("dir") == "rtl"
            assert box(mirrored)["left"] == 0
            drag(mirrored, "[data-grip=start]", 60, 0)
            assert box(mirrored)["right"] == 420
            assert box(mirrored, "#container")["left"] >= 420

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
            mirrored.wait(lambda: box(mirrored)["left"] == after["left"] - 20)


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
PLACES = """() => ["#aia-input", "#content"].map((selector) => {
  const { x, y, width, height } = document.querySelector(selector).getBoundingClientRect();
  return [x, y, width, height];
})"""


@pytest.mark.scenario(2)
@pytest.mark.row("ui 96")
class TestPageLoad:
    @pytest.mark.parametrize(
        "cookie", ["o=1&m=dock&w=480", "o=1&m=float&w=440&p=28.20.6"]
    )
    def test_open_panel_is_there_first_and_shifts_nothing(self, panel, cookie):
        # The admin opens its own list at the side late, which shifts the page.
        panel.page.evaluate("localStorage['django.admin.navSidebarIsOpen'] = 'false'")
        leave(panel, cookie)
        held: list[Route] = []

        def hold(route: Route) -> None:
            held.append(route)

        ours = re.compile("/ai_assistant/(?!place).*[.](js|more.css)")
        panel.page.route(ours, hold)

        panel.page.goto(f"{panel.url}/admin/auth/user/", wait_until="commit")
        panel.wait(lambda: panel.page.evaluate(PAINTED), "the first paint")
        panel.page.wait_for_function("document.readyState != 'loading'")
        first = panel.page.evaluate(PLACES)
        panel.page.evaluate(WHOLE)
        panel.page.evaluate(WATCH)
        panel.page.unroute(ours)  # lets those go that are held
        panel.ready()
        panel.page.wait_for_load_state("networkidle")
        panel.page.evaluate(WHOLE)

        assert held
        assert first[0][2] > 0
        assert panel.page.evaluate(PLACES) == first
        assert panel.page.evaluate("window.shifts") < 0.001

    def test_greeting_stays_when_the_script_comes(self, panel, subtests):
        top = "document.getElementById('aia-empty').getBoundingClientRect().top"
        ours = re.compile("/ai_assistant/.*[.](js|more.css)")
        for path in (LIST, FORM, f"{LIST}1/change/"):
            panel.page.route(ours, lambda route: route.abort())
            panel.page.goto(f"{panel.url}{path}")
            before = panel.page.evaluate(top)
            panel.page.unroute(ours)
            panel.goto(path)
            panel.page.locator("#aia-more").wait_for(state="attached")
            panel.page.wait_for_load_state("networkidle")

            with subtests.test(path=path):
                assert panel.page.evaluate(top) == before

    def test_nonsense_in_the_cookie_is_harmless(self, panel, subtests):
        for nonsense in (
            "%00%ff=" * 20,
            "o=1&m=sheet&w=1e9&p=9.9.9&l=?&n=NaN",
            "x" * 3000,
        ):
            with subtests.test(nonsense=nonsense[:20]):
                leave(panel, nonsense)

                panel.goto()
                panel.open()

                assert is_in_sight(panel)
                assert said(panel)["o"] == "1"
                assert len("&".join(map("=".join, said(panel).items()))) <= 200


@pytest.mark.scenario(40)
def test_print_shows_no_panel(panel, subtests):
    for mode in ("dock", "float"):
        panel.page.emulate_media(media="screen")
        leave(panel, f"o=1&m={mode}&w=400")
        panel.goto()

        with subtests.test(mode=mode):
            assert panel.root.is_visible()
            panel.page.emulate_media(media="print")
            assert not panel.root.is_visible()
            padding = "getComputedStyle(document.body).paddingInlineEnd"
            assert panel.page.evaluate(padding) == "0px"


class TestBesideTheAdmin:
    def test_lists_and_calendars_open_above_the_panel(self, panel):
        leave(panel, "o=1&m=float&w=800&p=40.20.1")
        panel.goto("/admin/auth/user/1/change/")
        panel.page.locator("#calendarlink0").click()

        at = box(panel, "#calendarbox0")
        x, y = at["left"] + at["width"] / 2, at["top"] + 10
        top = "([x, y]) => Boolean(document.elementFromPoint(x, y)?.closest('#aia'))"
        where = (
            "query => Number(getComputedStyle(document.querySelector(query)).zIndex)"
        )
        assert not panel.page.evaluate(top, [x, y])
        assert panel.page.evaluate(where, "#calendarbox0") > panel.page.evaluate(
            where, "#aia"
        )

    @pytest.mark.scenario(40)
    def test_form_and_its_popup_work_beside_it(self, panel):
        panel.goto(FORM)
        with panel.page.expect_popup() as opened:
            panel.page.locator("#add_id_owner").click()
        popup = opened.value
        popup.wait_for_load_state()
        assert popup.locator("#aia, #aia-launcher, #aia-skip").count() == 0
        popup.close()
        assert panel.input.is_visible()

        panel.page.fill("#id_title", "Not saved yet")
        panel.page.locator("#aia-mode").click()
        drag(panel, "#aia-title", -200, -100)
        panel.page.locator("#aia-close").click()
        assert panel.page.locator("#id_title").input_value() == "Not saved yet"


PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
SMALL = """() => [...document.querySelectorAll("#aia :is(button, a, select, summary)")]
  .filter((one) => one.checkVisibility() && !one.closest(".aia-chip, .aia-drop, .aia-b"))
  .filter((one) => !one.matches(".aia-look") && one.getBoundingClientRect().height < 44)
  .map((one) => one.outerHTML.slice(0, 80))"""


@pytest.mark.row("ui 100")
class TestSheet:
    @pytest.fixture
    def sheet(self, server, visit):
        return visit(server, **PHONE).panel(LIST)

    @pytest.mark.smoke
    def test_fills_the_phone(self, sheet):
        where = box(sheet)

        assert (where["left"], where["top"]) == (0, 0)
        assert (where["width"], where["height"]) == (390, 844)
        assert sheet.page.evaluate(SIDEWAYS) == []

    def test_sheet_leaves_fingers_and_keyboard_their_room(self, sheet, subtests):
        with subtests.test("fingers find their targets"):
            sheet.page.locator("#aia-settings summary").click()
            sheet.page.locator(".aia-settings").wait_for()
            assert sheet.page.evaluate(SMALL) == []
            sheet.page.keyboard.press("Escape")

        # Chromium without a screen has no such keyboard: what it reports is set here.
        with subtests.test("it ends above the keyboard of the screen"):
            sheet.page.evaluate("""() => {
              Object.defineProperty(visualViewport, "height", { value: 500, configurable: true });
              visualViewport.dispatchEvent(new Event("resize"));
            }""")
            sheet.wait(lambda: box(sheet)["height"] == 500)
            assert box(sheet, "#aia-form")["bottom"] <= 500
            sheet.page.evaluate("""() => {
              delete visualViewport.height;
              visualViewport.dispatchEvent(new Event("resize"));
            }""")
            sheet.wait(lambda: box(sheet)["height"] == 844)


@pytest.mark.scenario(39)
class TestSmallAndLarge:
    def test_nothing_runs_over_and_the_composer_is_there(self, panel, subtests):
        sizes = ((320, 568), (640, 400), (720, 450))
        for mode, (width, height) in product(("dock", "float"), sizes):
            panel.page.set_viewport_size({"width": width, "height": height})
            leave(panel, f"o=1&m={mode}&w=800&p=79.1.1")
            panel.goto("/admin/login/?next=/")  # a page whose own width is no matter
            panel.goto(LIST)
            panel.page.locator("#aia-settings summary").click()

            with subtests.test(mode=mode, width=width):
                wide = {*panel.page.evaluate(SIDEWAYS)}
                assert not {"aia", "aia-inner", "aia-form"} & wide
                assert is_in_sight(panel)
                send = box(panel, "#aia-send")
                assert send["right"] <= width
                assert send["bottom"] <= height

    @pytest.mark.row("ui 104")
    def test_nothing_moves_where_that_is_wished(self, panel):
        running = (
            "() => document.getAnimations().filter(({ effect }) => "
            "effect.target?.closest('#aia, #aia-launcher')).length"
        )
        panel.ask("[[script:stream tokens=400 rate=20]]")
        panel.wait_state("thinking", "streaming")

        assert panel.page.evaluate(running) == 0
        panel.stop()
        panel.wait_state("stopped", "idle")


@pytest.mark.row("ui 95")
class TestFullPage:
    def test_full_page_leads_back_and_has_its_list(self, panel, subtests):
        with subtests.test("a page of its own leads back"):
            panel.goto(LIST)
            panel.page.locator("#aia-settings summary").click()
            panel.page.get_by_role("link", name="Open on its own page").click()
            panel.page.get_by_role("link", name="Back", exact=True).click()
            panel.page.wait_for_url(f"**{LIST}")

        with subtests.test("the list stands beside a readable thread"):
            panel.ask_and_wait("Hello")
            panel.goto("/assistant/")
            history = box(panel, "#aia-history")
            assert history["left"] == box(panel)["left"] == 0
            assert history["right"] <= box(panel, "#aia-log")["left"]
            assert box(panel, "#aia-log")["width"] <= 760
            assert panel.page.locator("#aia-history a").first.is_visible()
            assert panel.page.locator("#aia-launcher, [data-grip]").count() == 0

        with subtests.test("it stays one when another conversation is drawn"):
            panel.new_conversation()
            assert panel.page.locator("#aia-history").is_visible()
            assert panel.page.locator("#aia-close, #aia-mode").count() == 0
            assert "m" not in said(panel) or said(panel)["m"] != "page"

        with subtests.test("a narrow page opens the list at a wish"):
            panel.goto()
            panel.page.set_viewport_size({"width": 900, "height": 700})
            panel.goto("/assistant/")
            assert not panel.page.locator("#aia-history").is_visible()
            panel.page.locator("#aia-list").click()
            panel.page.locator("#aia-history").wait_for()


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
            panel.goto()
            assert panel.root.get_attribute("data-open") is not None

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

    @pytest.mark.row("N02", "H17")
    def test_launcher_shows_that_an_answer_is_under_way(self, panel, model):
        launcher = panel.page.locator("#aia-launcher")
        mark = "one => getComputedStyle(one, '::after').content"
        self.ask_and_close(panel)
        seen = [(launcher.evaluate(mark), launcher.aria_snapshot())]
        panel.goto(LIST)  # drawn by the server now
        seen.append((launcher.evaluate(mark), launcher.aria_snapshot()))
        model.release("thought")
        expect(launcher).not_to_contain_text("under way", use_inner_text=True)

        for content, spoken in seen:
            assert content != "none"
            assert "An answer is under way." in spoken
        assert launcher.evaluate(mark) == "none"

        panel.open()
        panel.new_conversation()
        self.ask_and_close(panel)
        panel.goto()
        panel.open()  # looked at meanwhile, on another page, and closed again
        panel.log.locator(".aia-reasoning").wait_for()
        panel.page.locator("#aia-close").click()
        assert "An answer is under way." in launcher.inner_text()
        model.release("thought")
        expect(launcher).not_to_contain_text("under way", use_inner_text=True)
        panel.reload()
        assert "An answer is under way." not in launcher.inner_text()

    def ask_and_close(self, panel: Panel) -> None:
        panel.ask("[[script:think]]")
        panel.log.locator(".aia-reasoning").wait_for()
        panel.page.locator("#aia-close").click()

    def test_launcher_leaves_the_last_row_of_a_phone_free(self, server, visit):
        tab = visit(server, **PHONE).tab()
        tab.goto(FORM)
        tab.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")

        last = box(tab, ".submit-row")

        assert last["bottom"] <= box(tab, "#aia-launcher")["top"]


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


def test_bars_that_a_package_fixes_to_the_page_lie_below(panel: Panel):
    panel.goto(LIST)
    panel.open()
    panel.page.evaluate(BARS)

    on_top = panel.page.evaluate(ON_TOP)

    assert on_top
    assert all(on_top)
    # The handle of the debug toolbar, at the right edge, stays free.
    size = panel.page.viewport_size or {}
    assert box(panel)["right"] == size["width"] - 32
