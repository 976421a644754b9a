"""What a screen reader is told, and that no frame moves the focus."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, sentence, text
from tests.servers.app import DemoServer

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
LIVE = (
    "[aria-live=polite], [aria-live=assertive], [role=status], [role=alert],"
    " [role=log]:not([aria-live=off])"
)


@pytest.fixture
def heard(panel: Panel) -> Panel:
    """A panel whose spoken lines are written down."""
    panel.goto(LIST)
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
    def test_long_run_says_little(self, heard: Panel, long_run: str) -> None:
        heard.ask_and_wait(long_run)
        wait_said(heard, "Answer ready")

        log = said(heard)
        assert len(log) <= MOST_UTTERANCES
        assert log[0] == "The assistant is answering."
        assert log[-1].startswith("Answer ready")
        assert said(heard, "aia-alert") == []

    def test_tools_are_counted_not_named(self, heard: Panel, long_run: str) -> None:
        heard.ask_and_wait(long_run)
        wait_said(heard, "Answer ready")

        names = ("list_questionnaires", "Counted", "echo", "questionnaire")
        assert not any(name in " ".join(said(heard)) for name in names)
        assert "3" in said(heard)[-1].partition("Tools")[2]

    def test_short_answer_is_said_whole(
        self, heard: Panel, model: ModelServerProcess
    ) -> None:
        words = "There are **14** questions in it. That is `few`."
        model.script("spoken-short", [text(words)])
        heard.ask_and_wait("[[script:spoken-short]]")

        wait_said(heard, "There are 14 questions in it. That is few.")

    def test_longer_answer_is_announced_only(
        self, heard: Panel, model: ModelServerProcess
    ) -> None:
        model.script("spoken-longer", [text("word " * (SHORT_CHARS // 5 + 1))])
        heard.ask_and_wait("[[script:spoken-longer]]")
        wait_said(heard, "Answer ready")

        assert "word word" not in " ".join(said(heard))

    def test_messages_keep_apart(self, heard: Panel, long_run: str) -> None:
        heard.ask_and_wait(long_run)
        heard.ask_and_wait("[[script:hello]]")
        wait_said(heard, "Hello there")

        told = heard.page.evaluate("window.testSaid")
        times = [one["at"] for one in told if one["id"] == "aia-say"]
        gaps = [after - before for before, after in pairwise(times)]
        assert min(gaps) >= PAUSE_MS - 50  # a clock of whole milliseconds

    def test_streaming_text_is_in_no_live_region(self, heard: Panel) -> None:
        heard.ask("[[script:stream tokens=200 rate=40]]")
        heard.wait_words(10)

        assert heard.log.get_attribute("aria-live") == "off"
        assert heard.page.locator(LIVE).locator(".aia-body").count() == 0
        assert heard.page.locator("[aria-hidden=true] .aia-body").count() == 0
        heard.stop()
        heard.wait_state("stopped")

    def test_only_the_running_message_is_busy(self, heard: Panel) -> None:
        heard.ask_and_wait("[[script:hello]]")
        heard.ask("[[script:stream tokens=200 rate=40]]")
        heard.wait_words(10)

        busy = heard.page.locator("#aia [aria-busy=true]")
        assert busy.count() == 1
        assert busy.get_attribute("data-run-id") == heard.answer().run
        heard.stop()
        heard.wait_state("stopped")


class TestAlert:
    def test_approval(self, heard: Panel) -> None:
        heard.ask("[[script:approval]]")
        heard.wait_state("waiting-approval")

        wait_said(heard, "asks for your approval", "aia-alert")
        heard.stop()
        heard.wait_state("stopped")

    def test_failure(self, heard: Panel) -> None:
        heard.ask_and_wait("[[script:slow-failure]]")

        shown = heard.log.locator(".aia-error").last.inner_text().strip()
        wait_said(heard, shown[:30], "aia-alert")

    def test_limit(self, heard: Panel, model: ModelServerProcess) -> None:
        steps = [[call("echo", {"text": str(n)})] for n in range(13)]
        model.script("spoken-limit", steps)
        heard.ask("[[script:spoken-limit]]")
        heard.wait_state("limited")

        shown = heard.log.locator(".aia-error").last.inner_text().strip()
        wait_said(heard, shown[:30], "aia-alert")

    def test_lost_connection(self, visit: Callable[..., Visitor], server: DemoServer):
        panel = visit(server).panel()
        panel.ask_and_wait("[[script:hello]]")  # there was a connection to lose
        panel.page.evaluate(LISTEN)
        panel.page.evaluate(OFFLINE)
        panel.page.context.set_offline(True)
        panel.wait_state("offline")

        wait_said(panel, "The connection is lost", "aia-alert")


class TestFocus:
    """No frame of a run with text, reasoning, cards and an end moves the focus."""

    def assert_stays(self, panel: Panel, script: str) -> None:
        before = panel.page.evaluate(WATCH_FOCUS)
        panel.page.evaluate("text => AIAssistant.send(text)", script)
        panel.wait(lambda: len(panel.answers()) and panel.state != "idle", "a run")
        panel.wait_done()

        places = panel.page.evaluate("window.testPlaces")
        assert len(places) > 3
        assert set(places) == {before}

    def test_focus_stays_in_the_composer(self, panel: Panel) -> None:
        panel.input.focus()

        self.assert_stays(panel, "[[script:report]]")

    def test_focus_stays_in_a_field_of_the_page(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        panel.goto(LIST)
        panel.ask("[[script:held-report]]")
        panel.wait_text("found")
        panel.page.locator("#searchbar").focus()
        before = panel.page.evaluate(WATCH_FOCUS)
        model.release("found")
        panel.page.keyboard.type("knee", delay=100)
        panel.wait_done()

        assert set(panel.page.evaluate("window.testPlaces")) == {before}
        assert panel.page.locator("#searchbar").input_value() == "knee"

    # Of a call that is not only a draft, which its card replaces.
    @pytest.mark.parametrize(
        "what", [".aia-reasoning", ".aia-tool[data-status=complete]"]
    )
    def test_focus_stays_on_a_summary_of_a_growing_answer(
        self, panel: Panel, what: str
    ) -> None:
        panel.ask("[[script:report]]")
        part = panel.log.locator(f"{what} summary, {what} > summary").first
        part.wait_for()
        part.focus()
        before = panel.page.evaluate(WATCH_FOCUS)
        assert before.startswith("SUMMARY#")
        panel.wait_done()

        assert set(panel.page.evaluate("window.testPlaces")) == {before}

    def test_arriving_page_takes_none(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        panel.ask("[[script:held-report]]")
        panel.wait_text("found")
        panel.goto("/admin/")
        before = panel.page.evaluate(WATCH_FOCUS)
        model.release("found")
        panel.wait_done()

        assert before == "BODY#"
        assert set(panel.page.evaluate("window.testPlaces")) == {before}
