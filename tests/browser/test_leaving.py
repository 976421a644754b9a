"""An answer goes on, whole and once, whatever becomes of the page that asked."""

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.panel import Entry, Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle
from tests.servers.proxy import Proxy

Visit = Callable[..., Visitor]
ASK = "Report, please. [[script:report]]"
SOME_WORDS = 25  # of the report: the table is still to come


@pytest.fixture(scope="module")
def undisturbed(browser: Browser, server: DemoServer) -> Entry:
    """The same answer, on a page that nobody leaves."""
    visitor = Visitor(browser, server.url)
    answer = visitor.panel().ask_and_wait(ASK)
    assert visitor.leave() == []
    assert [part.kind for part in answer.parts] == [
        "reasoning",
        "text",
        "tool",
        "text",
    ]
    return answer


@pytest.fixture
def proxy(server: DemoServer) -> Iterator[Proxy]:
    with Proxy(server.port) as started:
        yield started


def assert_whole(panel: Panel, undisturbed: Entry) -> None:
    """The conversation is as if nothing had happened, and drawn anew is the same."""
    for _ in ("as it grew", "as it is drawn"):
        assert panel.asked() == [ASK]
        assert [answer.parts for answer in panel.answers()] == [undisturbed.parts]
        assert panel.repeated_ids() == []
        panel.reload()


@pytest.mark.row("D05", "M09")
class TestAnswer:
    @pytest.mark.smoke
    @pytest.mark.scenario(3)
    def test_answer_survives_click_to_another_page(
        self, panel: Panel, undisturbed: Entry
    ) -> None:
        panel.ask(ASK)
        panel.wait_words(SOME_WORDS)
        panel.click_to("Questionnaires")

        panel.wait_done()
        assert "/questionnaires/" in panel.page.url
        assert_whole(panel, undisturbed)

    @pytest.mark.smoke
    def test_answer_survives_reload(self, panel: Panel, undisturbed: Entry) -> None:
        panel.ask(ASK)
        for words in (3, SOME_WORDS, 2 * SOME_WORDS):
            panel.wait_words(words)
            panel.reload()

        panel.wait_done()
        assert_whole(panel, undisturbed)

    def test_answer_survives_two_quick_clicks(
        self, panel: Panel, undisturbed: Entry
    ) -> None:
        panel.ask(ASK)
        panel.wait_words(SOME_WORDS)
        panel.click_at(
            "#content a[href$='/section/']", "#content a[href$='/question/']"
        )

        # The first page is given up, which `wait_for_url` takes for a failure.
        panel.wait(lambda: panel.page.url.endswith("/questionnaires/question/"))
        panel.wait_done()
        assert_whole(panel, undisturbed)

    def test_answer_survives_cut_sockets(
        self, visit: Visit, proxy: Proxy, server: DemoServer, undisturbed: Entry
    ) -> None:
        panel = visit(server, url=proxy.url).panel()
        panel.ask(ASK)
        for words in (3, SOME_WORDS, 2 * SOME_WORDS):
            panel.wait_words(words)
            proxy.cut()

        panel.wait_done()
        assert_whole(panel, undisturbed)

    def test_answer_survives_slow_network(
        self, visit: Visit, proxy: Proxy, server: DemoServer, undisturbed: Entry
    ) -> None:
        panel = visit(server, url=proxy.url).panel()
        proxy.delay_s = 0.15
        panel.ask(ASK)

        panel.wait_done()
        assert_whole(panel, undisturbed)

    def test_answer_survives_silent_network(
        self, visit: Visit, proxy: Proxy, server: DemoServer, undisturbed: Entry
    ) -> None:
        """No byte passes and nothing is closed: the socket seems to be open."""
        panel = visit(server, url=proxy.url).panel()
        panel.ask(ASK)
        panel.wait_words(SOME_WORDS)
        proxy.swallows = True
        panel.page.wait_for_timeout(1000)
        proxy.swallows = False

        panel.wait_done()
        assert_whole(panel, undisturbed)

    def test_answer_survives_closed_tab(
        self, visit: Visit, server: DemoServer, undisturbed: Entry
    ) -> None:
        visitor = visit(server)
        first = visitor.panel()
        first.ask(ASK)
        first.wait_words(SOME_WORDS)
        first.page.close()

        second = visitor.tab()
        second.goto("/admin/questionnaires/section/")
        second.wait_done()
        assert_whole(second, undisturbed)

    def test_answer_is_the_same_in_two_tabs(
        self, visit: Visit, server: DemoServer, undisturbed: Entry
    ) -> None:
        visitor = visit(server)
        first = visitor.panel()
        second = visitor.tab()
        first.ask(ASK)
        first.wait_words(3)
        second.goto("/admin/questionnaires/")
        second.wait_words(SOME_WORDS)

        for tab in (first, second):
            tab.wait_done()
        assert_whole(first, undisturbed)
        assert_whole(second, undisturbed)

    def test_answer_comes_to_a_tab_that_did_not_ask(
        self, visit: Visit, server: DemoServer, undisturbed: Entry
    ) -> None:
        visitor = visit(server)
        first = visitor.panel()
        second = visitor.panel()
        assert second.conversation == first.conversation
        first.ask(ASK)

        second.wait_done()
        assert_whole(second, undisturbed)


class TestTool:
    @pytest.mark.row("L05")
    def test_slow_write_ends_with_its_result(
        self, panel: Panel, model: ModelServerProcess, oracle: Oracle
    ) -> None:
        said = f"row of {panel.conversation}"
        model.script(
            "slow-write",
            [
                [text("Writing."), call("slow_write", {"seconds": 5, "text": said})],
                [text("It is written.")],
            ],
        )
        panel.ask("[[script:slow-write]]")
        panel.card("slow_write").and_(
            panel.page.locator("[data-status=executing]")
        ).wait_for()
        panel.click_to("Sections")
        assert panel.card("slow_write").get_attribute("data-status") == "executing"

        answer = panel.wait_done()
        assert [part.status for part in answer.parts if part.kind == "tool"] == [
            "complete"
        ]
        assert answer.parts[-1].text.strip() == "It is written."
        assert said in (panel.card("slow_write").text_content() or "")
        assert len(oracle.written(answer.run)) == 1


class TestMessage:
    @pytest.mark.parametrize("wait_ms", [0, 5, 20])
    def test_message_arrives_from_page_that_is_left_at_once(
        self, panel: Panel, wait_ms: int
    ) -> None:
        panel.page.evaluate("() => AIAssistant.open()")  # its script is loaded then
        panel.type("Hello. [[script:hello]]")
        # In one go: a script sends, then leaves, as a fast hand does.
        panel.page.evaluate(
            """wait => {
              document.querySelector("#aia-send").click();
              const link = document.querySelector('#content a[href$="/section/"]');
              if (wait) setTimeout(() => link.click(), wait);
              else link.click();
            }""",
            wait_ms,
        )

        panel.page.wait_for_url("**/section/")
        panel.wait_done()
        assert panel.asked() == ["Hello. [[script:hello]]"]
        assert panel.answer().text.strip() == "Hello there, how can this help you?"

    @pytest.mark.scenario(7)
    def test_message_is_sent_again_under_the_same_key(
        self, visit: Visit, proxy: Proxy, server: DemoServer, oracle: Oracle
    ) -> None:
        """The server took it, but its answer never came back."""
        panel = visit(server, url=proxy.url).panel()
        proxy.swallows_answers = True
        panel.ask("Hello. [[script:hello]]")
        panel.page.wait_for_timeout(500)
        proxy.cut()
        proxy.swallows_answers = False

        panel.wait_done()
        panel.page.wait_for_timeout(3300)  # longer than the pause before it repeats
        assert panel.asked() == ["Hello. [[script:hello]]"]
        assert len(panel.answers()) == 1
        assert panel.input.input_value() == ""

    @pytest.mark.scenario(6)
    def test_message_waits_for_the_connection(
        self, visit: Visit, proxy: Proxy, server: DemoServer
    ) -> None:
        panel = visit(server, url=proxy.url).panel()
        proxy.refuses = True
        proxy.cut()
        panel.ask("Hello. [[script:hello]]")
        panel.wait_state("offline")
        proxy.refuses = False

        panel.wait_done()
        assert panel.asked() == ["Hello. [[script:hello]]"]
        assert len(panel.answers()) == 1

    def test_message_is_on_its_page_though_nobody_rings(
        self, visit: Visit, own_server: Callable[..., DemoServer]
    ) -> None:
        """The layer is deaf, and the page would look by itself in a while only."""
        settings = json.dumps({"POLL_S": 60})
        env = {"TESTS_LAYER": "deaf", "TESTS_SETTINGS": settings}
        panel = visit(own_server(env=env)).panel()
        panel.ask("Hello. [[script:hello]]")

        panel.wait(panel.asked, "the message, drawn by the server")

    def test_message_sends_once_for_two_clicks(self, panel: Panel) -> None:
        panel.type("Hello. [[script:hello]]")
        panel.page.locator("#aia-send").dblclick()

        panel.wait_done()
        assert panel.asked() == ["Hello. [[script:hello]]"]
        assert len(panel.answers()) == 1
