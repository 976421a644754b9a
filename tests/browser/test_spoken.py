"""What a screen reader is told, and that no frame moves the focus."""

from itertools import pairwise
from typing import Any

import pytest

from tests.browser.panel import Panel
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, sentence, text

LIST = "/admin/questionnaires/questionnaire/"
MOST_UTTERANCES = 4
SHORT_CHARS = 400
PAUSE_MS = 3000
LISTEN = """() => {
  const said = (window.testSaid = []);
  const hear = (id) => {
    const line = document.getElementById(id);
    const watcher = new MutationObserver(() => {
      const words = line.textContent.trim();
      if (words) said.push({ id, words, at: Date.now() });
    });
    watcher.observe(line, { childList: true, characterData: true, subtree: true });
  };
  hear("aia-say");
  hear("aia-alert");
}"""
# Where the focus is after each frame, in words that outlive a replaced element.
WATCH_FOCUS = """() => {
  const places = (window.testPlaces = []);
  const place = ({ id, tagName, parentElement }) =>
    `${tagName}#${id || parentElement?.id}`;
  document.getElementById("aia").addEventListener("aia:frame", () =>
    queueMicrotask(() => places.push(place(document.activeElement))));
  return place(document.activeElement);
}"""
# What says that the connection is lost: without one nothing can be fetched.
OFFLINE = """async () => {
  const panel = new URL(document.getElementById("aia").dataset.src, location.href);
  await import(new URL("offline.js", panel));
}"""
PARTS = ("First one thing.", "Then another.")  # of an answer: a frame each
LIVE = (
    "[aria-live=polite], [aria-live=assertive], [role=status], [role=alert],"
    " [role=log]:not([aria-live=off])"
)


@pytest.fixture
def heard(panel: Panel) -> Panel:
    """A panel whose spoken lines are written down."""
    panel.page.evaluate(LISTEN)
    return panel


def said(panel: Panel, line: str = "") -> list[str]:
    """Return what was said, of both lines or of one."""
    told: list[dict[str, Any]] = panel.page.evaluate("window.testSaid")
    return [one["words"] for one in told if line in ("", one["id"])]


def wait_said(panel: Panel, words: str, line: str = "aia-say") -> None:
    """Wait until a sentence with `words` was said; the last ones come late."""
    panel.wait(lambda: any(words in one for one in said(panel, line)), words)


@pytest.fixture
def long_run(model: ModelServerProcess) -> str:
    """A run of 2,000 tokens with three tools; returns how to ask for it."""
    steps = [
        [text(sentence("a", 40), rate=200), call("list_questionnaires")],
        [text(sentence("b", 40), rate=200), call("count_questions")],
        [call("echo", {"text": "a look"})],
        [text(sentence("c", 1920), rate=400)],
    ]
    model.script("spoken", steps)
    return "[[script:spoken]]"


class TestPolite:
    @pytest.mark.scenario(38)
    def test_long_run_says_little_short_answers_are_said_whole_and_no_stream(
        self,
        heard: Panel,
        long_run: str,
        model: ModelServerProcess,
        subtests: pytest.Subtests,
    ) -> None:
        with subtests.test("a long run says little, and counts its tools"):
            self.long_run_says_little(heard, long_run)
        with subtests.test("a short answer is said whole"):
            words = "There are **14** questions in it. That is `few`."
            model.script("spoken-short", [text(words)])
            heard.ask_and_wait("[[script:spoken-short]]")
            wait_said(heard, "There are 14 questions in it. That is few.")

        with subtests.test("a longer one is announced only"):
            words = "word " * (SHORT_CHARS // 5 + 1)
            model.script("spoken-longer", [text(words)])
            before = len(said(heard))
            heard.ask_and_wait("[[script:spoken-longer]]")
            heard.wait(
                lambda: "Answer ready" in " ".join(said(heard)[before:]), "Answer ready"
            )
            assert "word word" not in " ".join(said(heard))

        with subtests.test("messages keep apart"):
            told = heard.page.evaluate("window.testSaid")
            times = [one["at"] for one in told if one["id"] == "aia-say"]
            gaps = [after - before for before, after in pairwise(times)]
            assert min(gaps) >= PAUSE_MS - 50  # a clock of whole milliseconds

        with subtests.test("text that streams is in no live region, and alone busy"):
            self.stream_is_in_no_live_region(heard)

    def long_run_says_little(self, heard: Panel, long_run: str) -> None:
        heard.ask_and_wait(long_run)
        wait_said(heard, "Answer ready")
        log = said(heard)
        assert len(log) <= MOST_UTTERANCES
        assert log[0] == "The assistant is answering."
        assert log[-1].startswith("Answer ready")
        assert said(heard, "aia-alert") == []
        names = ("list_questionnaires", "Counted", "echo", "questionnaire")
        assert not any(name in " ".join(log) for name in names)
        assert "3" in log[-1].partition("Tools")[2]

    def stream_is_in_no_live_region(self, heard: Panel) -> None:
        heard.ask("[[script:endless]]")
        heard.wait(lambda: len(heard.answers()) == 4, "the answer")
        heard.wait_words(5)
        assert heard.log.get_attribute("aria-live") == "off"
        assert heard.page.locator(LIVE).locator(".aia-body").count() == 0
        assert heard.page.locator("[aria-hidden=true] .aia-body").count() == 0
        busy = heard.page.locator("#aia [aria-busy=true]")
        assert busy.count() == 1
        assert busy.get_attribute("data-run-id") == heard.answer().run
        heard.stop()
        heard.wait_state("stopped")


class TestAlert:
    def test_approval_failure_limit_and_lost_connection_are_told_at_once(
        self, heard: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("an approval"):
            heard.ask("[[script:approval]]")
            heard.wait_state("waiting-approval")
            wait_said(heard, "asks for your approval", "aia-alert")
            heard.stop()
            heard.wait_state("stopped")

        steps = [[call("echo", {"text": str(n)})] for n in range(13)]
        model.script("spoken-limit", steps)
        for script, state in (("slow-failure", "error"), ("spoken-limit", "limited")):
            with subtests.test(script=script):
                heard.ask(f"[[script:{script}]]")
                heard.wait_state(state)
                heard.wait_done()
                shown = heard.log.locator(".aia-error").last.inner_text().strip()
                wait_said(heard, shown[:30], "aia-alert")

        with subtests.test("a lost connection"):
            heard.page.evaluate(OFFLINE)
            heard.page.context.set_offline(True)
            try:
                heard.wait_state("offline")
                wait_said(heard, "The connection is lost", "aia-alert")
            finally:
                heard.page.context.set_offline(False)


class TestFocus:
    """No frame of a run with text, reasoning, cards and an end moves the focus."""

    @pytest.fixture(autouse=True)
    def story(self, model: ModelServerProcess) -> None:
        look = {"op": "reasoning", "text": "The person wants a report."}
        hold = {"op": "hold", "name": "found"}
        more = [one for part in PARTS for one in (hold, text(f"{part} "))]
        first = [look, text("One look first."), call("echo", {"text": "a look"})]
        rest = {"op": "story", "tokens": 40, "rate": 40}
        model.script("found", [first, [text("This was found.\n\n"), *more, hold, rest]])

    def test_focus_stays_where_it_is_while_an_answer_grows(
        self, panel: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        with subtests.test("in the composer"):
            panel.input.focus()
            before = panel.page.evaluate(WATCH_FOCUS)
            panel.page.evaluate("AIAssistant.send('[[script:found]]')")
            for part in ("found", *PARTS):
                panel.wait_text(part)
                model.release("found")
            panel.wait_done()
            places = panel.page.evaluate("window.testPlaces")
            assert len(places) > 3
            assert set(places) == {before}

        # Of a call that is not only a draft, which its card replaces.
        for what in (".aia-reasoning", ".aia-tool[data-status=complete]"):
            panel.new_conversation()
            with subtests.test(what=what):
                self.begin(panel)
                part = panel.log.locator(f"{what} summary, {what} > summary").first
                part.focus()
                assert panel.page.evaluate(WATCH_FOCUS).startswith("SUMMARY#")
                self.assert_stays(panel, model)

        panel.new_conversation()
        with subtests.test("on a page that arrives"):
            self.begin(panel)
            panel.goto(LIST)
            assert panel.page.evaluate(WATCH_FOCUS) == "BODY#"
            self.assert_stays(panel, model)

        with subtests.test("in a field of the page"):
            panel.new_conversation()
            self.begin(panel)
            panel.page.locator("#searchbar").focus()
            panel.page.evaluate(WATCH_FOCUS)
            self.assert_stays(panel, model, typed="knee")
            assert panel.page.locator("#searchbar").input_value() == "knee"

    def begin(self, panel: Panel) -> None:
        panel.ask("[[script:found]]")
        panel.wait_text("found")

    def assert_stays(
        self, panel: Panel, model: ModelServerProcess, typed: str = ""
    ) -> None:
        place = panel.page.evaluate(WATCH_FOCUS)
        for _ in ("found", *PARTS):
            model.release("found")
        panel.page.keyboard.type(typed, delay=100)
        panel.wait_done()
        assert set(panel.page.evaluate("window.testPlaces")) == {place}
