"""The panel in Django's own admin, in django-unfold and in Jazzmin."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from tests.browser.panel import Panel
from tests.browser.sites import site
from tests.browser.theatre import PHONE
from tests.browser.visitor import Visitor
from tests.docs.blocks import blocks, page, section
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call
from tests.servers.app import DemoServer
from tests.thorough import IS_THOROUGH, share

Visit = Callable[..., Visitor]
FORM = "/admin/questionnaires/questionnaire/1/change/"
REWRITE = {
    "model": "wiki.page",
    "id": 2,
    "values": {"title": "Moving house", "slug": "moving", "text": "Pack early."},
}
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
    ("auto", "dark"): "dark",
    ("light", "dark"): "light",
    ("auto", "light"): "light",
}
# Of a part: one of each mode.
TRIED = [*MODES] if IS_THOROUGH else [("dark", "light"), ("auto", "light")]
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
DERIVED = ("edge", "mine", "warn-bg", "del", "ins")
# text on its ground: 4.5 to 1
PAIRS = (
    *product(("fg", "quiet", "link", "err", "del", "ins"), ("bg",)),
    *product(("fg", "quiet"), ("bg2", "mine")),
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


LIST = "/admin/questionnaires/questionnaire/"
EDGES = """query => {
  const { left, right } = document.querySelector(query).getBoundingClientRect();
  return [left, right];
}"""
# Whether the list of a select lies over the panel, and is seen there.
COVERED = """() => {
  const list = document.querySelector(".select2-dropdown");
  const over = document.getElementById("aia").getBoundingClientRect();
  const box = list.getBoundingClientRect();
  const x = (Math.max(box.left, over.left) + Math.min(box.right, over.right)) / 2;
  const y = (Math.max(box.top, over.top) + Math.min(box.bottom, over.bottom)) / 2;
  const overlap = box.right > over.left && box.bottom > over.top;
  return [overlap, list.contains(document.elementFromPoint(x, y))];
}"""
# By how many pixels a field of a form is narrower than its row.
NARROWER = """field => Math.round(
  field.closest(".aia-edit-field").clientWidth - field.getBoundingClientRect().width
)"""
PREPEND = """sheet => {
  const style = document.createElement("style");
  style.textContent = sheet;
  document.head.prepend(style); // before ours: it has more weight
}"""
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


def choose(panel: Panel, name: str, choice: str, system: str) -> None:
    """Have the page in what the person chose, on a system in light or dark."""
    theme = THEMES[name]
    value = json.dumps(theme.value.format(choice))
    panel.page.emulate_media(color_scheme=system)  # type: ignore[arg-type]
    panel.page.evaluate(f"() => {{ localStorage[{theme.stored!r}] = {value} }}")
    panel.reload()


def colours_of(panel: Panel, name: str) -> dict[str, list[int]]:
    names = [*PUBLIC, *DERIVED]
    return dict(panel.page.evaluate(COLOURS, [names, THEMES[name].page]))


def assert_of_the_page(found: dict[str, list[int]], *, is_dark: bool) -> None:
    """The panel has the ground of the page, and its code can be read."""
    assert found["panel"] == found["page"] == found["bg"]
    assert (luminance(found["bg"]) < 0.2) == is_dark
    assert found["code"] == found["bg2"]
    assert (luminance(found["code"]) < 0.2) == is_dark
    colours = {name: found[name] for name in found if name.startswith("code-")}
    assert len(colours) == 9
    poor = {k: v for k, v in colours.items() if contrast(v, found["code"]) < 4.5}
    assert poor == {}


def assert_readable(found: dict[str, list[int]]) -> None:
    ratios = {
        pair: round(contrast(*(found[part] for part in pair)), 2) for pair in PAIRS
    }
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < 4.5} == {}
    for mark in ("ok", "edge"):
        assert contrast(found[mark], found["bg"]) >= 3, mark


class InTheme:
    """What holds in each theme, on one page after another."""

    def __init__(self, panel: Panel, name: str) -> None:
        self.panel = panel
        self.page = panel.page
        self.name = name

    def colours_are_those_of_the_page(self) -> None:
        for choice, system in TRIED:
            choose(self.panel, self.name, choice, system)
            found = colours_of(self.panel, self.name)
            assert_of_the_page(found, is_dark=MODES[choice, system] == "dark")
            assert_readable(found)

    def own_page_has_its_list_and_the_colours_of_the_site(self) -> None:
        wanted = colours_of(self.panel, self.name)
        self.panel.goto("/assistant/")
        assert self.page.locator("#aia-history nav").is_visible()
        found = colours_of(self.panel, self.name)
        assert {**found, "page": 0} == {**wanted, "page": 0}

    def variables_of_the_docs_go_before_the_theme(self) -> None:
        documented = section(page("docs/panel.md"), "Theming")
        (sheet,) = [one.code for one in blocks(documented) if one.language == "css"]
        self.page.evaluate(PREPEND, sheet)
        found = colours_of(self.panel, self.name)
        assert found["accent"] == [0x7C, 0x3A, 0xED]
        assert found["accent-fg"] == [0xFF, 0xFF, 0xFF]
        assert found["link"] == [0x6D, 0x28, 0xD9]
        send = self.page.locator("#aia-send")
        ground = "node => getComputedStyle(node).backgroundColor"
        self.panel.wait(
            lambda: send.evaluate(ground) == "rgb(124, 58, 237)", "its ground"
        )
        self.page.evaluate("document.documentElement.dataset.theme = 'dark'")
        assert colours_of(self.panel, self.name)["link"] == [0xC4, 0xB5, 0xFD]

    def list_of_a_select2_is_above_the_floating_panel(self) -> None:
        self.page.set_viewport_size({"width": 760, "height": 800})
        self.panel.goto("/admin/questionnaires/section/1/change/")
        self.page.locator(".select2-selection").first.wait_for(state="attached")
        self.panel.root.evaluate("root => (root.dataset.mode = 'float')")
        self.page.evaluate("django.jQuery('#id_questionnaire').select2('open')")
        self.page.locator(".select2-results__option").nth(1).wait_for()
        assert self.page.evaluate(COVERED) == [True, True]

    def floating_window_is_never_seen_elsewhere(self) -> None:
        self.page.goto("about:blank")  # the page there writes the cookie too
        cookie = {"name": "aia_ui", "value": "o=1&m=float&w=440&p=20.10.5"}
        self.page.context.add_cookies([{**cookie, "url": self.panel.url}])
        self.page.set_viewport_size({"width": 1440, "height": 900})
        self.page.add_init_script(f"({WATCH})()")
        expected = {"places": [f"{1440 - 200 - 440},{900 - 100 - 400},440,400"]}
        seen = self.seen_while_loading()
        if seen["shifts"]:  # a sheet of the theme came late, on a busy machine
            seen = self.seen_while_loading()
        assert seen == {**expected, "shifts": 0}

    def seen_while_loading(self) -> dict[str, object]:
        self.panel.goto(FORM)
        self.page.wait_for_load_state("networkidle")
        return dict(self.page.evaluate("seen"))


class InUnfold(InTheme):
    def page_keeps_its_htmx(self) -> None:
        assert self.page.evaluate("htmx.version") == "2.0.4"
        assert self.page.evaluate("!!window.Alpine")
        assert self.page.locator("script[src*=htmx]").count() == 1

    def buttons_of_the_page_fire_once(self) -> None:
        asked: list[str] = []
        self.page.on("request", lambda request: asked.append(request.url))
        self.page.evaluate(
            """() => {
              const main = document.getElementById("content");
              main.insertAdjacentHTML("afterbegin", `<p id="said"></p>
                <button id="ask" hx-get="/assistant/health/" hx-target="#said"
                  x-data="{n: 0}" x-on:click="n += 1" x-text="'clicked ' + n">
                </button>`);
              htmx.process(main);
            }"""
        )
        self.page.locator("#ask").click()
        self.page.locator("#said").get_by_text("status").wait_for()
        assert sum("/assistant/health/" in url for url in asked) == 1
        assert self.page.inner_text("#ask") == "clicked 1"

    def forms_of_the_panel_work(self) -> None:
        panel = self.panel
        panel.ask("[[script:approval]]")
        panel.wait_state("waiting-approval")
        panel.approve()
        assert panel.wait_done(2).text.endswith("That is settled.")
        panel.ask("[[script:ask-select]]")
        panel.wait_state("waiting-answer")
        panel.choose("Green")
        panel.wait_done(3)
        panel.ask("[[script:endless]]")
        panel.wait(lambda: len(panel.answers()) == 4, "the answer")
        panel.wait_words(5)
        panel.stop()
        panel.wait_state("stopped")
        assert self.page.url.endswith(LIST)
        assert panel.repeated_ids() == []

    def form_has_its_tabs_and_keeps_the_panel_when_it_is_saved(self) -> None:
        self.panel.goto(FORM)
        self.page.fill("#id_description", "Saved in Unfold")
        with self.page.expect_navigation():
            self.page.locator("[name=_continue]").click()
        self.panel.ready()
        assert self.page.input_value("#id_description") == "Saved in Unfold"
        assert self.panel.asked()[-1] == "[[script:endless]]"

        fields = self.page.locator("#id_title")
        inline = self.page.locator("#sections-group")
        assert fields.is_visible()
        assert not inline.is_visible()
        self.page.locator("a[href='#sections']").first.click()
        inline.wait_for(state="visible")
        assert not fields.is_visible()
        assert self.panel.input.is_visible()

    def fields_of_a_proposal_are_as_wide_as_its_form(self) -> None:
        """Widgets of Unfold wrap them."""
        self.panel.goto(LIST)
        self.panel.ask("[[script:edit]]")
        self.panel.wait_state("waiting-approval")
        self.panel.edit().wait_for()
        narrower = {
            name: self.panel.edit_field(name).evaluate(NARROWER)
            for name in ("title", "slug", "text")
        }
        assert narrower == dict.fromkeys(narrower, 0)


class InJazzmin(InTheme):
    def page_is_not_under_the_docked_panel(self) -> None:
        panel_from = self.page.evaluate(EDGES, "#aia")[0]
        for query in (".app-header", ".app-main", "#changelist", ".app-footer"):
            assert self.page.evaluate(EDGES, query)[1] <= panel_from, query
        widest = self.page.evaluate("document.documentElement.scrollWidth")
        assert widest <= self.page.evaluate("innerWidth")

    def selects_of_the_panel_stay_as_they_are(self) -> None:
        """Its forms make a select2 of every select of the page."""
        self.panel.goto(FORM)
        self.page.locator("#content-main .select2-container").first.wait_for()
        assert self.page.locator("#aia-look").is_visible()
        assert self.panel.root.locator(".select2-container").count() == 0


def told(subtests: pytest.Subtests, *facts: Callable[[], None]) -> None:
    for fact in facts:
        with subtests.test(fact.__name__):
            fact()


@pytest.fixture
def begin(visit: Visit, model: ModelServerProcess) -> Callable[[DemoServer], Panel]:
    """Open a list of the site, and have an answer with code in it."""

    def open_list(server: DemoServer) -> Panel:
        model.script("code", [[{"op": "text", "text": CODE}]])
        model.script("edit", [[call("change_object", REWRITE)]])
        # Styles of a test itself are let in, whatever the policy.
        panel = visit(server, bypass_csp=True).panel(LIST)
        panel.ask_and_wait("[[script:code]]")
        return panel

    return open_list


def test_admin_and_panel_have_the_same_colours_and_places(
    server: DemoServer, begin: Callable[..., Panel], subtests: pytest.Subtests
) -> None:
    here = InTheme(begin(server), "admin")
    told(
        subtests,
        here.colours_are_those_of_the_page,
        here.variables_of_the_docs_go_before_the_theme,
        here.list_of_a_select2_is_above_the_floating_panel,
        here.floating_window_is_never_seen_elsewhere,
    )


def in_unfold(panel: Panel) -> tuple[Callable[[], None], ...]:
    here = InUnfold(panel, "unfold")
    return (
        here.page_keeps_its_htmx,
        here.buttons_of_the_page_fire_once,
        here.forms_of_the_panel_work,
        here.colours_are_those_of_the_page,
        here.form_has_its_tabs_and_keeps_the_panel_when_it_is_saved,
        here.own_page_has_its_list_and_the_colours_of_the_site,
        here.variables_of_the_docs_go_before_the_theme,
        here.list_of_a_select2_is_above_the_floating_panel,
        here.floating_window_is_never_seen_elsewhere,
        here.fields_of_a_proposal_are_as_wide_as_its_form,
    )


def in_jazzmin(panel: Panel) -> tuple[Callable[[], None], ...]:
    here = InJazzmin(panel, "jazzmin")
    return (
        here.page_is_not_under_the_docked_panel,
        here.colours_are_those_of_the_page,
        here.own_page_has_its_list_and_the_colours_of_the_site,
        here.variables_of_the_docs_go_before_the_theme,
        here.selects_of_the_panel_stay_as_they_are,
        here.list_of_a_select2_is_above_the_floating_panel,
        here.floating_window_is_never_seen_elsewhere,
    )


@pytest.mark.scenario(21)
@pytest.mark.scenario(22)
@pytest.mark.parametrize("name", share(["unfold", "jazzmin"], every=2))
def test_theme_of_a_package_and_panel_leave_each_other_as_they_are(
    tmp_path: Path,
    model: ModelServerProcess,
    begin: Callable[..., Panel],
    visit: Visit,
    subtests: pytest.Subtests,
    name: str,
) -> None:
    with site(tmp_path, model, THEMES[name].settings) as server:
        panel = begin(server)
        facts = in_unfold(panel) if name == "unfold" else in_jazzmin(panel)
        told(subtests, *facts)
        with subtests.test("launcher is in the window of a phone, right to left"):
            assert_launcher_is_in_sight(visit(server, locale="ar", **PHONE).tab())


def assert_launcher_is_in_sight(phone: Panel) -> None:
    """It is fixed: where a page is wider than the window, it lies beside it."""
    phone.goto(LIST)
    phone.page.wait_for_load_state("networkidle")  # themes add parts by script
    left, right = phone.page.evaluate(EDGES, "#aia-launcher")
    assert 0 <= left < right <= PHONE["viewport"]["width"]
