"""What a person tells the parts of the panel by: their edges, sides and words."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
LIST = "/admin/questionnaires/questionnaire/"
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}}
CODE = "Use `ls`, or this:\n\n```python\npass\n```\n"
LONG = "The names of all drafts that nobody has opened for a year, " * 2
SMALL: dict[str, Any] = {"viewport": {"width": 320, "height": 640}, "has_touch": True}
ASIDE: dict[str, Any] = {"viewport": {"width": 640, "height": 320}, "has_touch": True}
# How far the time of a row is from its menu.
GAP = """row => {
  const { right } = row.querySelector("time").getBoundingClientRect();
  return row.querySelector("[popovertarget]").getBoundingClientRect().left - right;
}"""
WIDTH = "node => node.getBoundingClientRect().width"
# How much of what is chosen in a select is cut.
CUT = """select => {
  const { width } = select.getBoundingClientRect();
  select.style = "position: absolute; inline-size: max-content";
  const whole = select.getBoundingClientRect().width;
  select.style = "";
  return whole - width;
}"""
# How far a list goes on below what lies on its last rows, and is not covered.
BELOW_TOAST = """toast => {
  let list = toast.parentElement;
  while (getComputedStyle(list).overflowY !== "auto") list = list.parentElement;
  const covered = parseFloat(getComputedStyle(toast).boxShadow.split("px ")[1]);
  const { bottom } = toast.getBoundingClientRect();
  return list.getBoundingClientRect().bottom - bottom - covered;
}"""
# How far the words of labels are from their fields.
LABELS = """fields => fields.map((field) => {
  const select = field.lastElementChild.getBoundingClientRect();
  const words = document.createRange();
  words.selectNodeContents(field.firstElementChild);
  return select.top - words.getBoundingClientRect().bottom;
})"""
SCALE = "node => getComputedStyle(node).scale"
# How far the words of a box are from its start and its end, in the page's direction.
ROOM = """box => {
  const range = document.createRange();
  range.selectNodeContents(box);
  const words = range.getBoundingClientRect();
  const { left, right } = box.getBoundingClientRect();
  const sides = [words.left - left, right - words.right];
  return document.dir === "rtl" ? sides.reverse() : sides;
}"""
# Whether the first letter of a box is seen.
BEGINS = """box => {
  const range = document.createRange();
  range.setStart(box.firstChild, 0);
  range.setEnd(box.firstChild, 1);
  const letter = range.getBoundingClientRect();
  const { left, right } = box.getBoundingClientRect();
  return letter.left >= left - 1 && letter.right <= right + 1;
}"""
# Whether nothing is seen between a button and the lower edge of its dialog.
BELOW = """button => {
  const { left, bottom } = button.getBoundingClientRect();
  const edge = button.closest("dialog").getBoundingClientRect().bottom;
  const foot = button.parentElement;
  const at = (y) => document.elementFromPoint(left + 4, y);
  for (let y = bottom + 1; y < edge - 2; y++) if (!foot.contains(at(y))) return false;
  return true;
}"""
BOTTOM = "node => node.getBoundingClientRect().bottom"
TOPS = "all => all.map((one) => one.getBoundingClientRect().top)"
# The ground of what has just been changed, and the shadow at its edge.
CHANGED = """node => {
  node.classList.add("aia-changed");
  const { backgroundColor, boxShadow } = getComputedStyle(node);
  return [backgroundColor, boxShadow];
}"""
GROUND = "node => getComputedStyle(node).backgroundColor"
EDGE = """node => {
  const { borderTopStyle, borderTopWidth } = getComputedStyle(node);
  return `${borderTopWidth} ${borderTopStyle}`;
}"""

# Whether words of an answer fade in just now.
FADES = """() => [...document.querySelectorAll("#aia .aia-in")]
  .some((span) => span.getAnimations().length)"""
# Notes whether they do. To the page its frames are quick, however busy the machine is:
# in slow ones nothing fades in.
WATCH_FADES = """() => {
  performance.now = () => Number(document.timeline.currentTime);
  document.getElementById("aia").addEventListener("animationstart", ({ target }) => {
    window.testFaded ||= target.matches(".aia-in");
  });
}"""


class TestRightToLeft:
    def test_signs_and_names_are_at_their_side(
        self, visit: Visit, server: DemoServer, subtests: pytest.Subtests
    ) -> None:
        panel = visit(server, locale="ar").panel(LIST)
        panel.ask_and_wait("[[script:think-and-call]]")
        with subtests.test("a title in Latin begins where the head does"):
            title = panel.page.locator("#aia-title")
            title.evaluate("one => one.replaceChildren('Drafts')")
            start, end = title.evaluate(ROOM)
            assert start < 2
            assert end > 20
        with subtests.test("the hint of an empty field begins where the panel does"):
            self.hint_begins_where_the_panel_does(panel)
        with subtests.test("the chevron of the reasoning"):
            self.chevron_points_the_way_of_the_text(panel)
        with subtests.test("those of versions"):
            self.versions_point_the_way_of_the_text(panel)
        with subtests.test("a description in English loses its end"):
            self.description_loses_its_end(panel)

    def hint_begins_where_the_panel_does(self, panel: Panel) -> None:
        direction = "field => getComputedStyle(field).direction"
        assert panel.input.evaluate(direction) == "rtl"
        panel.input.fill("Which drafts are there?")
        assert panel.input.evaluate(direction) == "ltr"
        panel.input.fill("")

    def chevron_points_the_way_of_the_text(self, panel: Panel) -> None:
        reasoning = panel.log.locator(".aia-reasoning")
        chevron = reasoning.locator("summary .aia-i").locator("xpath=..")
        assert chevron.evaluate(SCALE) == "-1 1"
        reasoning.locator("summary").click()
        assert chevron.evaluate(SCALE) == "none"
        assert chevron.evaluate("node => getComputedStyle(node).rotate") == "90deg"

    def versions_point_the_way_of_the_text(self, panel: Panel) -> None:
        panel.log.locator(".aia-msg[data-role=user]").last.hover()
        panel.log.locator(".aia-mine [data-aia-use=edit]").first.click()
        form = panel.page.locator("form.aia-fork")
        form.locator("textarea").fill("[[script:think-and-call]] again")
        form.locator(".aia-go").click()
        panel.log.get_by_text("2 / 2").wait_for()
        panel.wait_done()
        for name in ("previous", "next"):
            sign = panel.log.locator(f".aia-{name} svg")
            assert sign.evaluate(SCALE) == "-1 1"

    def description_loses_its_end(self, panel: Panel) -> None:
        panel.input.press_sequentially("/")
        option = panel.page.locator("#aia-far [role=option]").first
        option.wait_for()
        said = option.locator(":scope > span")
        said.evaluate("(box, text) => box.replaceChildren(text)", LONG)
        assert said.evaluate("box => box.scrollWidth > box.clientWidth")
        assert said.evaluate(BEGINS)


class TestForcedColours:
    def test_what_has_only_a_ground_has_an_edge(
        self, visit: Visit, server: DemoServer, model: ModelServerProcess
    ) -> None:
        model.script("edges", [[text(CODE)]])
        panel = visit(server, forced_colors="active").panel(LIST)
        panel.ask_and_wait("[[script:edges]]")

        parts = {
            "bubble": ".aia-msg[data-role=user] > .aia-text",
            "code": ".aia-code",
            "word of code": ".aia-b :not(pre) > code",
        }
        found = {
            name: panel.log.locator(selector).first.evaluate(EDGE)
            for name, selector in parts.items()
        }
        assert found == dict.fromkeys(parts, "1px solid")


class TestWords:
    def test_empty_panel_says_what_the_composer_is_set_to(
        self, visit: Visit, server: DemoServer
    ) -> None:
        panel = visit(server).panel(LIST)
        may, looks = panel.root.locator(".aia-may"), panel.root.locator(".aia-looks")
        expect(may).to_be_visible()
        expect(looks).to_be_hidden()

        panel.page.locator("#aia-look").select_option("1")

        expect(may).to_be_hidden()
        expect(looks).to_have_text("It looks things up as you, and changes nothing.")


class TestMarks:
    def test_what_has_changed_keeps_the_ground_of_its_words(
        self, visit: Visit, server: DemoServer
    ) -> None:
        """Those of the breadcrumbs are white, on a ground of the site's own."""
        panel = visit(server).panel(LIST)
        crumbs = panel.page.locator(".breadcrumbs")
        before = crumbs.evaluate(GROUND)

        # Once the sheet is there, which comes late.
        panel.wait(lambda: crumbs.evaluate(CHANGED)[1] != "none", "a mark")
        ground, shadow = crumbs.evaluate(CHANGED)
        assert ground == before
        assert "inset" not in shadow  # it would lie on their first letter


class TestFading:
    def test_new_words_fade_in_and_stay(
        self, visit: Visit, server: DemoServer, model: ModelServerProcess
    ) -> None:
        hold = {"op": "hold", "name": "fading"}
        model.script("fading", [[text("Some words."), hold, text(" And some more.")]])
        panel = visit(server, reduced_motion="no-preference").panel(LIST)
        panel.page.evaluate(WATCH_FADES)
        panel.ask("[[script:fading]]")
        panel.wait_text("Some words.")
        model.release("fading")
        panel.wait_text("more.")
        panel.page.wait_for_function("() => window.testFaded")
        panel.wait_done()
        panel.page.wait_for_function(f"() => !({FADES})()")
        assert panel.answer().text.strip() == "Some words. And some more."

    def test_words_of_who_wants_less_motion_do_not(
        self, visit: Visit, server: DemoServer, model: ModelServerProcess
    ) -> None:
        model.script("slow", [[text("One two three four five six.", rate=10)]])
        panel = visit(server).panel(LIST)
        panel.page.evaluate(WATCH_FADES)
        panel.ask_and_wait("[[script:slow]]")
        assert not panel.page.locator("#aia .aia-in").count()


class TestPhone:
    def test_buttons_stay_in_reach_and_together(
        self, visit: Visit, server: DemoServer, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("the button that closes the keyboard map is in sight"):
            self.map_can_be_closed(visit(server, locale="de", **PHONE).panel(LIST))
        with subtests.test("settings that are longer than the panel are scrolled"):
            self.settings_end_with_the_panel(visit(server, **ASIDE).panel(LIST))
        with subtests.test("what can be done with changes stands in one line"):
            panel = visit(server, **PHONE).panel(LIST)
            panel.ask("[[script:rename]]")
            panel.wait_state("waiting-approval")
            panel.approve()
            panel.wait_done()
            buttons = panel.page.locator(".aia-offer .aia-btn")
            expect(buttons).to_have_count(2)
            assert len({*buttons.evaluate_all(TOPS)}) == 1

    def test_words_have_their_room_on_a_small_one(
        self, visit: Visit, server: DemoServer, subtests: pytest.Subtests
    ) -> None:
        panel = visit(server, **SMALL).panel(f"{LIST}1/change/")
        with subtests.test("what the assistant may do"):
            assert panel.page.locator("#aia-look").evaluate(CUT) <= 0
        with subtests.test("a chip beside the reason why nothing can be changed"):
            assert panel.page.locator(".aia-about").is_visible()
            assert panel.page.locator(".aia-chip-name").first.evaluate(WIDTH) >= 60
        panel.goto(LIST)
        panel.ask("[[script:endless]]")
        panel.wait_words(3)
        panel.input.fill("Then publish the first one.")
        panel.input.press("Enter")
        queued = panel.page.locator("#aia-queued .aia-text")
        queued.wait_for()
        with subtests.test("a queued message"):
            assert queued.evaluate(WIDTH) >= 110
        panel.stop()
        panel.wait_state("stopped")
        panel.list_conversations()
        with subtests.test("the time of a row, beside its menu"):
            row = panel.page.locator("#aia-history li:has(time)").first
            assert row.evaluate(GAP) >= 0
        with subtests.test("what was deleted is said on rows that do not show below"):
            self.delete_of_a_long_list(panel)
            assert panel.page.locator(".aia-toast").evaluate(BELOW_TOAST) <= 0
        panel.page.locator("#aia-list").click()
        panel.page.locator("#aia-settings > summary").click()
        with subtests.test("labels are at their own fields"):
            fields = panel.page.locator(".aia-settings .aia-edit-field")
            assert max(fields.evaluate_all(LABELS)) < 10

    def test_composer_of_a_small_one_keeps_its_buttons_together(
        self, visit: Visit, server: DemoServer
    ) -> None:
        panel = visit(server, locale="de", **SMALL).panel(LIST)
        panel.ask("[[script:rename]]")
        panel.wait_state("waiting-approval")
        buttons = panel.page.locator("#aia-stop, #aia-send")
        assert len({*buttons.evaluate_all(TOPS)}) == 1

    def delete_of_a_long_list(self, panel: Panel) -> None:
        history = panel.page.locator("#aia-history")
        history.locator("li [popovertarget]").first.click()
        history.locator("[popover]:popover-open [name=do][value=delete]").click()
        panel.page.locator("#aia-undo").wait_for()
        drawer = history.locator(".aia-drawer")
        drawer.evaluate("list => { list.style.minBlockSize = '1200px' }")

    def settings_end_with_the_panel(self, panel: Panel) -> None:
        panel.page.locator("#aia-settings > summary").click()
        settings = panel.page.locator(".aia-settings")
        expect(settings).to_have_css("position", "absolute")
        assert settings.evaluate(BOTTOM) < ASIDE["viewport"]["height"]
        last = settings.get_by_role("link").last
        last.scroll_into_view_if_needed()
        expect(last).to_be_in_viewport(ratio=1)

    def map_can_be_closed(self, panel: Panel) -> None:
        panel.page.locator("#aia-settings > summary").click()
        panel.page.locator(".aia-settings a[href*=keyboard]").click()
        close = panel.page.locator("dialog[open] > p button")
        close.wait_for()
        expect(close).to_be_in_viewport(ratio=1)
        assert close.evaluate(BELOW)
        close.click()
        expect(panel.page.locator("dialog[open]")).to_have_count(0)
