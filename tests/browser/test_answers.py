"""Answers: taken along, judged, folded, and how the page moves while one is written."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.bench.markdown import numbered_markdown
from tests.browser.panel import Panel
from tests.browser.visitor import VIEWPORT, Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle

Visit = Callable[..., Visitor]

TABLE = "| Id | Title |\n|---:|---|\n| 4 | **Knee** |"
CODE = "```python\nfor one in all:\n    print(one)\n```"
ANSWER = (
    f"Found [two](/admin/questionnaires/questionnaire/4/change/):\n\n{TABLE}\n\n{CODE}"
)
WIDE = "| " + " | ".join(f"a rather long column {n}" for n in range(12)) + " |\n"
WIDE += "|" + "---|" * 12 + "\n| " + " | ".join("value" for _ in range(12)) + " |"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
NARROW = {"width": 630, "height": 800}
OBJECT = {"model": "questionnaires.questionnaire", "id": 4}
ENDLESS = "[[script:stream tokens=30000 rate=90]]"  # is stopped
# Nothing where it changes while it is read: who waits reads it once more.
COPIED = """async () => {
  const [item] = await navigator.clipboard.read();
  const read = async (type) => [type, await (await item.getType(type)).text()];
  return Promise.all(item.types.map(read)).then(Object.fromEntries, () => ({}));
}"""
# Plain http: the new clipboard is kept aside, for the test alone.
WITHOUT_CLIPBOARD = """() => {
  window.kept = navigator.clipboard;
  Object.defineProperty(navigator, "clipboard", { value: undefined });
}"""
RESTS = """() => {
  const { scrollTop } = document.querySelector("#aia-scroll");
  const rests = window.restedAt === scrollTop;
  window.restedAt = scrollTop;
  return rests;
}"""
END = "node => node.scrollTo(0, node.scrollHeight)"
ROOM = """document.querySelector("#aia-log > article:last-of-type")
  .style.minBlockSize"""
# Where the last question stands, in each frame.
WATCH_TOPS = """() => {
  window.tops = [];
  const question = [...document.querySelectorAll(".aia-msg[data-role=user]")].at(-1);
  const look = () => {
    window.tops.push(question.getBoundingClientRect().top);
    requestAnimationFrame(look);
  };
  look();
}"""
SELECT = """(place) => {
  const blocks = [...document.querySelectorAll(".aia-body > .aia-b")];
  getSelection().selectAllChildren(blocks.at(place));
  return getSelection().toString();
}"""
# What is selected while the panel says that it pauses for that: five seconds at most.
NOTE_WHAT_IS_HELD = """() => {
  const root = document.getElementById("aia");
  new MutationObserver((_, observer) => {
    if (!root.dataset.held) return;
    observer.disconnect();
    window.held = getSelection().toString();
  }).observe(root, { attributeFilter: ["data-held"] });
}"""
QUESTION = ".aia-msg[data-role=user]"
GAP = "n => n.scrollHeight - n.scrollTop - n.clientHeight"
OPACITY = "node => getComputedStyle(node).opacity"


@pytest.fixture(scope="module", autouse=True)
def scripts(model: ModelServerProcess) -> None:
    model.script("answer", [[text(ANSWER)]])
    model.script("wide", [[text(WIDE)]])
    model.script(
        "looks",
        [
            [
                call("get_object", OBJECT, index=0),
                call("list_questionnaires", {"status": "draft"}, index=1),
                call("get_object", {**OBJECT, "id": 9999}, index=2),
            ],
            [text(ANSWER)],
        ],
    )
    words = "It begins with these words, of which there are more than twenty. " * 2
    hold = {"op": "hold", "name": "folds"}
    model.script(
        "folds",
        [
            [
                {"op": "reasoning", "text": "Look first."},
                call("echo", {"text": "a look"}),
            ],
            [text(words), hold, text("It ends here.")],
        ],
    )
    hold = {"op": "hold", "name": "short"}
    rest = {"op": "story", "tokens": 30, "rate": 40}
    model.script("short", [[text(words), hold, rest]])
    cut = [text(words), {"op": "hang"}]  # is stopped
    model.script("goes-on", [cut, [text("And so it went on.")]])
    model.script("long", [[text("One line.\n\n" * 40)]])
    model.script("held-tail", [held("tail")])
    model.script("held-room", [held("room")])


def held(name: str) -> list[dict[str, Any]]:
    """A text that waits in the middle of its last block."""
    first = text("One word. " * 30 + "\n\nThe tail grows")
    return [first, {"op": "hold", "name": name}, text(" and has an end.\n\n" * 3)]


def button(panel: Panel, name: str) -> Any:
    return panel.log.get_by_role("button", name=name, exact=True).last


def top_of(panel: Panel, selector: str) -> float:
    """How far below the top of the conversation's box an element stands."""
    return float(
        panel.page.evaluate(
            """(selector) => {
              const box = document.querySelector("#aia-scroll").getBoundingClientRect();
              const found = [...document.querySelectorAll(selector)].at(-1);
              return found.getBoundingClientRect().top - box.top;
            }""",
            selector,
        )
    )


def gap(panel: Panel) -> float:
    """How far the conversation's box is from its end."""
    return float(panel.page.locator("#aia-scroll").evaluate(GAP))


def wait_rest(panel: Panel) -> None:
    """Wait until the conversation's box has stood still from one look to the next."""
    panel.page.evaluate("() => { delete window.restedAt; }")
    panel.page.wait_for_function(RESTS, polling=200)


def stop(panel: Panel) -> None:
    panel.stop()
    panel.wait_state("stopped")


class TestCopy:
    @pytest.mark.scenario(13)
    def test_answer_its_markdown_and_its_code_are_copied_on_https_and_http(
        self, visit: Visit, server: DemoServer, subtests: pytest.Subtests
    ) -> None:
        visitor = visit(server)
        visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
        panel = visitor.panel()
        panel.ask_and_wait("[[script:answer]]")
        for fact in (
            self.answer_is_rich_and_markdown,
            self.markdown_is_alone,
            self.code_is_alone,
            self.answer_is_saved_as_a_file,
            self.plain_http_copies_the_same,
            self.not_allowed_selects_what_to_copy,
        ):
            with subtests.test(fact.__name__):
                fact(panel)

    def answer_is_rich_and_markdown(self, panel: Panel) -> None:
        button(panel, "Copy").click()
        panel.page.locator("#aia-say", has_text="Copied").wait_for(state="attached")

        copied = panel.page.evaluate(COPIED)
        assert copied["text/plain"] == ANSWER
        assert "<table>" in copied["text/html"]
        assert "<strong>Knee</strong>" in copied["text/html"]
        link = f'href="{panel.url}/admin/questionnaires/questionnaire/4/change/"'
        assert link in copied["text/html"]
        assert "<button" not in copied["text/html"]
        assert "aia-" not in copied["text/html"]

    def markdown_is_alone(self, panel: Panel) -> None:
        button(panel, "More").click()
        button(panel, "Copy as Markdown").click()
        self.wait_copied(panel, {"text/plain": ANSWER})
        assert not button(panel, "Copy as Markdown").is_visible()

    def code_is_alone(self, panel: Panel) -> None:
        panel.log.locator(".aia-code").hover()
        button(panel, "Copy the code").click()
        code = "for one in all:\n    print(one)\n"
        self.wait_copied(panel, {"text/plain": code})

    def wait_copied(self, panel: Panel, wanted: dict[str, str]) -> None:
        panel.wait(
            lambda: panel.page.evaluate(COPIED) == wanted, f"{wanted} in the clipboard"
        )

    def answer_is_saved_as_a_file(self, panel: Panel) -> None:
        button(panel, "More").click()
        with panel.page.expect_download() as download:
            panel.log.get_by_role("link", name="Save as Markdown").click()

        assert download.value.path().read_text() == f"{ANSWER}\n"
        assert download.value.suggested_filename.endswith(".md")

    def plain_http_copies_the_same(self, panel: Panel) -> None:
        panel.page.evaluate(WITHOUT_CLIPBOARD)
        button(panel, "Copy").click()
        kept = COPIED.replace("navigator.clipboard", "window.kept")
        panel.wait(
            lambda: panel.page.evaluate(kept).get("text/plain") == ANSWER,
            "the answer in the clipboard",
        )
        assert "<table" in panel.page.evaluate(kept)["text/html"]

    def not_allowed_selects_what_to_copy(self, panel: Panel) -> None:
        panel.page.evaluate("() => { document.execCommand = () => false; }")
        button(panel, "Copy").click()
        panel.page.get_by_text("The text is selected: press Ctrl+C.").wait_for()

        selected = panel.page.evaluate("getSelection().toString()")
        assert "Knee" in selected
        assert "print(one)" in selected


class TestJudged:
    def test_feedback_by_mouse_and_keys_says_why_and_is_kept(
        self, panel: Panel, subtests: pytest.Subtests
    ) -> None:
        panel.ask_and_wait("[[script:hello]]")
        panel.ask_and_wait("[[script:hello]]")
        with subtests.test("the bar of an older answer shows on hover and focus"):
            self.bars_show_on_hover_and_focus(panel)
        with subtests.test("pressed, and pressed again"):
            good = button(panel, "Good answer")
            for pressed in ("true", "false"):
                good.click()
                panel.wait(
                    lambda said=pressed: good.get_attribute("aria-pressed") == said,
                    f"aria-pressed={pressed}",
                )
                assert good.evaluate("node => node === document.activeElement")

        with subtests.test("by keys, and the reasons"):
            bad = button(panel, "Bad answer")
            bad.focus()
            bad.press("Enter")
            panel.log.get_by_label("Too slow").wait_for()
            assert bad.evaluate("node => node === document.activeElement")
            panel.log.get_by_label("Not what I asked").check()
            panel.log.get_by_label("What would have been right?").fill("A number.")
            button(panel, "Send").click()
            panel.log.get_by_text("Your reasons are noted").wait_for()
            assert not panel.log.get_by_label("Not what I asked").is_visible()

        panel.reload()
        panel.log.get_by_text("Your reasons are noted").click()
        assert panel.log.get_by_label("Not what I asked").is_checked()
        assert panel.log.locator("textarea").input_value() == "A number."

    def bars_show_on_hover_and_focus(self, panel: Panel) -> None:
        panel.page.mouse.move(0, 0)
        older, newest = panel.log.get_by_role("toolbar", name="Answer").all()
        assert newest.evaluate(OPACITY) == "1"
        assert older.evaluate(OPACITY) == "0"
        older.get_by_role("button", name="Good answer").focus()
        assert older.evaluate(OPACITY) == "1"
        panel.input.focus()
        panel.log.locator(".aia-msg[data-role=assistant]").first.hover()
        assert older.evaluate(OPACITY) == "1"


class TestParts:
    def test_touch_sees_all_bars_and_a_wide_table_stays_in_its_box(
        self, visit: Visit, server: DemoServer
    ) -> None:
        panel = visit(server, **PHONE, is_mobile=True).panel()
        panel.ask_and_wait("[[script:hello]]")
        panel.ask_and_wait("[[script:wide]]")

        older = panel.log.get_by_role("toolbar", name="Answer").first
        assert older.evaluate(OPACITY) == "1"
        table = panel.log.get_by_role("region")
        assert table.get_attribute("tabindex") == "0"
        assert "a rather long column 0" in (table.get_attribute("aria-label") or "")
        assert table.evaluate("node => node.scrollWidth > node.clientWidth")
        wider = "node => node.scrollWidth - node.clientWidth"
        assert panel.page.locator("#aia-scroll").evaluate(wider) == 0
        assert panel.page.locator("html").evaluate(wider) == 0

    @pytest.mark.scenario(14)
    def test_folds_open_stay_open_and_an_answer_goes_on_where_it_was_stopped(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("looks are one line, failures stay in sight"):
            self.looks_are_one_line(panel)
        panel.new_conversation()
        with subtests.test("what was opened stays open while it goes on"):
            self.opened_stays_open(panel, model)
        panel.new_conversation()
        with subtests.test("Continue writes on in the same message"):
            self.continue_writes_on(panel)

    def looks_are_one_line(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:looks]]")
        panel.log.get_by_text("Looked at 2 things").wait_for()
        cards = panel.card("get_object")
        assert [one.is_visible() for one in cards.all()] == [False, True]
        assert cards.last.get_attribute("data-status") == "failed"
        sources = panel.log.get_by_role("list", name="Sources:")
        assert sources.get_by_role("link").count() == 1
        panel.log.get_by_text("Looked at 2 things").click()
        assert panel.card("list_questionnaires").is_visible()

    def opened_stays_open(self, panel: Panel, model: ModelServerProcess) -> None:
        panel.ask("[[script:folds]]")
        panel.wait_words(20)
        panel.card("echo").locator("summary").click()
        thought = panel.log.locator(".aia-reasoning")
        assert thought.get_attribute("open") is None  # closed as the answer began
        thought.locator("summary").click()
        model.release("folds")
        panel.wait_done()

        assert panel.card("echo").locator("details").get_attribute("open") is not None
        assert panel.card("echo").get_by_text("Asked for").is_visible()
        assert thought.get_attribute("open") is not None

    def continue_writes_on(self, panel: Panel) -> None:
        panel.ask("[[script:goes-on]]")
        panel.wait_words(20)
        stop(panel)
        half = panel.answer()
        button(panel, "Continue").click()
        panel.log.get_by_text("Continued").wait_for()
        panel.wait(lambda: len(panel.answer().parts) == 2, "the second part")
        panel.wait_state("idle")
        for _ in range(2):  # as it was written, and as it is stored
            assert panel.asked() == ["[[script:goes-on]]"]
            (answer,) = panel.answers()
            assert answer.parts[0].text == half.text
            assert answer.parts[1].text.strip()
            assert panel.log.get_by_text("Stopped").count() == 0
            assert panel.log.get_by_role("toolbar", name="Answer").count() == 1
            assert panel.repeated_ids() == []
            panel.reload()
            panel.log.get_by_text("Continued").wait_for()


class TestWhileItIsWritten:
    @pytest.mark.scenario(11)
    @pytest.mark.scenario(12)
    @pytest.mark.scenario(13)
    def test_page_follows_and_leaves_a_reader_and_a_selection_where_they_are(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        panel.ask_and_wait("[[script:long]]")
        with subtests.test("the question stands on top, the end makes no jump"):
            self.question_stands_on_top(panel, model)
        with subtests.test("the end stays in sight in another window"):
            self.end_stays_in_sight(panel)
        with subtests.test("a form that opens takes nothing of the room"):
            self.form_takes_no_room(panel)
        with subtests.test("a reader can leave the end slowly"):
            self.end_is_left_slowly(panel)
        with subtests.test("new text below what is seen is told of"):
            self.new_text_is_told_of(panel, model)
        panel.ask(ENDLESS)
        with subtests.test("a selection in a closed block survives"):
            self.selection_survives(panel)
        with subtests.test("a long answer is followed beyond the room"):
            panel.wait_words(300)
            assert top_of(panel, QUESTION) < -100
            assert gap(panel) <= 2
        with subtests.test("a reader who scrolled up does not move"):
            self.reader_does_not_move(panel)
        panel.new_conversation()
        with subtests.test("a selection in the tail holds it back"):
            self.tail_is_held_back(panel, model)

    def question_stands_on_top(self, panel: Panel, model: ModelServerProcess) -> None:
        panel.ask("[[script:short]]")
        panel.wait_words(8)
        panel.wait(lambda: 0 <= top_of(panel, QUESTION) <= 20, "the question on top")
        panel.page.evaluate(WATCH_TOPS)
        model.release("short")
        panel.wait_done(2)
        panel.page.evaluate("new Promise((done) => setTimeout(done, 100))")
        panel.wait(lambda: panel.page.evaluate("tops.length") > 10, "enough frames")
        tops = panel.page.evaluate("tops")
        assert max(tops) - min(tops) <= 1

    def end_stays_in_sight(self, panel: Panel) -> None:
        def is_in_sight() -> bool:
            return gap(panel) <= 2 and 0 <= top_of(panel, QUESTION) <= 20

        for size in (NARROW, VIEWPORT):
            panel.page.set_viewport_size(size)
            panel.wait(is_in_sight, "the question on top, and the end")
            wait_rest(panel)
            assert is_in_sight()

    def form_takes_no_room(self, panel: Panel) -> None:
        # Else the end, which comes nearer, is followed, and the form goes out of sight.
        before = panel.page.evaluate(ROOM)
        panel.log.get_by_role("link", name="Edit").last.click()
        form = panel.log.get_by_role("textbox")
        form.wait_for()
        wait_rest(panel)
        assert panel.page.evaluate(ROOM) == before != ""
        form.press("Escape")
        form.wait_for(state="detached")
        panel.page.locator("#aia-scroll").evaluate(END)

    def end_is_left_slowly(self, panel: Panel) -> None:
        box = panel.page.locator("#aia-scroll")
        box.hover()
        for _ in range(10):
            panel.page.mouse.wheel(0, -1)
            panel.page.wait_for_timeout(30)  # as of a finger
        panel.wait(lambda: gap(panel) >= 8, "the end left")
        box.evaluate(END)

    def new_text_is_told_of(self, panel: Panel, model: ModelServerProcess) -> None:
        panel.ask("[[script:held-room]]")
        panel.wait_text("The tail grows")
        panel.page.locator("#aia-scroll").evaluate("node => node.scrollTo(0, 0)")
        latest = panel.page.get_by_role("button", name="New text")
        panel.page.wait_for_timeout(300)  # the scrolling has been seen
        assert not latest.is_visible()
        model.release("room")
        latest.wait_for()
        panel.wait_done(3)

    def selection_survives(self, panel: Panel) -> None:
        blocks = panel.log.locator(".aia-msg").last.locator(".aia-b")
        panel.wait(lambda: blocks.count() > 2, "closed blocks")
        first = panel.log.locator(".aia-b").count() - blocks.count()
        selected = panel.page.evaluate(SELECT, first)
        words = len(panel.answer().text.split())
        panel.wait_words(words + 50)
        assert panel.page.evaluate("getSelection().toString()") == selected != ""
        panel.page.evaluate("getSelection().removeAllRanges()")

    def reader_does_not_move(self, panel: Panel) -> None:
        panel.page.locator("#aia-scroll").hover()
        panel.page.mouse.wheel(0, -300)
        latest = panel.page.get_by_role("button", name="New text")
        latest.wait_for()
        wait_rest(panel)  # the wheel too
        before = top_of(panel, QUESTION)
        words = len(panel.answer().text.split())
        panel.wait_words(words + 60)
        assert top_of(panel, QUESTION) == before
        latest.click()
        latest.wait_for(state="hidden")
        panel.stop()
        panel.wait_done(4)
        assert gap(panel) <= 2

    def tail_is_held_back(self, panel: Panel, model: ModelServerProcess) -> None:
        panel.ask("[[script:held-tail]]")
        panel.wait_text("The tail grows")
        selected = panel.page.evaluate(SELECT, -1)
        panel.page.evaluate(NOTE_WHAT_IS_HELD)
        model.release("tail")
        held = panel.wait(lambda: panel.page.evaluate("window.held"), "a pause")
        assert held == selected != ""
        panel.page.evaluate("getSelection().removeAllRanges()")
        assert "and has an end." in panel.wait_done().text

    @pytest.mark.scenario(15)
    def test_eight_thousand_tokens_are_drawn_whole(
        self, panel: Panel, model: ModelServerProcess, oracle: Oracle
    ) -> None:
        said = numbered_markdown(8000)
        model.script("eight-thousand", [[text(said, rate=8000)]])
        answer = panel.ask_and_wait("[[script:eight-thousand]]")

        assert oracle.text(answer.run).strip() == said.strip()
        numbers = re.findall(r"[a-z]+(\d+)", answer.text)
        assert numbers == [str(n) for n in range(1, len(numbers) + 1)]
        assert numbers == re.findall(r"[a-z]+(\d+)", said)
        panel.reload()
        panel.input.wait_for()
        assert panel.answer().parts == answer.parts
