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
    answer = visitor.panel().ask_and_wait("[[script:quick-report]]")
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


def assert_whole(panel: Panel, undisturbed: Entry, *, is_drawn: bool = True) -> None:
    """The conversation is as if nothing had happened, and drawn anew is the same."""
    for again in ("as it grew", "as it is drawn")[: 1 + is_drawn]:
        if again == "as it is drawn":
            panel.reload()
        assert panel.asked() == [ASK], again
        assert [answer.parts for answer in panel.answers()] == [undisturbed.parts]
        assert panel.repeated_ids() == [], again


@pytest.mark.row("D05", "M09")
class TestAnswer:
    @pytest.mark.smoke
    @pytest.mark.scenario(3)
    def test_answer_survives_reloads_and_a_click_to_another_page(
        self, panel: Panel, undisturbed: Entry
    ) -> None:
        panel.ask(ASK)
        panel.wait_words(3)
        panel.reload()
        panel.wait_words(SOME_WORDS)
        panel.click_to("Questionnaires")

        panel.wait_done()
        assert "/questionnaires/" in panel.page.url
        assert_whole(panel, undisturbed)

    def test_answer_survives_two_quick_clicks_and_is_asked_once_by_a_double_click(
        self, panel: Panel, undisturbed: Entry
    ) -> None:
        panel.type(ASK)
        panel.page.locator("#aia-send").dblclick()
        panel.wait_words(SOME_WORDS)
        panel.click_at(
            "#content a[href$='/section/']", "#content a[href$='/question/']"
        )

        # The first page is given up, which `wait_for_url` takes for a failure.
        panel.wait(
            lambda: panel.page.url.endswith("/questionnaires/question/"), "the page"
        )
        panel.wait_done()
        assert_whole(panel, undisturbed, is_drawn=False)

    def test_answer_survives_a_network_that_is_cut_and_silent_and_slow(
        self, visit: Visit, proxy: Proxy, server: DemoServer, undisturbed: Entry
    ) -> None:
        panel = visit(server, url=proxy.url).panel()
        panel.ask(ASK)
        panel.wait_words(3)
        proxy.cut()
        panel.wait_words(SOME_WORDS)
        # No byte passes and nothing is closed: the socket seems to be open.
        proxy.swallows = True
        panel.page.wait_for_timeout(600)
        proxy.swallows = False
        proxy.delay_s = 0.15

        panel.wait_done()
        assert_whole(panel, undisturbed)

    def test_answer_is_the_same_in_tabs_that_did_not_ask_though_the_first_is_closed(
        self, regular: Visitor, panel: Panel, undisturbed: Entry
    ) -> None:
        before, later = regular.tab(), regular.tab()
        before.goto()
        assert before.conversation == panel.conversation
        panel.ask(ASK)
        panel.wait_words(3)
        later.goto("/admin/questionnaires/")
        later.wait_words(SOME_WORDS)
        panel.page.close()

        for tab in (before, later):
            tab.wait_done()
            assert_whole(tab, undisturbed, is_drawn=tab is before)


class TestTool:
    @pytest.mark.row("L05")
    def test_write_that_takes_long_ends_with_its_result(
        self,
        panel: Panel,
        model: ModelServerProcess,
        oracle: Oracle,
        server: DemoServer,
    ) -> None:
        said = f"row of {panel.conversation}"
        name = f"row-{panel.conversation}"
        held = call("held_write", {"name": name, "key": said})
        model.script("long-write", [[text("Writing."), held], [text("It is written.")]])
        panel.ask("[[script:long-write]]")
        panel.card("held_write").and_(
            panel.page.locator("[data-status=executing]")
        ).wait_for()
        panel.click_to("Sections")
        assert panel.card("held_write").get_attribute("data-status") == "executing"
        server.let(name)

        answer = panel.wait_done()
        assert [part.status for part in answer.parts if part.kind == "tool"] == [
            "complete"
        ]
        assert answer.parts[-1].text.strip() == "It is written."
        assert said in (panel.card("held_write").text_content() or "")
        assert oracle.effects()[answer.run, said] == 1


class TestMessage:
    @pytest.mark.scenario(6)
    @pytest.mark.scenario(7)
    def test_message_waits_for_the_connection_and_is_sent_again_under_its_key(
        self,
        visit: Visit,
        proxy: Proxy,
        server: DemoServer,
        subtests: pytest.Subtests,
    ) -> None:
        panel = visit(server, url=proxy.url).panel()
        with subtests.test("the server took it, but its answer never came back"):
            proxy.swallows_answers = True
            panel.ask("Hello. [[script:hello]]")
            panel.page.wait_for_timeout(500)
            proxy.cut()
            proxy.swallows_answers = False
            panel.wait_done()
            panel.page.wait_for_timeout(3300)  # longer than the pause of a repeat
            assert panel.asked() == ["Hello. [[script:hello]]"]
            assert len(panel.answers()) == 1
            assert panel.input.input_value() == ""

        panel.new_conversation()
        with subtests.test("there was no connection"):
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
