"""Answers: taken along, judged, folded, and how the page moves while one is written."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.bench.markdown import numbered_markdown
from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
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
OBJECT = {"model": "questionnaires.questionnaire", "id": 4}
ENDLESS = "[[script:stream tokens=3000 rate=60]]"  # is stopped
COPIED = """async () => {
  const [item] = await navigator.clipboard.read();
  const read = async (type) => (await item.getType(type)).text();
  return Object.fromEntries(
    await Promise.all(item.types.map(async (type) => [type, await read(type)])));
}"""
# Plain http: the new clipboard is kept aside, for the test alone.
WITHOUT_CLIPBOARD = """
  window.kept = navigator.clipboard;
  Object.defineProperty(navigator, "clipboard", { value: undefined });
"""


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
    model.script(
        "folds",
        [
            [
                {"op": "reasoning", "text": "Look first."},
                call("echo", {"text": "a look"}),
            ],
            [{"op": "story", "tokens": 120, "rate": 40}],
        ],
    )
    words = "It begins with these words, of which there are more than eight. "
    beginning = text(words, rate=25)
    rest = {"op": "story", "tokens": 40, "rate": 25}
    model.script("short", [[beginning, {"op": "hold", "name": "short"}, rest]])
    model.script("story", [[{"op": "story", "tokens": 600, "rate": 60}]])
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


@pytest.fixture
def copying(visit: Visit, server: DemoServer) -> Callable[..., Panel]:
    """Open a panel whose page may use the clipboard, with an answer in it."""

    def start(script: str = "") -> Panel:
        visitor = visit(server)
        visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
        if script:
            visitor.context.add_init_script(script)
        panel = visitor.panel()
        panel.ask_and_wait("[[script:answer]]")
        return panel

    return start


class TestCopy:
    @pytest.mark.scenario(13)
    def test_copy_of_an_answer_is_rich_and_markdown(
        self, copying: Callable[..., Panel]
    ) -> None:
        panel = copying()
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

    def test_copy_as_markdown_alone(self, copying: Callable[..., Panel]) -> None:
        panel = copying()
        button(panel, "More").click()
        button(panel, "Copy as Markdown").click()
        panel.page.locator("#aia-say", has_text="Copied").wait_for(state="attached")

        assert panel.page.evaluate(COPIED) == {"text/plain": ANSWER}
        assert not button(panel, "Copy as Markdown").is_visible()

    def test_copy_of_code(self, copying: Callable[..., Panel]) -> None:
        panel = copying()
        panel.log.locator(".aia-code").hover()
        button(panel, "Copy the code").click()
        panel.page.locator("#aia-say", has_text="Copied").wait_for(state="attached")

        assert panel.page.evaluate(COPIED) == {
            "text/plain": "for one in all:\n    print(one)\n"
        }

    def test_copy_on_plain_http(self, copying: Callable[..., Panel]) -> None:
        panel = copying(WITHOUT_CLIPBOARD)
        button(panel, "Copy").click()
        panel.page.locator("#aia-say", has_text="Copied").wait_for(state="attached")

        copied = panel.page.evaluate(
            COPIED.replace("navigator.clipboard", "window.kept")
        )
        assert copied["text/plain"] == ANSWER
        assert "<table" in copied["text/html"]

    def test_copy_that_is_not_allowed_selects_what_to_copy(
        self, copying: Callable[..., Panel]
    ) -> None:
        panel = copying(f"{WITHOUT_CLIPBOARD} document.execCommand = () => false;")
        button(panel, "Copy").click()
        panel.page.get_by_text("The text is selected: press Ctrl+C.").wait_for()

        selected = panel.page.evaluate("getSelection().toString()")
        assert "Knee" in selected
        assert "print(one)" in selected

    def test_copy_is_saved_as_a_file(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:answer]]")
        button(panel, "More").click()
        with panel.page.expect_download() as download:
            panel.log.get_by_role("link", name="Save as Markdown").click()

        saved = download.value.path().read_text()
        assert saved == f"{ANSWER}\n"
        assert download.value.suggested_filename.endswith(".md")


class TestContinue:
    def test_continue_writes_on_in_the_same_message(self, panel: Panel) -> None:
        panel.ask("[[script:story]]")
        panel.wait_words(20)
        panel.stop()
        panel.wait_state("stopped")
        half = panel.answer()
        button(panel, "Continue").click()
        panel.log.get_by_text("Continued").wait_for()
        panel.wait(lambda: len(panel.answer().parts) == 2, "the second part")

        panel.wait_state("idle")
        for _ in range(2):  # as it was written, and as it is stored
            assert panel.asked() == ["[[script:story]]"]
            (answer,) = panel.answers()
            assert answer.parts[0].text == half.text
            assert answer.parts[1].text.strip()
            assert panel.log.get_by_text("Stopped").count() == 0
            assert panel.log.get_by_role("toolbar", name="Answer").count() == 1
            assert panel.repeated_ids() == []
            panel.reload()
            panel.log.get_by_text("Continued").wait_for()


class TestFeedback:
    def test_feedback_is_kept_and_taken_back(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:hello]]")
        good = button(panel, "Good answer")
        good.click()
        panel.wait(lambda: good.get_attribute("aria-pressed") == "true", "pressed")
        assert good.evaluate("node => node === document.activeElement")

        panel.reload()
        assert good.get_attribute("aria-pressed") == "true"
        good.click()
        panel.wait(lambda: good.get_attribute("aria-pressed") == "false", "taken back")
        panel.reload()
        assert good.get_attribute("aria-pressed") == "false"

    def test_feedback_says_why(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:hello]]")
        button(panel, "Bad answer").click()
        panel.log.get_by_label("Not what I asked").check()
        panel.log.get_by_label("What would have been right?").fill("A number.")
        button(panel, "Send").click()

        panel.log.get_by_text("Your reasons are noted").wait_for()
        assert not panel.log.get_by_label("Not what I asked").is_visible()
        panel.reload()
        panel.log.get_by_text("Your reasons are noted").click()
        assert panel.log.get_by_label("Not what I asked").is_checked()
        assert panel.log.locator("textarea").input_value() == "A number."

    def test_feedback_works_by_keyboard(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:hello]]")
        bad = button(panel, "Bad answer")
        bad.focus()
        bad.press("Enter")
        panel.log.get_by_label("Too slow").wait_for()

        assert bad.evaluate("node => node === document.activeElement")


class TestToolbar:
    def test_toolbar_of_older_answers_shows_on_hover_and_focus(
        self, panel: Panel
    ) -> None:
        panel.ask_and_wait("[[script:hello]]")
        panel.ask_and_wait("[[script:hello]]")
        panel.page.mouse.move(0, 0)
        older, newest = panel.log.get_by_role("toolbar", name="Answer").all()
        opacity = "node => getComputedStyle(node).opacity"

        assert newest.evaluate(opacity) == "1"
        assert older.evaluate(opacity) == "0"
        older.get_by_role("button", name="Good answer").focus()
        assert older.evaluate(opacity) == "1"
        panel.input.focus()
        panel.log.locator(".aia-msg[data-role=assistant]").first.hover()
        assert older.evaluate(opacity) == "1"

    def test_toolbar_is_always_seen_by_touch(
        self, visit: Visit, server: DemoServer
    ) -> None:
        panel = visit(server, **PHONE, is_mobile=True).panel()
        panel.ask_and_wait("[[script:hello]]")
        panel.ask_and_wait("[[script:hello]]")

        older = panel.log.get_by_role("toolbar", name="Answer").first
        assert older.evaluate("node => getComputedStyle(node).opacity") == "1"

    def test_toolbar_shows_a_superuser_what_the_answer_was_made_of(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server)
        panel = visitor.panel()
        panel.ask_and_wait("[[script:looks]]")
        button(panel, "More").click()
        with visitor.context.expect_page() as opened:
            panel.log.get_by_role("link", name="Show raw").click()

        page = opened.value
        page.get_by_role("heading", name="Tool calls").wait_for()
        assert page.get_by_role("heading", name="get_object").count() == 2
        editor = visit(server, "editor").panel()
        editor.ask_and_wait("[[script:hello]]")
        assert editor.log.get_by_role("link", name="Show raw").count() == 0

    def test_toolbar_tells_time_and_duration(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:hello]]")

        time = panel.log.get_by_role("toolbar", name="Answer").locator("time")
        assert time.get_attribute("title")
        assert " s" in time.locator("..").inner_text()


class TestParts:
    def test_wide_table_stays_in_its_box(
        self, visit: Visit, server: DemoServer
    ) -> None:
        panel = visit(server, **PHONE).panel()
        panel.ask_and_wait("[[script:wide]]")

        table = panel.log.get_by_role("region")
        assert table.get_attribute("tabindex") == "0"
        assert "a rather long column 0" in (table.get_attribute("aria-label") or "")
        assert table.evaluate("node => node.scrollWidth > node.clientWidth")
        wider = "node => node.scrollWidth - node.clientWidth"
        assert panel.page.locator("#aia-scroll").evaluate(wider) == 0
        assert panel.page.locator("html").evaluate(wider) == 0

    def test_parts_looks_are_one_line_and_failures_stay_in_sight(
        self, panel: Panel
    ) -> None:
        panel.ask_and_wait("[[script:looks]]")

        panel.log.get_by_text("Looked at 2 things").wait_for()
        cards = panel.card("get_object")
        assert cards.count() == 2
        assert [one.is_visible() for one in cards.all()] == [False, True]
        assert cards.last.get_attribute("data-status") == "failed"
        panel.log.get_by_text("Looked at 2 things").click()
        assert panel.card("list_questionnaires").is_visible()
        panel.reload()
        panel.log.get_by_text("Looked at 2 things").wait_for()
        assert cards.count() == 2

    def test_sources_are_what_was_read(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:looks]]")

        sources = panel.log.get_by_role("list", name="Sources:")
        assert sources.get_by_role("link").count() == 1
        assert "questionnaire · Questionnaires" in sources.inner_text()
        panel.ask_and_wait("[[script:answer]]")
        assert sources.count() == 1  # this one has read nothing

    @pytest.mark.scenario(14)
    def test_what_was_opened_stays_open_while_it_goes_on(self, panel: Panel) -> None:
        panel.ask("[[script:folds]]")
        panel.wait_words(20)
        panel.card("echo").locator("summary").click()
        thought = panel.log.locator(".aia-reasoning")
        assert thought.get_attribute("open") is None  # closed as the answer began
        thought.locator("summary").click()
        panel.wait_done()

        assert panel.card("echo").locator("details").get_attribute("open") is not None
        assert panel.card("echo").get_by_text("Asked for").is_visible()
        assert thought.get_attribute("open") is not None


class TestScrolling:
    @pytest.mark.scenario(11)
    def test_reader_who_scrolled_up_does_not_move(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:report]]")
        panel.ask(ENDLESS)
        panel.wait_words(150)
        panel.page.locator("#aia-scroll").hover()
        panel.page.mouse.wheel(0, -300)
        latest = panel.page.get_by_role("button", name="New text")
        latest.wait_for()
        panel.page.wait_for_function(  # the wheel has come to rest
            """() => {
              const { scrollTop } = document.querySelector("#aia-scroll");
              const rests = window.restedAt === scrollTop;
              window.restedAt = scrollTop;
              return rests;
            }""",
            polling=200,
        )
        before = top_of(panel, ".aia-msg[data-role=user]")
        words = len(panel.answer().text.split())
        panel.wait_words(words + 60)

        assert top_of(panel, ".aia-msg[data-role=user]") == before
        latest.click()
        latest.wait_for(state="hidden")
        panel.stop()
        panel.wait_done(2)
        gap = "n => n.scrollHeight - n.scrollTop - n.clientHeight"
        assert panel.page.locator("#aia-scroll").evaluate(gap) <= 2

    def test_new_text_in_the_room_is_told_of(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        panel.ask_and_wait("[[script:report]]")
        panel.ask("[[script:held-room]]")
        panel.wait_text("The tail grows")
        panel.page.locator("#aia-scroll").evaluate("node => node.scrollTo(0, 0)")
        latest = panel.page.get_by_role("button", name="New text")
        panel.page.wait_for_timeout(300)  # the scrolling has been seen
        assert not latest.is_visible()
        model.release("room")

        latest.wait_for()
        panel.wait_done(2)

    @pytest.mark.scenario(12)
    def test_question_stands_on_top_and_the_end_makes_no_jump(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        panel.ask_and_wait("[[script:report]]")
        panel.ask("[[script:short]]")
        panel.wait_words(8)
        panel.wait(lambda: 0 <= top_of(panel, ".aia-msg[data-role=user]") <= 20, "top")
        panel.page.evaluate(
            """() => {
              window.tops = [];
              const question = [...document.querySelectorAll(".aia-msg[data-role=user]")].at(-1);
              const look = () => {
                window.tops.push(question.getBoundingClientRect().top);
                requestAnimationFrame(look);
              };
              look();
            }"""
        )
        model.release("short")
        panel.wait_done(2)
        panel.page.evaluate("new Promise((done) => setTimeout(done, 100))")

        panel.wait(lambda: panel.page.evaluate("tops.length") > 10, "enough frames")
        tops = panel.page.evaluate("tops")
        assert max(tops) - min(tops) <= 1

    def test_long_answer_is_followed_beyond_the_room(self, panel: Panel) -> None:
        panel.ask(ENDLESS)
        panel.wait_words(300)
        gap = "n => n.scrollHeight - n.scrollTop - n.clientHeight"

        assert top_of(panel, ".aia-msg[data-role=user]") < -100
        assert panel.page.locator("#aia-scroll").evaluate(gap) <= 2
        panel.stop()
        panel.wait_state("stopped")


class TestSelection:
    SELECT = """(place) => {
      const blocks = [...document.querySelectorAll(".aia-body > .aia-b")];
      getSelection().selectAllChildren(blocks.at(place));
      return getSelection().toString();
    }"""

    @pytest.mark.scenario(13)
    def test_selection_in_a_closed_block_survives_the_stream(
        self, panel: Panel
    ) -> None:
        panel.ask(ENDLESS)
        panel.wait(lambda: panel.log.locator(".aia-b").count() > 2, "blocks")
        selected = panel.page.evaluate(self.SELECT, 0)
        words = len(panel.answer().text.split())
        panel.wait_words(words + 50)

        assert panel.page.evaluate("getSelection().toString()") == selected != ""
        panel.stop()
        panel.wait_state("stopped")

    @pytest.mark.scenario(13)
    def test_selection_in_the_tail_holds_it_back_for_a_while(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        panel.ask("[[script:held-tail]]")
        panel.wait_text("The tail grows")
        selected = panel.page.evaluate(self.SELECT, -1)
        model.release("tail")
        panel.page.get_by_text("Paused while you select").or_(
            panel.page.locator("#aia[data-held]")
        ).first.wait_for()

        assert panel.page.evaluate("getSelection().toString()") == selected != ""
        panel.page.evaluate("getSelection().removeAllRanges()")
        assert "and has an end." in panel.wait_done().text


@pytest.mark.scenario(15)
class TestLength:
    def test_length_of_eight_thousand_tokens_is_drawn_whole(
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
