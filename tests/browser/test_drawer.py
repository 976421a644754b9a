"""The list of conversations in a real browser: find, name, delete, and what is news."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from ai_assistant.render.html.transcript.thread import DRAWN_RUNS
from tests.browser.chromium import launch
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
# The words of the found message once it has the focus: its mark goes soon.
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


def show_earlier(panel: Panel) -> None:
    messages = panel.log.locator(".aia-msg")
    drawn = messages.count()
    panel.page.evaluate("document.getElementById('aia-scroll').scrollTop = 0")
    panel.wait(lambda: messages.count() > drawn, "earlier ones")


class TestSearch:
    def test_hit_is_marked_and_leads_to_the_message(self, panel: Panel) -> None:
        panel.ask_and_wait(f"The quokka orders of March {HELLO}")
        first = panel.conversation
        panel.new_conversation()
        panel.ask_and_wait(f"Something else {HELLO}")
        search(panel, "MARCH quokka")
        hits = panel.page.locator("#aia-found li[id]")
        expect(hits).to_have_count(1)
        assert hits.locator("q mark").all_inner_texts() == ["quokka", "March"]

        hits.get_by_role("link").click()
        panel.wait(lambda: panel.conversation == first, "the conversation")
        assert "quokka" in focused_hit(panel)

    def test_search_leads_to_what_is_not_drawn_yet(
        self, panel: Panel, oracle: Oracle
    ) -> None:
        panel.ask_and_wait(f"The wombat is here {HELLO}")
        conversation = panel.conversation
        add_runs(oracle, conversation, 45)
        panel.new_conversation()
        search(panel, "wombat")
        expect(panel.page.locator("#aia-found q mark")).to_have_count(1)
        panel.page.locator("#aia-found li[id] a").first.click()

        assert "wombat" in focused_hit(panel)
        assert panel.repeated_ids() == []

    def test_search_address_of_a_hit_works_on_its_own_page(
        self, panel: Panel, oracle: Oracle
    ) -> None:
        panel.ask_and_wait(f"The numbat is here {HELLO}")
        add_runs(oracle, panel.conversation, 30)
        search(panel, "numbat")
        link = panel.page.locator("#aia-found li[id] a").first
        expect(panel.page.locator("#aia-found mark").first).to_be_visible()
        panel.goto(link.get_attribute("href") or "")

        found = panel.page.locator("#aia-log [data-found]")
        expect(found).to_be_in_viewport()
        assert "numbat" in found.inner_text()

    @pytest.mark.scenario(35)
    def test_enter_of_an_input_method_submits_nothing(self, panel: Panel) -> None:
        panel.ask_and_wait(HELLO)
        asked: list[str] = []
        panel.page.on("request", lambda request: asked.append(request.url))
        panel.list_conversations()
        panel.page.wait_for_timeout(300)
        asked.clear()
        for selector in ("#aia-name", "#aia-q"):
            if selector == "#aia-name":
                menu(panel, panel.conversation, "Rename")
            field = panel.page.locator(selector)
            field.fill("")
            asked.clear()
            compose(panel.page, "にほん", "日本")
            panel.page.wait_for_timeout(200)
            # The search may look for what is written; nothing is submitted.
            assert [url for url in asked if "/rename/" in url] == []
            assert panel.page.url.endswith("/admin/")
            assert field.input_value() == "日本"


class TestEarlier:
    @pytest.mark.scenario(16)
    def test_earlier_of_five_hundred_messages_are_all_reached_from_the_end(
        self, panel: Panel, oracle: Oracle
    ) -> None:
        panel.ask_and_wait(f"The first of many {HELLO}")
        add_runs(oracle, panel.conversation, 249)
        panel.reload()
        panel.input.wait_for()
        messages = panel.log.locator(".aia-msg")
        expect(messages.last).to_be_in_viewport()
        assert panel.answer().text.strip() == "copy 248"
        assert messages.count() <= 60
        assert panel.page.evaluate(TO_THE_END) == pytest.approx(0, abs=2)

        while panel.log.get_by_text("Show earlier").count():
            show_earlier(panel)

        copies = [f"copy {number}" for number in range(249)]
        assert panel.asked() == [f"The first of many {HELLO}", *copies]
        assert [one.text.strip() for one in panel.answers()[1:]] == copies
        assert panel.repeated_ids() == []

    def test_reader_does_not_move(self, panel: Panel, oracle: Oracle) -> None:
        panel.ask_and_wait(f"The first of many {HELLO}")
        add_runs(oracle, panel.conversation, 45)
        panel.reload()
        panel.wait(lambda: len(panel.answers()) == DRAWN_RUNS, "the last ones")
        # Who is drawn there goes to the end first.
        panel.wait(lambda: panel.page.evaluate(TO_THE_END) <= 2, "the end")
        mark = panel.page.locator("#aia-log .aia-msg").first
        mark_id = mark.get_attribute("id")
        top = f"document.getElementById('{mark_id}').getBoundingClientRect().top"
        # To the very top at once: there a browser anchors nothing by itself.
        before = panel.page.evaluate(
            f"() => {{ document.getElementById('aia-scroll').scrollTop = 0; return {top}; }}"
        )
        panel.wait(lambda: len(panel.answers()) >= 2 * DRAWN_RUNS, "those before")

        assert abs(panel.page.evaluate(f"() => {top}") - before) < 0.5
        assert not panel.page.locator("#aia-latest").is_visible()
        while (count := len(panel.answers())) < 46:
            panel.page.evaluate("document.getElementById('aia-scroll').scrollTop = 0")
            panel.wait(lambda: len(panel.answers()) > count, "more of them")
        assert panel.page.locator("[data-before]").count() == 0
        assert panel.repeated_ids() == []


class TestRename:
    @pytest.mark.scenario(9)
    def test_rename_shows_in_both_tabs(self, visit: Visit, server: DemoServer) -> None:
        visitor = visit(server)
        here, there = visitor.panel(), visitor.tab()
        here.ask_and_wait(f"A matter of two tabs {HELLO}")
        there.goto()
        there.list_conversations()
        rename(here, here.conversation, "Named <b>anew</b>")

        expect(entry(here, here.conversation)).to_contain_text("Named <b>anew</b>")
        for tab in (here, there):
            expect(tab.page.locator("#aia-title")).to_have_text("Named <b>anew</b>")
        expect(entry(there, here.conversation)).to_contain_text("Named <b>anew</b>")
        expect(
            entry(here, here.conversation).locator("[data-aia-conversation]")
        ).to_be_focused()

    def test_rename_of_nothing_is_refused_with_a_sentence(self, panel: Panel) -> None:
        panel.ask_and_wait(f"A matter {HELLO}")
        rename(panel, panel.conversation, "  ")

        form = entry(panel, panel.conversation)
        expect(form).to_contain_text("Enter a name first.")
        panel.page.keyboard.press("Escape")
        expect(form.get_by_role("link")).to_contain_text("A matter")


class TestMenu:
    def test_escape_closes_the_menu_alone(self, panel: Panel) -> None:
        panel.ask_and_wait(f"A matter {HELLO}")
        panel.list_conversations()
        own = entry(panel, panel.conversation)
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

    def test_focus_stays_with_what_was_pinned(self, panel: Panel) -> None:
        panel.ask_and_wait(f"A matter {HELLO}")
        panel.list_conversations()
        menu(panel, panel.conversation, "Pin")

        expect(entry(panel, panel.conversation)).to_be_visible()
        expect(
            entry(panel, panel.conversation).locator("[data-aia-conversation]")
        ).to_be_focused()


class TestDelete:
    def test_delete_can_be_undone(self, panel: Panel) -> None:
        panel.ask_and_wait(f"The first matter {HELLO}")
        first = panel.conversation
        panel.new_conversation()
        panel.ask_and_wait(f"The second matter {HELLO}")
        panel.list_conversations()
        menu(panel, first, "Delete")
        expect(entry(panel, first)).to_have_count(0)

        undo = panel.page.get_by_role("button", name="Undo", exact=True)
        expect(undo).to_be_focused()
        undo.click()
        expect(entry(panel, first)).to_have_count(1)
        assert panel.asked() == [f"The second matter {HELLO}"]

    def test_focus_is_on_the_next_one_when_the_offer_is_over(
        self, panel: Panel
    ) -> None:
        panel.ask_and_wait(f"The first matter {HELLO}")
        first = panel.conversation
        panel.new_conversation()
        panel.ask_and_wait(f"The second matter {HELLO}")
        panel.list_conversations()
        menu(panel, first, "Delete")
        expect(
            panel.page.get_by_role("button", name="Undo", exact=True)
        ).to_be_focused()
        panel.page.evaluate(
            "() => { for (const one of document.getAnimations()) one.finish(); }"
        )

        expect(panel.page.locator(".aia-toast")).to_have_count(0)
        expect(panel.page.locator("#aia-history li > a:focus")).to_have_count(1)
        panel.page.keyboard.press("Escape")
        expect(panel.page.locator("#aia-history")).not_to_be_visible()
        expect(panel.page.locator("#aia-list")).to_be_focused()

    def test_delete_of_the_open_one_leaves_the_list(self, panel: Panel) -> None:
        panel.ask_and_wait(f"The matter at hand {HELLO}")
        first = panel.conversation
        panel.list_conversations()
        menu(panel, first, "Delete")

        panel.wait(lambda: panel.conversation != first, "another conversation")
        assert panel.asked() == []
        panel.page.get_by_role("button", name="Undo", exact=True).click()
        expect(entry(panel, first)).to_have_count(1)

    def test_delete_shuts_the_door_in_the_other_tab(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server)
        here, there = visitor.panel(), visitor.tab()
        here.ask_and_wait(f"A matter {HELLO}")
        first = here.conversation
        there.goto()
        there.wait(there.asked, "the same conversation")
        here.list_conversations()
        menu(here, first, "Delete")

        expect(there.page.locator("#aia-notice")).to_contain_text("no access to this")


class TestPinned:
    def test_pinned_stands_first_and_archived_apart(self, panel: Panel) -> None:
        panel.ask_and_wait(f"The first matter {HELLO}")
        first = panel.conversation
        panel.new_conversation()
        panel.ask_and_wait(f"The second matter {HELLO}")
        panel.list_conversations()
        menu(panel, first, "Pin")
        items = panel.page.locator("#aia-found li[id]")
        expect(items.first).to_have_id(f"h-{first}")

        menu(panel, first, "Archive")
        expect(entry(panel, first)).to_have_count(0)
        panel.root.get_by_role("link", name="Archived").click()
        expect(entry(panel, first)).to_have_count(1)
        menu(panel, first, "Unarchive")
        expect(entry(panel, first)).to_have_count(0)
        panel.root.get_by_role("link", name="Archived").click()
        expect(entry(panel, first)).to_have_count(1)
        menu(panel, first, "Unpin")
        expect(items.first).not_to_have_id(f"h-{first}")


class TestRefused:
    def test_refused_is_told_above_the_list(self, panel: Panel) -> None:
        panel.ask_and_wait(f"A matter {HELLO}")
        panel.list_conversations()
        own = entry(panel, panel.conversation)
        own.locator("[name=conversation]").evaluate_all(
            "all => all.forEach((one) => { one.value = 'none'; })"
        )
        menu(panel, panel.conversation, "Pin")

        told = panel.page.locator("#aia-notice .aia-note")
        expect(told).to_contain_text("This page is out of date.")
        told.click(trial=True)  # nothing lies over it
        expect(own).to_be_visible()


class TestExport:
    @pytest.mark.parametrize(
        ("button", "ending", "part"),
        [
            ("Save as Markdown", ".md", "## Assistant"),
            ("Save as JSON", ".json", '"role": "assistant"'),
        ],
    )
    def test_export_is_saved(
        self, panel: Panel, button: str, ending: str, part: str
    ) -> None:
        panel.ask_and_wait(f"A matter {HELLO}")
        panel.list_conversations()
        own = entry(panel, panel.conversation)
        own.get_by_role("button", name="More for").click()
        with panel.page.expect_download() as saving:
            own.get_by_role("button", name=button).click()

        assert saving.value.suggested_filename.endswith(ending)
        assert part in saving.value.path().read_text()


@pytest.fixture
def nothing_new(oracle: Oracle) -> None:
    """What other tests have left unread does not count."""
    read_all(oracle)


@pytest.mark.usefixtures("nothing_new")
class TestUnread:
    @pytest.mark.scenario(9)
    @pytest.mark.scenario(10)
    def test_unread_is_told_in_the_hidden_tab_alone(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server)
        panel = visitor.panel()
        panel.ask("[[script:report]]")
        panel.wait_words(5)
        hide(panel.page)
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

    def test_visible_answer_is_read(self, panel: Panel, oracle: Oracle) -> None:
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

    def test_badge_shows_where_the_panel_was_closed(self, panel: Panel) -> None:
        panel.ask("[[script:report]]")
        panel.wait_words(5)
        panel.page.locator("#aia-close").click()

        badge = panel.page.locator("#aia-unread")
        expect(badge).to_have_text("1")
        panel.reload()
        expect(badge).to_have_text("1")
        panel.open()
        expect(badge).to_be_hidden()


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
        panel.ask("[[script:think]]")
        panel.wait_state("thinking", "streaming")
        hide(panel.page)
        model.release("thought")
        panel.wait_done()
        panel.wait(lambda: panel.page.title().startswith("(1) "), "the title")
        assert panel.page.evaluate("window.told") == []  # that one was quick

        hide(panel.page, hidden=False)
        panel.ask("[[script:lasting]]")
        panel.wait_words(1)
        hide(panel.page)
        panel.wait_done(2)
        told = panel.wait(lambda: panel.page.evaluate("window.told"), "a notification")
        assert told[0][0] == "The answer is ready."


class TestTabs:
    def test_draft_is_in_both_and_each_says_so(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server)
        here, there = visitor.panel(), visitor.tab()
        here.ask_and_wait(f"A matter {HELLO}")
        there.goto()
        there.input.wait_for()
        there.page.evaluate("() => document.activeElement.blur()")
        here.input.press_sequentially("half a word")

        expect(there.input).to_have_value("half a word")
        for tab in (here, there):
            expect(tab.page.locator("#aia-tabs")).to_be_visible()
        there.page.close()
        expect(here.page.locator("#aia-tabs")).to_be_hidden()
