"""The panel in Django's own admin, in django-unfold and in Jazzmin."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from tests.browser.panel import Panel
from tests.browser.sites import site
from tests.browser.visitor import Visitor
from tests.docs.blocks import blocks, page, section
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer
from tests.thorough import part

Visit = Callable[..., Visitor]
FORM = "/admin/questionnaires/questionnaire/1/change/"
CODE = "```python\nfor one in many:\n    pass  # nothing\n```\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Theme:
    """`page` is the element whose ground is the page's, `stored` where a choice is."""

    settings: str
    page: str
    stored: str
    value: str = "{}"


THEMES = {
    "admin": Theme(settings="live_settings", page="body", stored="theme"),
    "unfold": Theme(
        settings="themes.unfold_settings",
        page="#main",
        stored="adminTheme",
        value='"{}"',
    ),
    "jazzmin": Theme(
        settings="themes.jazzmin_settings",
        page=".app-header",
        stored="jazzmin-theme-mode",
    ),
}
# what the person has chosen, what their system is in -> what the page is in
MODES = {
    ("dark", "light"): "dark",
    ("light", "dark"): "light",
    ("auto", "dark"): "dark",
    ("auto", "light"): "light",
}
COLOURS = """([names, page]) => {
  const canvas = document.createElement("canvas").getContext("2d");
  const seen = (...layers) => {
    for (const layer of layers) {
      canvas.fillStyle = layer;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const probe = document.createElement("i");
  probe.style.transition = "none"; // Bootstrap has one on everything
  document.getElementById("aia").append(probe);
  const of = (name) => {
    probe.style.color = `var(--aia-${name})`;
    return getComputedStyle(probe).color;
  };
  const found = Object.fromEntries(names.map((name) => [name, seen(of("bg"), of(name))]));
  probe.remove();
  const ground = (query) => getComputedStyle(document.querySelector(query)).backgroundColor;
  found.page = seen("Canvas", ground(page));
  found.panel = seen("Canvas", ground("#aia"));
  const code = document.querySelector("#aia .aia-code");
  if (code) {
    found.code = seen("Canvas", getComputedStyle(code).backgroundColor);
    code.append(probe);
    for (const name of ["fg", "quiet", ..."ksmfbid"]) {
      probe.style.color = `var(--aia-code-${name})`;
      found[`code-${name}`] = seen(getComputedStyle(probe).color);
    }
    probe.remove();
  }
  return found;
}"""
PUBLIC = (
    *("bg", "bg2", "fg", "quiet", "line", "accent", "accent-fg", "link"),
    *("ok", "warn", "err"),
)
DERIVED = ("edge", "warn-bg", "del", "ins")
# text on its ground: 4.5 to 1
PAIRS = (
    *product(("fg", "quiet", "link", "err", "del", "ins"), ("bg",)),
    *product(("fg", "quiet"), ("bg2",)),
    *(("accent-fg", "accent"), ("fg", "warn-bg"), ("bg", "err"), ("warn", "bg")),
)


def luminance(colour: list[int]) -> float:
    r, g, b = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value / 255 for value in colour)
    )
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: list[int], other: list[int]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(scope="module")
def sites(
    tmp_path_factory: pytest.TempPathFactory, model: ModelServerProcess
) -> Iterator[Callable[[str], DemoServer]]:
    """Serve a theme; once it is there, it stays for the next test."""
    open_sites: dict[str, Any] = {}
    started: dict[str, DemoServer] = {}

    def serve(name: str) -> DemoServer:
        if name not in started:
            folder = tmp_path_factory.mktemp(name)
            open_sites[name] = site(folder, model, THEMES[name].settings)
            started[name] = open_sites[name].__enter__()
        return started[name]

    yield serve
    for one in open_sites.values():
        one.__exit__(None, None, None)


def panel_in(
    visit: Visit, server: DemoServer, name: str, choice: str, system: str
) -> Panel:
    theme = THEMES[name]
    visitor = visit(server, color_scheme=system)
    value = json.dumps(theme.value.format(choice))
    visitor.context.add_init_script(
        f"try {{ localStorage[{theme.stored!r}] = {value} }} catch {{}}"
    )
    return visitor.panel("/admin/questionnaires/questionnaire/")


def colours_of(panel: Panel, name: str) -> dict[str, list[int]]:
    names = [*PUBLIC, *DERIVED]
    return dict(panel.page.evaluate(COLOURS, [names, THEMES[name].page]))


@pytest.mark.scenario(21)
@pytest.mark.scenario(22)
@pytest.mark.parametrize("name", THEMES)
class TestColours:
    @pytest.mark.parametrize(("choice", "system"), part(MODES, every=4))
    def test_colours_are_those_of_the_page(
        self,
        visit: Visit,
        sites: Callable[[str], DemoServer],
        model: ModelServerProcess,
        name: str,
        choice: str,
        system: str,
    ) -> None:
        model.script("code", [[{"op": "text", "text": CODE}]])
        panel = panel_in(visit, sites(name), name, choice, system)
        panel.ask_and_wait("[[script:code]]")
        found = colours_of(panel, name)

        is_dark = MODES[choice, system] == "dark"
        assert found["panel"] == found["page"] == found["bg"]
        assert (luminance(found["bg"]) < 0.2) == is_dark
        assert found["code"] == found["bg2"]
        assert (luminance(found["code"]) < 0.2) == is_dark
        colours = {name: found[name] for name in found if name.startswith("code-")}
        assert len(colours) == 9
        poor = {k: v for k, v in colours.items() if contrast(v, found["code"]) < 4.5}
        assert poor == {}

    @pytest.mark.parametrize("mode", ["light", "dark"])
    def test_colours_can_be_read(
        self, visit: Visit, sites: Callable[[str], DemoServer], name: str, mode: str
    ) -> None:
        found = colours_of(panel_in(visit, sites(name), name, mode, "light"), name)

        poor = {
            pair: round(contrast(*(found[part] for part in pair)), 2)
            for pair in PAIRS
            if contrast(*(found[part] for part in pair)) < 4.5
        }
        assert poor == {}
        assert contrast(found["ok"], found["bg"]) >= 3


class TestTheming:
    @pytest.mark.parametrize("name", THEMES)
    def test_variables_of_the_docs_go_before_the_theme(
        self, visit: Visit, sites: Callable[[str], DemoServer], name: str
    ) -> None:
        documented = section(page("docs/panel.md"), "Theming")
        (sheet,) = [one.code for one in blocks(documented) if one.language == "css"]
        panel = panel_in(visit, sites(name), name, "light", "light")
        panel.page.evaluate(
            """sheet => {
              const style = document.createElement("style");
              style.textContent = sheet;
              document.head.prepend(style); // before ours: it has more weight
            }""",
            sheet,
        )

        found = colours_of(panel, name)
        assert found["accent"] == [0x7C, 0x3A, 0xED]
        assert found["accent-fg"] == [0xFF, 0xFF, 0xFF]
        assert found["link"] == [0x6D, 0x28, 0xD9]
        send = panel.page.locator("#aia-send")
        ground = "node => getComputedStyle(node).backgroundColor"
        panel.wait(lambda: send.evaluate(ground) == "rgb(124, 58, 237)", "its ground")
        panel.page.evaluate("document.documentElement.dataset.theme = 'dark'")
        assert colours_of(panel, name)["link"] == [0xC4, 0xB5, 0xFD]


@pytest.mark.scenario(21)
class TestUnfold:
    @pytest.fixture
    def unfold(self, visit: Visit, sites: Callable[[str], DemoServer]) -> Panel:
        return visit(sites("unfold")).panel("/admin/questionnaires/questionnaire/")

    def test_page_keeps_its_htmx(self, unfold: Panel) -> None:
        assert unfold.page.evaluate("htmx.version") == "2.0.4"
        assert unfold.page.evaluate("!!window.Alpine")
        assert unfold.page.locator("script[src*=htmx]").count() == 1

    def test_buttons_of_the_page_fire_once(self, unfold: Panel) -> None:
        asked: list[str] = []
        unfold.page.on("request", lambda request: asked.append(request.url))
        unfold.page.evaluate(
            """() => {
              const main = document.getElementById("content");
              main.insertAdjacentHTML("afterbegin", `<p id="said"></p>
                <button id="ask" hx-get="/assistant/health/" hx-target="#said"
                  x-data="{n: 0}" x-on:click="n += 1" x-text="'clicked ' + n">
                </button>`);
              htmx.process(main);
            }"""
        )
        unfold.page.locator("#ask").click()
        unfold.page.locator("#said").get_by_text("status").wait_for()

        assert sum("/assistant/health/" in url for url in asked) == 1
        assert unfold.page.inner_text("#ask") == "clicked 1"

    def test_forms_of_the_panel_work(self, unfold: Panel) -> None:
        unfold.ask("[[script:approval]]")
        unfold.wait_state("waiting-approval")
        unfold.approve()
        assert unfold.wait_done().text.endswith("That is settled.")
        unfold.ask("[[script:ask-select]]")
        unfold.wait_state("waiting-answer")
        unfold.choose("Green")
        unfold.wait_done(2)
        unfold.ask("[[script:stream tokens=400 rate=20]]")
        unfold.wait_words(5)
        unfold.stop()

        unfold.wait_state("stopped")
        assert unfold.page.url.endswith("/admin/questionnaires/questionnaire/")
        assert unfold.repeated_ids() == []

    def test_tabs_of_a_form_work_beside_it(self, unfold: Panel) -> None:
        unfold.goto(FORM)
        fields = unfold.page.locator("#id_title")
        inline = unfold.page.locator("#sections-group")
        assert fields.is_visible()
        assert not inline.is_visible()

        unfold.page.locator("a[href='#sections']").first.click()

        inline.wait_for(state="visible")
        assert not fields.is_visible()
        assert unfold.input.is_visible()

    def test_saved_form_keeps_the_panel(self, unfold: Panel) -> None:
        unfold.goto(FORM)
        unfold.ask_and_wait("[[script:hello]]")
        unfold.page.fill("#id_description", "Saved in Unfold")
        with unfold.page.expect_navigation():
            unfold.page.locator("[name=_continue]").click()

        assert unfold.page.input_value("#id_description") == "Saved in Unfold"
        assert unfold.answer().text.startswith("Hello there")


@pytest.mark.parametrize("name", ["unfold", "jazzmin"])
class TestOwnPage:
    @pytest.mark.scenario(21)
    @pytest.mark.scenario(22)
    def test_own_page_has_the_frame_and_the_colours_of_the_site(
        self, visit: Visit, sites: Callable[[str], DemoServer], name: str
    ) -> None:
        there = visit(sites(name)).panel("/admin/questionnaires/questionnaire/")
        wanted = colours_of(there, name)
        there.goto("/assistant/")

        there.ask_and_wait("[[script:hello]]")
        assert {**colours_of(there, name), "page": 0} == {**wanted, "page": 0}


@pytest.mark.scenario(22)
class TestJazzmin:
    def test_page_is_not_under_the_docked_panel(
        self, visit: Visit, sites: Callable[[str], DemoServer]
    ) -> None:
        panel = visit(sites("jazzmin")).panel("/admin/questionnaires/questionnaire/")
        edges = """query => {
          const { left, right } = document.querySelector(query).getBoundingClientRect();
          return [left, right];
        }"""
        panel_from = panel.page.evaluate(edges, "#aia")[0]

        for query in (".app-header", ".app-main", "#changelist", ".app-footer"):
            assert panel.page.evaluate(edges, query)[1] <= panel_from
        widest = panel.page.evaluate("document.documentElement.scrollWidth")
        assert widest <= panel.page.evaluate("innerWidth")

    def test_jazzmin_selects_of_the_panel_stay_as_they_are(
        self, visit: Visit, sites: Callable[[str], DemoServer]
    ) -> None:
        """Its forms make a select2 of every select of the page."""
        panel = visit(sites("jazzmin")).panel(FORM)
        panel.page.reload()
        panel.page.locator("#content-main .select2-container").first.wait_for()

        assert panel.page.locator("#aia-look").is_visible()
        assert panel.root.locator(".select2-container").count() == 0

    @pytest.mark.parametrize("name", ["jazzmin", "unfold", "admin"])
    def test_list_of_a_select2_is_above_the_floating_panel(
        self, visit: Visit, sites: Callable[[str], DemoServer], name: str
    ) -> None:
        visitor = visit(sites(name), viewport={"width": 760, "height": 800})
        panel = visitor.panel("/admin/questionnaires/section/1/change/")
        panel.page.locator(".select2-selection").first.wait_for(state="attached")
        panel.root.evaluate("root => (root.dataset.mode = 'float')")
        panel.page.evaluate("django.jQuery('#id_questionnaire').select2('open')")
        option = panel.page.locator(".select2-results__option").nth(1)
        option.wait_for()
        covered = panel.page.evaluate(
            """() => {
              const list = document.querySelector(".select2-dropdown");
              const over = document.getElementById("aia").getBoundingClientRect();
              const box = list.getBoundingClientRect();
              const x = (Math.max(box.left, over.left) + Math.min(box.right, over.right)) / 2;
              const y = (Math.max(box.top, over.top) + Math.min(box.bottom, over.bottom)) / 2;
              const overlap = box.right > over.left && box.bottom > over.top;
              return [overlap, list.contains(document.elementFromPoint(x, y))];
            }"""
        )

        assert covered == [True, True]


# Where the window stands in each frame, and what of the panel shifts by itself.
WATCH = """() => {
  const seen = (window.seen = { places: [], shifts: 0 });
  const isOurs = ({ node }) => node && document.getElementById("aia")?.contains(node);
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (!entry.hadRecentInput && entry.sources.some(isOurs)) seen.shifts += 1;
  }).observe({ type: "layout-shift", buffered: true });
  const look = () => {
    const box = document.getElementById("aia")?.getBoundingClientRect();
    const place = box?.width && [box.left, box.top, box.width, box.height].join();
    if (place && seen.places.at(-1) !== place) seen.places.push(place);
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@pytest.mark.parametrize("name", part(["jazzmin", "unfold", "admin"], every=2))
def test_floating_window_is_never_seen_elsewhere(
    visit: Visit, sites: Callable[[str], DemoServer], name: str
) -> None:
    panel = visit(sites(name)).panel(FORM)
    panel.page.goto("about:blank")  # the page there writes the cookie too
    cookie = {"name": "aia_ui", "value": "o=1&m=float&w=440&p=20.10.5"}
    panel.page.context.add_cookies([{**cookie, "url": panel.url}])
    panel.page.add_init_script(f"({WATCH})()")

    view = panel.page.viewport_size
    assert view
    left, top = view["width"] - 200 - 440, view["height"] - 100 - 400
    expected = {"places": [f"{left},{top},440,400"], "shifts": 0}

    def seen_while_loading() -> dict[str, object]:
        panel.goto(FORM)
        panel.page.wait_for_load_state("networkidle")
        return panel.page.evaluate("seen")

    seen = seen_while_loading()
    if seen["shifts"]:  # a sheet of the theme came late, on a busy machine
        seen = seen_while_loading()
    assert seen == expected
