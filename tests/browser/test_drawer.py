"""The list of conversations in a real browser: find, name, delete, and what is news."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from ai_assistant.render.html.transcript.thread import DRAWN_RUNS
from tests.browser.chromium import launch
from tests.browser.flashes import keep_shown
from tests.browser.panel import Panel
from tests.browser.rows import add_runs, read_all
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle

Visit = Callable[..., Visitor]
HELLO = "[[script:hello]]"
# A tab that nobody sees: a browser without a screen shows them all.
HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden});
  document.dispatchEvent(new Event("visibilitychange"));
}"""
RECORD = """() => {
  window.told = [];
  const Real = window.Notification;
  window.Notification = class extends Real {
    constructor(title, options) {
      super(title, options);
      window.told.push([title, options.body]);
    }
  };
}"""
TO_THE_END = """() => {
  const { scrollTop, clientHeight, scrollHeight } = document.getElementById("aia-scroll");
  return scrollHeight - clientHeight - scrollTop;
}"""
# The words of the found message once it has the focus.
FOUND = """() => {
  const { activeElement } = document;
  return activeElement.matches("#aia-log [data-found]") && activeElement.innerText;
}"""


def hide(page: Page, *, hidden: bool = True) -> None:
    page.evaluate(HIDE, hidden)


def compose(page: Page, written: str, chosen: str) -> None:
    """Write with an input method, and end the word with Enter, as people do."""
    tab = page.context.new_cdp_session(page)
    tab.send(
        "Input.imeSetComposition",
        {"text": written, "selectionStart": len(written), "selectionEnd": len(written)},
    )
    key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229}
    tab.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **key})
    tab.send("Input.insertText", {"text": chosen})
    tab.send("Input.dispatchKeyEvent", {"type": "keyUp", **key})


def entry(panel: Panel, conversation: str) -> Locator:
    return panel.page.locator(f"#h-{conversation}")


def menu(panel: Panel, conversation: str, action: str) -> None:
    """Do something with a conversation of the open list."""
    own = entry(panel, conversation)
    own.get_by_role("button", name="More for").click()
    own.get_by_role("button", name=action, exact=True).click()


def rename(panel: Panel, conversation: str, name: str) -> None:
    panel.list_conversations()
    entry(panel, conversation).get_by_role("link").focus()
    panel.page.keyboard.press("F2")
    field = panel.page.locator("#aia-name")
    expect(field).to_be_focused()
    field.fill(name)
    field.press("Enter")


def search(panel: Panel, said: str) -> None:
    panel.list_conversations()
    panel.page.locator("#aia-q").fill(said)


def focused_hit(panel: Panel) -> str:
    return str(panel.wait(lambda: panel.page.evaluate(FOUND), "the hit"))


TO_THE_TOP = "document.getElementById('aia-scroll').scrollTop = 0"


class TestSearch:
    def test_hit_is_marked_and_leads_to_a_message_that_is_not_drawn_yet(
        self, panel: Panel, oracle: Oracle, subtests: pytest.Subtests
    ) -> None:
        panel.ask_and_wait(f"The quokka orders of March {HELLO}")
        first = panel.conversation
        add_runs(oracle, first, 45)
        panel.new_conversation()
        panel.ask_and_wait(f"Something else {HELLO}")
        search(panel, "MARCH quokka")
        hits = panel.page.locator("#aia-found li[id]")
        expect(hits).to_have_count(1)
        assert hits.locator("q mark").all_inner_texts() == ["quokka", "March"]
        address = hits.get_by_role("link").get_attribute("href") or ""
        keep_shown(panel.page, "earlier.js")
        with subtests.test("pressed"):
            hits.get_by_role("link").click()
            panel.wait(lambda: panel.conversation == first, "the conversation")
            assert "quokka" in focused_hit(panel)
            assert panel.repeated_ids() == []

        with subtests.test("on its own page"):
            panel.goto(address)
            found = panel.page.locator("#aia-log [data-found]")
            expect(found).to_be_in_viewport()
            assert "quokka" in found.inner_text()


class TestEarlier:
    @pytest.mark.scenario(16)
    def test_earlier_of_five_hundred_messages_are_reached_and_move_no_reader(
        self, panel: Panel, oracle: Oracle, subtests: pytest.Subtests
    ) -> None:
        panel.ask_and_wait(f"The first of many {HELLO}")
        add_runs(oracle, panel.conversation, 249)
        panel.reload()
        panel.wait(lambda: len(panel.answers()) == DRAWN_RUNS, "the last ones")
        messages = panel.log.locator(".aia-msg")
        expect(messages.last).to_be_in_viewport()
        assert panel.answer().text.strip() == "copy 248"
        panel.wait(lambda: panel.page.evaluate(TO_THE_END) <= 2, "the end")
        with subtests.test("the reader does not move"):
            self.reader_does_not_move(panel)

        while panel.log.get_by_text("Show earlier").count():
            drawn = messages.count()
            panel.page.evaluate(TO_THE_TOP)
            panel.wait(lambda least=drawn: messages.count() > least, "earlier ones")

        copies = [f"copy {number}" for number in range(249)]
        assert panel.asked() == [f"The first of many {HELLO}", *copies]
        assert [one.text.strip() for one in panel.answers()[1:]] == copies
        assert panel.page.locator("[data-before]").count() == 0
        assert panel.repeated_ids() == []

    def reader_does_not_move(self, panel: Panel) -> None:
        mark_id = panel.page.locator("#aia-log .aia-msg").first.get_attribute("id")
        top = f"document.getElementById('{mark_id}').getBoundingClientRect().top"
        # To the very top at once: there a browser anchors nothing by itself.
        before = panel.page.evaluate(f"() => {{ {TO_THE_TOP}; return {top}; }}")
        panel.wait(lambda: len(panel.answers()) >= 2 * DRAWN_RUNS, "those before")
        assert abs(panel.page.evaluate(f"() => {top}") - before) < 0.5
        assert not panel.page.locator("#aia-latest").is_visible()


class TestTwoTabs:
    @pytest.mark.scenario(9)
    def test_name_draft_and_deletion_are_seen_in_the_other_tab(
        self, regular: Visitor, panel: Panel, subtests: pytest.Subtests
    ) -> None:
        here, there = panel, regular.tab()
        here.ask_and_wait(f"A matter of two tabs {HELLO}")
        there.goto()
        there.page.evaluate("() => document.activeElement.blur()")
        with subtests.test("the draft, and that there are two tabs"):
            here.input.press_sequentially("half a word")
            expect(there.input).to_have_value("half a word")
            for tab in (here, there):
                expect(tab.page.locator("#aia-tabs")).to_be_visible()
            here.type("")

        there.list_conversations()
        with subtests.test("the name"):
            self.name_is_in_both(here, there)
        with subtests.test("the deletion shuts the door"):
            menu(here, here.conversation, "Delete")
            notice = there.page.locator("#aia-notice")
            expect(notice).to_contain_text("no access to this")
        there.page.close()
        expect(here.page.locator("#aia-tabs")).to_be_hidden()

    def name_is_in_both(self, here: Panel, there: Panel) -> None:
        rename(here, here.conversation, "Named <b>anew</b>")
        own = entry(here, here.conversation)
        expect(own).to_contain_text("Named <b>anew</b>")
        for tab in (here, there):
            expect(tab.page.locator("#aia-title")).to_have_text("Named <b>anew</b>")
        expect(entry(there, here.conversation)).to_contain_text("Named <b>anew</b>")
        expect(own.locator("[data-aia-conversation]")).to_be_focused()


@pytest.fixture
def two(panel: Panel) -> tuple[Panel, str, str]:
    """The open list with two conversations, of which the second is open."""
    panel.ask_and_wait(f"The first matter {HELLO}")
    first = panel.conversation
    panel.new_conversation()
    panel.ask_and_wait(f"The second matter {HELLO}")
    panel.list_conversations()
    return panel, first, panel.conversation


class TestList:
    @pytest.mark.scenario(35)
    def test_entry_is_renamed_pinned_archived_and_saved(
        self, two: tuple[Panel, str, str], subtests: pytest.Subtests
    ) -> None:
        panel, first, second = two
        with subtests.test("Escape closes the menu alone"):
            self.escape_closes_the_menu(panel, second)
        with subtests.test("pinned it stands first and has the focus"):
            menu(panel, first, "Pin")
            items = panel.page.locator("#aia-found li[id]")
            expect(items.first).to_have_id(f"h-{first}")
            own = entry(panel, first).locator("[data-aia-conversation]")
            expect(own).to_be_focused()

        with subtests.test("archived it stands apart"):
            self.archived_stands_apart(panel, first)
        with subtests.test("it is saved as a file"):
            self.saved_as_a_file(panel, second)
        with subtests.test("no name is refused with a sentence"):
            rename(panel, second, "  ")
            form = entry(panel, second)
            expect(form).to_contain_text("Enter a name first.")
            panel.page.keyboard.press("Escape")
            expect(form.get_by_role("link")).to_contain_text("The second matter")

        with subtests.test("the Enter of an input method submits nothing"):
            self.input_method_submits_nothing(panel, second)

    def escape_closes_the_menu(self, panel: Panel, conversation: str) -> None:
        own = entry(panel, conversation)
        more = own.get_by_role("button", name="More for")
        more.focus()
        panel.page.keyboard.press("Enter")
        expect(own.get_by_role("button", name="Pin")).to_be_visible()
        panel.page.keyboard.press("Tab")
        expect(own.get_by_role("button", name="Rename")).to_be_focused()
        panel.page.keyboard.press("Escape")
        expect(own.get_by_role("button", name="Pin")).not_to_be_visible()
        expect(more).to_be_focused()
        panel.page.keyboard.press("Escape")
        expect(panel.page.locator("#aia-history")).not_to_be_visible()
        shown = panel.page.locator("#aia-found").element_handle()
        panel.list_conversations()
        # What was there is shown first. It is drawn anew then, and a menu would close.
        panel.wait(lambda: not shown.evaluate("one => one.isConnected"), "the list")

    def archived_stands_apart(self, panel: Panel, first: str) -> None:
        menu(panel, first, "Archive")
        expect(entry(panel, first)).to_have_count(0)
        panel.root.get_by_role("link", name="Archived").click()
        expect(entry(panel, first)).to_have_count(1)
        menu(panel, first, "Unarchive")
        expect(entry(panel, first)).to_have_count(0)
        panel.root.get_by_role("link", name="Archived").click()
        expect(entry(panel, first)).to_have_count(1)
        menu(panel, first, "Unpin")
        items = panel.page.locator("#aia-found li[id]")
        expect(items.first).not_to_have_id(f"h-{first}")

    def saved_as_a_file(self, panel: Panel, conversation: str) -> None:
        own = entry(panel, conversation)
        own.get_by_role("button", name="More for").click()
        with panel.page.expect_download() as saving:
            own.get_by_role("button", name="Save as Markdown").click()
        assert saving.value.suggested_filename.endswith(".md")
        assert "## Assistant" in saving.value.path().read_text()
        panel.page.keyboard.press("Escape")
        expect(own.get_by_role("button", name="Pin")).not_to_be_visible()

    def input_method_submits_nothing(self, panel: Panel, conversation: str) -> None:
        asked: list[str] = []
        panel.page.on("request", lambda request: asked.append(request.url))
        menu(panel, conversation, "Rename")
        for selector in ("#aia-name", "#aia-q"):
            field = panel.page.locator(selector)
            field.fill("")
            asked.clear()
            compose(panel.page, "にほん", "日本")
            panel.page.wait_for_timeout(200)
            # The search may look for what is written; nothing is submitted.
            assert [url for url in asked if "/rename/" in url] == []
            assert panel.page.url.endswith("/admin/")
            assert field.input_value() == "日本"

    def test_delete_is_undone_or_over_and_a_refusal_is_told(
        self, two: tuple[Panel, str, str], subtests: pytest.Subtests
    ) -> None:
        panel, first, second = two
        undo = panel.page.get_by_role("button", name="Undo", exact=True)
        with subtests.test("it can be undone"):
            menu(panel, first, "Delete")
            expect(entry(panel, first)).to_have_count(0)
            expect(undo).to_be_focused()
            undo.click()
            expect(entry(panel, first)).to_have_count(1)
            assert panel.asked() == [f"The second matter {HELLO}"]

        with subtests.test("the next one has the focus when the offer is over"):
            menu(panel, first, "Delete")
            expect(undo).to_be_focused()
            panel.page.evaluate(
                "() => { for (const one of document.getAnimations()) one.finish(); }"
            )
            expect(panel.page.locator(".aia-toast")).to_have_count(0)
            expect(panel.page.locator("#aia-history li > a:focus")).to_have_count(1)
            panel.page.keyboard.press("Escape")
            expect(panel.page.locator("#aia-history")).not_to_be_visible()
            expect(panel.page.locator("#aia-list")).to_be_focused()

        panel.reload()  # nothing is about to draw the list anew
        panel.list_conversations()
        with subtests.test("a refusal is told above the list"):
            self.refusal_is_told(panel, second)

        panel.reload()
        panel.list_conversations()
        with subtests.test("the open one gives way to a new one"):
            menu(panel, second, "Delete")
            panel.wait(lambda: panel.conversation != second, "another conversation")
            assert panel.asked() == []
            undo.click()
            expect(entry(panel, second)).to_have_count(1)

    def refusal_is_told(self, panel: Panel, conversation: str) -> None:
        own = entry(panel, conversation)
        own.locator("[name=conversation]").evaluate_all(
            "all => all.forEach((one) => { one.value = 'none'; })"
        )
        menu(panel, conversation, "Pin")
        told = panel.page.locator("#aia-notice .aia-note")
        expect(told).to_contain_text("This page is out of date.")
        told.click(trial=True)  # nothing lies over it
        expect(own).to_be_visible()


@pytest.fixture
def nothing_new(oracle: Oracle) -> None:
    """What other tests have left unread does not count."""
    read_all(oracle)


@pytest.mark.usefixtures("nothing_new")
class TestUnread:
    @pytest.mark.scenario(9)
    @pytest.mark.scenario(10)
    def test_unread_is_told_where_nobody_looks_and_read_where_somebody_does(
        self,
        visit: Visit,
        server: DemoServer,
        oracle: Oracle,
        model: ModelServerProcess,
        subtests: pytest.Subtests,
    ) -> None:
        visitor = visit(server)
        panel = visitor.panel()
        with subtests.test("who sees an answer has read it"):
            self.seen_is_read(panel, oracle)
        panel.new_conversation()
        with subtests.test("the hidden tab alone tells of it"):
            self.hidden_tab_tells_of_it(visitor, panel, model)
        panel.new_conversation()
        with subtests.test("a badge where the panel was closed"):
            self.badge_of_a_closed_panel(panel, model)

    def seen_is_read(self, panel: Panel, oracle: Oracle) -> None:
        panel.ask_and_wait(HELLO)
        panel.wait(
            lambda: oracle.rows(
                "SELECT c.read_at >= r.finished_at AS is_read FROM ai_assistant_conversation c "
                "JOIN ai_assistant_run r ON r.conversation_id = c.id "
                "ORDER BY r.created_at DESC LIMIT 1"
            )[0]["is_read"],
            "that it was read",
        )
        assert not panel.page.title().startswith("(")

    def hidden_tab_tells_of_it(
        self, visitor: Visitor, panel: Panel, model: ModelServerProcess
    ) -> None:
        self.think(panel)
        hide(panel.page)
        model.release("thought")
        panel.wait_done()
        panel.wait(lambda: panel.page.title().startswith("(1) "), "the title")
        elsewhere = visitor.tab()
        panel.page.evaluate("() => AIAssistant.close()")
        elsewhere.goto()
        badge = elsewhere.page.locator("#aia-unread")
        expect(badge).to_have_text("1")

        hide(panel.page, hidden=False)
        panel.open()
        panel.wait(lambda: not panel.page.title().startswith("("), "the title")
        elsewhere.page.reload()  # a closed panel learns it with the next page
        expect(badge).to_be_hidden()
        elsewhere.page.close()

    def badge_of_a_closed_panel(self, panel: Panel, model: ModelServerProcess) -> None:
        self.think(panel)
        panel.page.locator("#aia-close").click()
        model.release("thought")
        badge = panel.page.locator("#aia-unread")
        expect(badge).to_have_text("1")
        panel.reload()
        expect(badge).to_have_text("1")
        panel.open()
        expect(badge).to_be_hidden()

    def think(self, panel: Panel) -> None:
        panel.ask("[[script:think]]")
        panel.log.locator(".aia-reasoning").wait_for()


def last_longer(route: Route) -> None:
    """Let the server say that a run has taken so long that one turns away."""
    answer = route.fetch()
    route.fulfill(json={**answer.json(), "seconds": 12})


@pytest.mark.usefixtures("nothing_new")
class TestNotification:
    @pytest.fixture
    def visitor(self, browser: Browser, server: DemoServer) -> Iterator[Visitor]:
        """A person whose browser has notifications."""
        whole = launch(browser.browser_type, whole=True)
        visitor = Visitor(whole, server.url)
        visitor.context.grant_permissions(["notifications"], origin=server.url)
        yield visitor
        assert visitor.leave() == []
        whole.close()

    @pytest.mark.scenario(10)
    def test_notification_tells_of_a_long_run_in_a_hidden_tab(
        self, visitor: Visitor, model: ModelServerProcess
    ) -> None:
        panel = visitor.panel()
        panel.page.evaluate(RECORD)
        panel.page.locator("#aia-settings summary").click()
        switch = panel.page.locator("#aia-notify")
        switch.click()
        expect(switch).to_be_checked()
        panel.page.keyboard.press("Escape")
        self.answer_while_hidden(panel, model)
        panel.wait_done()
        panel.wait(lambda: panel.page.title().startswith("(1) "), "the title")
        assert panel.page.evaluate("window.told") == []  # that one was quick

        hide(panel.page, hidden=False)
        panel.page.route("**/assistant/seen/", last_longer)
        self.answer_while_hidden(panel, model)
        told = panel.wait(lambda: panel.page.evaluate("window.told"), "a notification")
        assert told[0][0] == "The answer is ready."

    def answer_while_hidden(self, panel: Panel, model: ModelServerProcess) -> None:
        panel.ask("[[script:think]]")
        panel.wait_state("thinking", "streaming")
        hide(panel.page)
        model.release("thought")
