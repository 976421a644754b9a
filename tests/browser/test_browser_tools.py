"""What the page carries out for the assistant."""

import json

import pytest

from tests.browser.flashes import keep_shown
from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text

GO = {"view_name": "admin:questionnaires_questionnaire_changelist"}
ADD = {"view_name": "admin:questionnaires_questionnaire_add"}
SCRIPTS = {
    "go": [
        [text("Off we go."), call("navigate_to", GO)],
        [text("Here is the list of questionnaires, as you wished.", rate=20)],
    ],
    "go-and-point": [
        [call("navigate_to", ADD)],
        [call("highlight", {"selector": "#id_title", "text": "The title goes here"})],
        [text("That is the field.")],
    ],
    "point": [
        [call("highlight", {"selector": "#content h1", "text": "Look here"})],
        [text("That is it.")],
    ],
    "point-nowhere": [
        [call("highlight", {"selector": "#nowhere"})],
        [text("It is not there.")],
    ],
    "pick": [[call("pick", {"row": 3})], [text("Picked.")]],
}
HOLD = {"op": "hold", "name": "pick"}
PICK = """() => {
  window.picked = [];
  window.unregister = AIAssistant.registerTool("pick", {
    description: "Pick a row of the table.",
    parameters: { type: "object", properties: { row: { type: "integer" } } },
    handler: async ({ row }) => {
      window.picked.push(row);
      if (row > 5) throw new Error("there is no such row");
      return { picked: row };
    },
  });
}"""

# The page notes what it says while it counts, and presses the button after a second.
STAY_AT_THE_LAST_SECOND = """() => {
  const seen = (window.seen = new Set());
  const card = document.querySelector("#aia-log").getElementsByClassName("aia-tool");
  new MutationObserver(() => {
    const going = document.querySelector("#aia-notice .aia-going");
    const button = going?.querySelector("button");
    if (!going || !card.length || window.stayed) return;
    window.note = going.innerText;
    window.line = card[0].innerText;
    seen.add(going.querySelector("[role=timer]").textContent);
    if (seen.size < 2 || !button.checkVisibility()) return;
    window.stayed = true;
    button.click();
  }).observe(document.body, { childList: true, subtree: true });
}"""


@pytest.fixture(scope="module", autouse=True)
def scripts(model: ModelServerProcess) -> None:
    for name, steps in SCRIPTS.items():
        model.script(name, steps)


def results(model: ModelServerProcess, script: str) -> list[str]:
    """Return what the model was told last of its calls, for a message in `script`."""
    asked = [
        messages
        for request in model.requests()
        if f"[[script:{script}]]" in json.dumps(messages := request["messages"])
    ]
    return [one["content"] for one in asked[-1] if one["role"] == "tool"]


def press_once_announced(panel: Panel, button: str) -> None:
    """Press `button` as soon as the panel says that it opens another page.

    The page presses it: on a busy machine two seconds are too few for the driver's.
    """
    panel.page.evaluate(
        """button => new MutationObserver((_, observer) => {
            if (!document.querySelector("#aia-notice .aia-note")) return;
            observer.disconnect();
            document.querySelector(button).click();
        }).observe(document.body, { childList: true, subtree: true })""",
        button,
    )


def note_what_is_said(panel: Panel) -> None:
    """Keep where the page goes to, which is shown for two seconds, for the next page."""
    panel.page.evaluate(
        """() => new MutationObserver((_, observer) => {
            const name = document.querySelector("#aia-notice .aia-note b");
            if (!name?.textContent || !name.checkVisibility()) return;
            observer.disconnect();
            sessionStorage.testSaid = name.textContent;
        }).observe(document.body, { childList: true, subtree: true })"""
    )


class TestNavigate:
    @pytest.mark.row("T18", "ui 67", "ui 68")
    @pytest.mark.scenario(30)
    def test_says_where_goes_there_and_goes_on_unless_work_is_unsaved(
        self, tab: Panel, model: ModelServerProcess, subtests: pytest.Subtests
    ) -> None:
        """From a form as it was loaded, in which nothing would be lost."""
        tab.goto("/admin/questionnaires/questionnaire/1/change/")
        assert tab.page.locator("#content :checked").count()  # boxes and choices
        with subtests.test("it says where, goes there and goes on"):
            self.goes_there(tab, model)
        tab.new_conversation()
        with subtests.test("further tools work there"):
            tab.ask("Show me where [[script:go-and-point]]")
            tab.wait(lambda: tab.page.url.endswith("/add/"), "the form")
            tab.page.locator("#id_title.aia-highlight").wait_for()
            tab.wait_done()
            assert json.loads(results(model, "go-and-point")[1])["found"] is True

        tab.new_conversation()
        with subtests.test("unsaved work stays"):
            tab.page.fill("#id_title", "Not saved yet")
            tab.ask_and_wait("Take me there, please [[script:go]]")
            assert tab.page.url.endswith("/add/")
            assert tab.page.input_value("#id_title") == "Not saved yet"
            assert tab.card("navigate_to").get_attribute("data-status") == "failed"
            assert "unsaved changes" in results(model, "go")[0]
            way = tab.page.get_by_role("link", name="Open in a new tab")
            there = "/admin/questionnaires/questionnaire/"
            assert way.get_attribute("href") == f"{tab.url}{there}"

    def goes_there(self, tab: Panel, model: ModelServerProcess) -> None:
        note_what_is_said(tab)
        tab.ask("Take me there [[script:go]]")
        tab.wait(lambda: tab.page.url.endswith("/questionnaires/questionnaire/"), "it")
        answer = tab.wait_done()
        assert tab.page.evaluate("sessionStorage.testSaid") == "Questionnaires"
        assert "as you wished" in answer.text
        assert answer.text.startswith("Off we go.")
        (told,) = results(model, "go")
        found = json.loads(told)
        assert found["path"] == "/admin/questionnaires/questionnaire/"
        assert found["page"][0]["value"]["model"] == "questionnaire"

    @pytest.mark.row("ui 67")
    @pytest.mark.scenario(30)
    def test_counts_down_and_is_cancelled_or_stopped(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        before = panel.page.url
        press_once_announced(panel, "#aia-notice .aia-note button")
        panel.ask("Take me there [[script:go]]")
        panel.wait_done()

        assert panel.page.url == before
        assert panel.card("navigate_to").get_attribute("data-status") == "failed"
        assert "wanted to stay" in results(model, "go")[0]
        assert panel.page.locator("#aia-notice .aia-note").count() == 0

        panel.new_conversation()
        press_once_announced(panel, "#aia-stop")
        panel.ask("Take me there [[script:go]]")
        panel.wait_state("stopped")

        panel.page.wait_for_timeout(2500)  # longer than one may cancel
        assert panel.page.url == before

        panel.new_conversation()
        panel.page.evaluate(STAY_AT_THE_LAST_SECOND)
        panel.ask("Take me there [[script:go]]")
        panel.wait_done()

        assert panel.page.url == before
        seen, note, line = panel.page.evaluate("[[...seen], note, line]")
        assert seen == ["2 s", "1 s"]
        assert "Opening Questionnaires" in " ".join(note.split())
        assert "Waiting for you" not in line
        assert "Waiting for the page" in line


class TestOnThePage:
    @pytest.mark.row("H19", "K02", "T06")
    def test_places_are_outlined_and_tools_of_the_page_called_in_one_tab_of_two(
        self,
        regular: Visitor,
        panel: Panel,
        model: ModelServerProcess,
        subtests: pytest.Subtests,
    ) -> None:
        keep_shown(panel.page, "highlight.js")
        with subtests.test("what there is is outlined"):
            self.outlines_what_there_is(panel, model)
        panel.new_conversation()
        panel.page.evaluate(PICK)
        with subtests.test("a tool of the page is called, and fails"):
            self.own_tool_is_called_and_fails(panel, model)
        panel.new_conversation()
        with subtests.test("in two tabs there is one call"):
            self.one_call_in_two_tabs(regular, panel)
        panel.new_conversation()
        with subtests.test("the tool goes with its page"):
            self.own_tool_goes(panel, model)
        with subtests.test("by polling too"):
            panel.page.route_web_socket("**/ws/", lambda socket: socket.close())
            panel.goto()
            panel.new_conversation()
            panel.ask_and_wait("Where? [[script:point]]")
            assert panel.card("highlight").get_attribute("data-status") == "complete"

    def outlines_what_there_is(self, panel: Panel, model: ModelServerProcess) -> None:
        panel.ask("Where? [[script:point]]")
        panel.page.locator("#content h1.aia-highlight").wait_for()
        assert panel.page.get_by_text("Look here").last.is_visible()
        width = "node => getComputedStyle(node).outlineWidth"
        assert panel.page.locator("#content h1").evaluate(width) == "3px"
        panel.wait_done()
        panel.new_conversation()
        panel.ask_and_wait("Where? [[script:point-nowhere]]")
        assert json.loads(results(model, "point-nowhere")[0]) == {"found": False}

    def own_tool_is_called_and_fails(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        panel.ask_and_wait("Pick [[script:pick]]")
        assert panel.page.evaluate("window.picked") == [3]
        assert json.loads(results(model, "pick")[0]) == {"picked": 3}
        assert panel.card("pick").get_attribute("data-status") == "complete"
        panel.new_conversation()
        model.script("pick-9", [[call("pick", {"row": 9})], [text("No such row.")]])
        panel.ask_and_wait("Pick [[script:pick-9]]")
        assert "there is no such row" in results(model, "pick-9")[0]

    def one_call_in_two_tabs(self, regular: Visitor, panel: Panel) -> None:
        panel.ask_and_wait("Hello")
        second = regular.tab()
        second.goto()
        assert second.conversation == panel.conversation
        second.page.evaluate(PICK)
        panel.page.evaluate("window.picked.length = 0")
        panel.ask_and_wait("Pick [[script:pick]]")
        second.wait_done(2)
        picked = [tab.page.evaluate("window.picked") for tab in (panel, second)]
        assert sorted(picked) == [[], [3]]
        second.page.close()

    def own_tool_goes(self, panel: Panel, model: ModelServerProcess) -> None:
        late = [text("One moment."), HOLD, call("pick", {"row": 3})]
        model.script("pick-late", [late, [text("It is gone.")]])
        panel.page.evaluate("window.picked.length = 0")
        panel.ask("Pick [[script:pick-late]]")
        panel.wait_words(1)
        panel.page.evaluate("window.unregister()")
        model.release("pick")
        assert "It is gone." in panel.wait_done().text
        assert "not available on this page" in results(model, "pick-late")[0]
        assert panel.page.evaluate("window.picked") == []
