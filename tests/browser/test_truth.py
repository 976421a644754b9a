"""What a person is told of the page, of the connection, of limits and of failures."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import WebSocketRoute

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor, sign_in
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
OwnServer = Callable[..., DemoServer]
HELLO = "[[script:hello]]"


def closing(tab: Panel, code: int) -> list[str]:
    """Close the first socket of `tab` at its first message; return all opened."""
    opened: list[str] = []

    def take(socket: WebSocketRoute) -> None:
        opened.append(socket.url)
        if len(opened) == 1:
            socket.on_message(lambda _: socket.close(code=code))
        else:
            socket.connect_to_server()

    tab.page.route_web_socket("**/assistant/ws/", take)
    return opened


@pytest.fixture
def strict(own_server: OwnServer) -> DemoServer:
    """A site with a banner, where nobody may send more than two messages a minute."""
    own = {
        "BANNER": {"text": "PRODUCTION", "level": "danger"},
        "DISCLAIMER": "Ask Ada if in doubt.",
        "RATE_USER": "2/m",
    }
    return own_server(env={"TESTS_SETTINGS": json.dumps(own)})


class TestSite:
    def test_has_a_banner_and_a_line_that_goes_for_good(
        self, visit: Visit, strict: DemoServer
    ) -> None:
        panel = visit(strict).panel()
        banner = panel.page.locator("#aia-banner [data-level=danger]")
        assert banner.inner_text() == "PRODUCTION"
        line = panel.page.locator("#aia-disclaimer")
        assert line.inner_text().strip() == "Ask Ada if in doubt."
        line.get_by_role("button").click()
        panel.wait(lambda: not line.count(), "no line")

        panel.page.reload()
        panel.input.wait_for()
        assert not line.count()
        assert banner.count() == 1


@pytest.mark.scenario(34)
class TestLimit:
    def test_counts_down_and_sends_again(
        self, visit: Visit, strict: DemoServer
    ) -> None:
        panel = visit(strict).panel()
        panel.ask_and_wait(HELLO)
        panel.ask_and_wait(HELLO)
        panel.ask("My third message")
        left = panel.page.locator("#aia-notice [data-left] b")
        panel.wait(lambda: left.count() and ":" in left.inner_text(), "a countdown")
        first = left.inner_text()

        panel.wait(lambda: left.inner_text() != first, "fewer seconds")
        assert panel.input.input_value() == "My third message"
        again = panel.page.locator("#aia-notice").get_by_role("button")
        panel.wait(
            lambda: "You can try again now." in panel.root.inner_text(),
            "the end of the limit",
            seconds=90,
        )
        again.click()
        panel.wait(lambda: len(panel.asked()) == 3, "the message")
        assert panel.input.input_value() == ""

    def test_of_the_model_counts_down_in_the_conversation(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:rate-limited]]")

        left = panel.log.locator("[data-left] b")
        panel.wait(lambda: left.count() and left.inner_text() > "59", "a countdown")
        assert panel.log.get_by_role("button", name="Retry").is_visible()


class TestFailure:
    def test_has_details_for_support(self, visit: Visit, server: DemoServer) -> None:
        visitor = visit(server)
        visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
        panel = visitor.panel()
        answer = panel.ask_and_wait("[[script:bad-key]]")
        button = panel.log.get_by_role("button", name="Copy details")
        button.click()
        panel.log.get_by_text("Copied").wait_for()

        copied = panel.page.evaluate("navigator.clipboard.readText()")
        assert f"id: {answer.run}" in copied
        assert "code: bad_key" in copied
        assert "The model did not accept the key of this site." in copied

    def test_of_a_provider_that_refuses_is_no_error(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:refused]]")

        assert panel.log.locator(".aia-error[data-refused]").count() == 1


class TestConnection:
    @pytest.mark.scenario(6)
    def test_that_is_lost_says_when_it_is_tried_again(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server)
        panel = visitor.panel()
        panel.ask_and_wait(HELLO)
        panel.page.evaluate(
            f"import(new URL('offline.js', '{server.url}' + "
            "document.getElementById('aia').dataset.src))"
        )
        visitor.context.set_offline(True)
        said = panel.page.locator("#aia-conn")
        panel.wait_state("offline")
        panel.wait(lambda: "Offline, again in" in said.inner_text(), "a countdown")
        panel.ask("Sent while offline")
        visitor.context.set_offline(False)
        panel.wait(lambda: panel.state != "offline", "a connection")

        panel.wait_done(2, seconds=60)
        assert [text.strip() for text in panel.asked()] == [HELLO, "Sent while offline"]
        assert said.inner_text() == ""

    def test_is_tried_at_once_if_asked_for(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server)
        panel = visitor.panel()
        panel.ask_and_wait(HELLO)
        panel.page.evaluate(
            """() => {
              window.Real = WebSocket;
              window.tries = 0;
              window.WebSocket = function () { tries += 1; throw new Error("none"); };
              Object.assign(window.WebSocket, { OPEN: 1, CONNECTING: 0 });
            }"""
        )
        visitor.context.set_offline(True)
        button = panel.page.get_by_role("button", name="Try now")
        button.wait_for()
        panel.wait(lambda: panel.page.evaluate("tries") >= 3, "some tries")
        before = panel.page.evaluate("tries")
        button.click()

        assert panel.page.evaluate("tries") > before
        visitor.context.set_offline(False)


class TestClosedSocket:
    """A socket that is closed by its server, with each code there is."""

    @pytest.mark.scenario(5)
    @pytest.mark.parametrize("code", [1000, 1001, 1011, 1012, 1013])
    def test_is_opened_again(self, visit: Visit, server: DemoServer, code: int) -> None:
        tab = visit(server).tab()
        opened = closing(tab, code)
        tab.goto()
        tab.open()
        tab.ask_and_wait(HELLO)

        tab.wait(lambda: len(opened) > 1, "another socket")
        assert tab.answer().text.strip() == "Hello there, how can this help you?"

    @pytest.mark.scenario(5)
    @pytest.mark.parametrize(
        ("code", "said"),
        [
            (4401, "You are signed out."),
            (4403, "This conversation is not open to you."),
        ],
    )
    def test_stays_closed(
        self, visit: Visit, server: DemoServer, code: int, said: str
    ) -> None:
        tab = visit(server).tab()
        opened = closing(tab, code)
        tab.goto()
        tab.open()

        tab.wait(lambda: said in tab.root.inner_text(), "the sentence")
        tab.page.wait_for_timeout(1000)
        assert len(opened) == 1


class TestSession:
    @pytest.mark.scenario(33)
    def test_that_ended_keeps_draft_and_conversation(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server, fresh=True)
        panel = visitor.panel()
        panel.ask_and_wait(HELLO)
        conversation = panel.conversation
        visitor.context.clear_cookies(name="sessionid")
        panel.ask("My next thought")
        panel.wait_state("signed-out")
        assert "You are signed out." in panel.root.inner_text()
        assert panel.input.input_value() == "My next thought"
        panel.input.press("End")
        panel.input.press_sequentially(" and more")

        panel.page.wait_for_timeout(400)
        sign_in(panel.page, server.url, "admin")
        panel.input.wait_for()
        assert panel.conversation == conversation
        assert panel.input.input_value() == "My next thought and more"


@pytest.mark.scenario(32)
class TestPage:
    def test_that_may_be_viewed_only_says_so(
        self, visit: Visit, server: DemoServer
    ) -> None:
        panel = visit(server, "viewer").panel("/admin/questionnaires/questionnaire/")

        banner = panel.page.locator("#aia-banner")
        assert "You can view but not change Questionnaires" in banner.inner_text()
        empty = panel.page.locator("#aia-empty")
        said = "On this page the assistant can look up Questionnaires."
        assert said in empty.inner_text()

    def test_says_what_it_allows(self, panel: Panel) -> None:
        panel.goto("/admin/questionnaires/questionnaire/")

        panel.wait(
            lambda: (
                "look up Questionnaires and propose changes to them."
                in panel.page.locator("#aia-empty").inner_text()
            ),
            "what the page allows",
        )
