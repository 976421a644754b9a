"""Where the panel stands: docked, floating, as a sheet, on a page of its own."""

from typing import Any

import pytest

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

    def test_window_is_left_in_its_place_when_closed_and_opened(self, panel):
        leave(panel, "o=0&m=float&w=400&p=20.10.5")
        panel.goto()

        panel.open()

        where = box(panel)
        assert (where["left"], where["top"]) == (1440 - 200 - 400, 900 - 100 - 400)
        assert (where["width"], where["height"]) == (400, 400)

    def test_set_afloat_stands_where_it_stood_last(self, panel):
        leave(panel, "o=1&m=dock&w=400&p=20.10.5")
        panel.goto()

        panel.page.locator("#aia-mode").click()

        panel.wait(lambda: box(panel)["height"] == 400, "the place of the cookie")
        assert box(panel)["left"] == 1440 - 200 - 400

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

    @pytest.mark.parametrize(
        ("grip", "dx", "dy", "edges"),
        [
            ("top start", -40, 80, ["left", "top"]),
            ("bottom end", -40, -80, ["right", "bottom"]),
        ],
    )
    def test_window_is_sized_by_its_corners(self, panel, grip, dx, dy, edges):
        leave(panel, "o=1&m=float&w=480&p=30.10.5")
        panel.goto()
        before = box(panel)

        drag(panel, f'[data-grip="{grip}"]', dx, dy)

        after = box(panel)
        for edge in ("left", "right", "top", "bottom"):
            by = dx if edge in ("left", "right") else dy
            assert after[edge] == before[edge] + (by if edge in edges else 0), edge
        panel.goto(LIST)
        assert box(panel) == after

    def test_window_stays_in_sight_when_the_window_shrinks(self, floating):
        drag(floating, "#aia-title", -3000, -3000)

        for width, height in ((1000, 700), (660, 400), (1440, 900)):
            floating.page.set_viewport_size({"width": width, "height": height})
            assert is_in_sight(floating)
            assert floating.input.is_visible()

    @pytest.mark.row("N08")
    def test_place_from_a_larger_screen_is_in_sight(self, panel):
        panel.page.set_viewport_size({"width": 800, "height": 500})
        leave(panel, "o=1&m=float&w=800&p=79.255.63")

        panel.goto()

        assert is_in_sight(panel)
        assert panel.input.is_visible()

    def test_window_is_moved_and_sized_by_keys(self, floating):
        before, keys = box(floating), floating.page.keyboard
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

    def test_double_click_on_an_edge_puts_all_back(self, floating):
        before = box(floating)
        drag(floating, '[data-grip="top start"]', -100, 100)

        floating.page.locator('[data-grip="top start"]').dblclick()

        floating.wait(lambda: box(floating) == before)

    def test_press_on_the_head_alone_moves_nothing(self, floating):
        before = box(floating)

        floating.page.locator("#aia-title").click()

        assert box(floating) == before
        assert "p" not in said(floating)


@pytest.mark.row("ui 93")
@pytest.mark.row("N06")
class TestDock:
    def test_width_follows_the_edge_in_steps(self, panel):
        drag(panel, "[data-grip=start]", -47, 0)

        assert box(panel)["width"] == 440
        assert box(panel, "#container")["right"] <= box(panel)["left"]
        panel.goto(LIST)
        assert box(panel)["width"] == 440

    def test_dock_leaves_the_page_its_room(self, panel):
        drag(panel, "[data-grip=start]", -800, 0)

        assert box(panel)["left"] == 880
        grip = panel.page.locator("[data-grip=start]")
        assert grip.get_attribute("aria-valuemax") == "560"

    def test_width_is_set_by_keys(self, panel):
        grip = panel.page.get_by_role("separator", name="Width")
        grip.focus()
        panel.page.keyboard.press("ArrowRight")
        panel.wait(lambda: box(panel)["width"] == 380)

        panel.page.keyboard.press("Home")

        panel.wait(lambda: box(panel)["width"] == 320)
        assert grip.get_attribute("aria-valuenow") == "320"

    def test_dock_has_no_grips_but_its_edge(self, panel):
        shown = panel.page.locator("[data-grip]:visible")

        assert shown.count() == 1
        assert shown.get_attribute("data-grip") == "start"


class TestMirrored:
    """Where text runs from right to left."""

    @pytest.fixture
    def mirrored(self, server, visit):
        return visit(server, locale="ar").panel()

    @pytest.mark.scenario(39)
    @pytest.mark.row("ui 105")
    def test_dock_stands_at_the_other_side(self, mirrored):
        assert mirrored.page.locator("html").get_attribute("dir") == "rtl"
        assert box(mirrored)["left"] == 0
        drag(mirrored, "[data-grip=start]", 60, 0)
        assert box(mirrored)["right"] == 420
        assert box(mirrored, "#container")["left"] >= 420

    @pytest.mark.scenario(39)
    def test_window_follows_the_pointer(self, mirrored):
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
  window.seen = { shift: 0 };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (!entry.hadRecentInput) seen.shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  const look = () => {
    const width = document.getElementById("aia-input")?.getBoundingClientRect().width;
    if (width) seen.panel = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


@pytest.mark.scenario(2)
@pytest.mark.row("ui 96")
class TestPageLoad:
    @pytest.mark.parametrize(
        "cookie", ["o=1&m=dock&w=480", "o=1&m=float&w=440&p=28.20.6"]
    )
    def test_open_panel_is_there_first_and_shifts_nothing(self, panel, cookie):
        panel.page.add_init_script(f"({WATCH})()")
        # The admin opens its own list at the side late, which shifts the page.
        panel.page.evaluate("localStorage['django.admin.navSidebarIsOpen'] = 'false'")
        shifts, waits = [], []
        # A busy machine may paint before it has read the page to its end, but not often.
        for left in ("o=0", cookie, cookie, cookie):
            leave(panel, left)
            panel.goto("/admin/auth/user/")
            panel.page.wait_for_load_state("networkidle")
            panel.wait(lambda: panel.page.evaluate(PAINTED), "the first paint")
            shifts.append(panel.page.evaluate("seen.shift"))
            waits.append(
                panel.page.evaluate(f"(seen.panel ?? Infinity) - ({PAINTED})()")
            )

        first = [s for s, w in zip(shifts[1:], waits[1:], strict=True) if w <= 0]
        assert first, waits
        assert max(first) <= shifts[0] + 0.001

    @pytest.mark.parametrize(
        "nonsense", ["%00%ff=" * 20, "o=1&m=sheet&w=1e9&p=9.9.9&l=?&n=NaN", "x" * 3000]
    )
    def test_nonsense_in_the_cookie_is_harmless(self, panel, nonsense):
        leave(panel, nonsense)

        panel.goto()
        panel.open()

        assert is_in_sight(panel)
        assert said(panel)["o"] == "1"
        assert len("&".join(map("=".join, said(panel).items()))) <= 200


@pytest.mark.row("N12")
def test_open_and_closed_are_kept_over_pages(panel):
    panel.page.locator("#aia-close").click()
    panel.goto(LIST)
    assert panel.root.get_attribute("data-open") is None

    panel.open()
    panel.goto()
    assert panel.root.get_attribute("data-open") is not None


@pytest.mark.scenario(40)
class TestNoPanel:
    def test_popup_has_none(self, panel):
        panel.goto(f"{LIST}add/?_popup=1")

        assert panel.page.locator("#aia, #aia-launcher, #aia-skip").count() == 0

    def test_signed_out_pages_have_none(self, server, visit):
        visitor = visit(server, fresh=True)
        tab = visitor.panel()
        tab.page.locator("#logout-form button").click()
        tab.page.wait_for_url("**/logout/")
        assert tab.page.locator("#aia").count() == 0

        tab.goto("/admin/login/")

        assert tab.page.locator("#aia").count() == 0

    @pytest.mark.parametrize("mode", ["dock", "float"])
    def test_print_shows_none(self, panel, mode):
        leave(panel, f"o=1&m={mode}&w=400")
        panel.goto()

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

    def test_unsaved_form_stays_as_it_is(self, panel):
        panel.goto(FORM)
        panel.page.fill("#id_title", "Not saved yet")

        panel.page.locator("#aia-mode").click()
        drag(panel, "#aia-title", -200, -100)
        panel.page.locator("#aia-close").click()

        assert panel.page.locator("#id_title").input_value() == "Not saved yet"

    def test_popup_of_a_related_object_gives_its_choice_back(self, panel):
        panel.goto(FORM)
        with panel.page.expect_popup() as opened:
            panel.page.locator("#add_id_owner").click()
        popup = opened.value
        popup.wait_for_load_state()
        assert popup.locator("#aia").count() == 0
        popup.close()

        assert panel.input.is_visible()


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

    def test_fingers_find_their_targets(self, sheet):
        sheet.page.locator("#aia-settings summary").click()
        sheet.page.locator(".aia-settings").wait_for()

        assert sheet.page.evaluate(SMALL) == []

    def test_sheet_ends_above_the_keyboard_of_the_screen(self, sheet):
        # Chromium without a screen has no such keyboard: what it reports is set here.
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
    @pytest.mark.parametrize(
        ("width", "height"), [(320, 568), (640, 400), (720, 450)], ids=str
    )
    @pytest.mark.parametrize("mode", ["dock", "float"])
    def test_nothing_runs_over_and_the_composer_is_there(
        self, panel, width, height, mode
    ):
        panel.page.set_viewport_size({"width": width, "height": height})
        leave(panel, f"o=1&m={mode}&w=800&p=79.1.1")
        panel.goto("/admin/login/?next=/")  # a page whose own width is no matter
        panel.goto(LIST)

        panel.page.locator("#aia-settings summary").click()

        assert not {"aia", "aia-inner", "aia-form"} & {*panel.page.evaluate(SIDEWAYS)}
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
    def test_list_stands_beside_a_readable_thread(self, panel):
        panel.ask_and_wait("Hello")

        panel.goto("/assistant/")

        history = box(panel, "#aia-history")
        assert history["left"] == box(panel)["left"] == 0
        assert history["right"] <= box(panel, "#aia-log")["left"]
        assert box(panel, "#aia-log")["width"] <= 760
        assert panel.page.locator("#aia-history a").first.is_visible()
        assert panel.page.locator("#aia-launcher, [data-grip]").count() == 0

    def test_page_of_its_own_leads_back(self, panel):
        panel.goto(LIST)
        panel.page.locator("#aia-settings summary").click()
        panel.page.get_by_role("link", name="Open on its own page").click()

        panel.page.get_by_role("link", name="Back", exact=True).click()

        panel.page.wait_for_url(f"**{LIST}")

    def test_full_page_stays_one_when_another_conversation_is_drawn(self, panel):
        panel.goto("/assistant/")

        panel.new_conversation()

        assert panel.page.locator("#aia-history").is_visible()
        assert panel.page.locator("#aia-close, #aia-mode").count() == 0
        assert "m" not in said(panel) or said(panel)["m"] != "page"

    def test_narrow_page_opens_the_list_at_a_wish(self, panel):
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

    def test_launcher_stands_in_the_chosen_corner(self, panel):
        self.choose(panel, "Lower left")
        assert box(panel, "#aia-launcher")["left"] == 20

        panel.goto(LIST)

        assert box(panel, "#aia-launcher")["left"] == 20
        panel.page.locator("#aia-launcher").click()
        panel.input.wait_for()

    def test_launcher_can_be_done_without(self, panel):
        self.choose(panel, "None")

        panel.goto(LIST)

        assert not panel.page.locator("#aia-launcher").is_visible()
        panel.page.keyboard.press("Control+Shift+A")
        panel.input.wait_for()

    def test_nobody_is_left_without_a_way_in(self, panel):
        panel.page.locator("#aia-settings summary").click()
        panel.page.get_by_label("Open and close with").uncheck()
        panel.page.keyboard.press("Escape")
        self.choose(panel, "None")
        assert panel.page.locator("#aia-launcher").is_visible()

        panel.goto(LIST)

        assert panel.page.locator("#aia-launcher").is_visible()

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
