"""What a person is told of the page, of the connection, of limits and of failures."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import WebSocketRoute

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor, sign_in
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle

Visit = Callable[..., Visitor]
OwnServer = Callable[..., DemoServer]
HELLO = "[[script:hello]]"
# Load what tells of a lost connection: without one it cannot be had.
OFFLINE = """() => {
  const panel = new URL(document.getElementById("aia").dataset.src, location.href);
  return import(new URL("offline.js", panel)).then(() => true);
}"""


def ending(tab: Panel, code: int) -> list[str]:
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


def write(server: DemoServer, statement: str, *arguments: object) -> None:
    """Change what the server has stored, past the server (SQLite)."""
    path = server.database_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, timeout=30)) as connection, connection:
        assert connection.execute(statement, arguments).rowcount > 0


def offered(request: dict[str, Any]) -> set[str]:
    """Return the names of the tools that the model may call."""
    return {one["function"]["name"] for one in request.get("tools", [])}


@pytest.fixture
def strict(own_server: OwnServer) -> DemoServer:
    """A site with a banner, where nobody may send more than two messages a minute."""
    own = {
        "PANEL": {
            "BANNER": {"text": "PRODUCTION", "level": "danger"},
            "DISCLAIMER": "Ask Ada if in doubt.",
        },
        "RATES": {"USER": "2/m"},
    }
    return own_server(env={"TESTS_SETTINGS": json.dumps(own)})


class TestSite:
    def test_site_has_a_banner_and_a_line_that_goes_for_good(
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
    def test_limit_counts_down_and_sends_again(
        self, visit: Visit, strict: DemoServer
    ) -> None:
        panel = visit(strict).panel()
        panel.ask_and_wait(HELLO)
        panel.ask_and_wait(HELLO)
        # The limit is of a minute, most of which is over then.
        write(
            strict,
            "UPDATE ai_assistant_run SET created_at = "
            "strftime('%Y-%m-%d %H:%M:%f', created_at, '-50 seconds')",
        )
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
        )
        again.click()
        panel.wait(lambda: len(panel.asked()) == 3, "the message")
        assert panel.input.input_value() == ""

    def test_limit_of_the_model_counts_down_in_the_conversation(
        self, panel: Panel
    ) -> None:
        panel.ask_and_wait("[[script:rate-limited]]")

        left = panel.log.locator("[data-left] b")
        panel.wait(lambda: left.count() and left.inner_text() > "59", "a countdown")
        assert panel.log.get_by_role("button", name="Retry").is_visible()


class TestFailure:
    def test_failure_has_details_for_support(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server)
        visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
        panel = visitor.panel()
        answer = panel.ask_and_wait("[[script:bad-key]]")
        button = panel.log.get_by_role("button", name="Copy details")
        button.click()
        shown = panel.log.get_by_text("Copied")
        said = panel.page.locator("#aia-say", has_text="Copied")  # stands longer
        shown.or_(said).first.wait_for(state="attached")

        copied = panel.page.evaluate("navigator.clipboard.readText()")
        assert f"id: {answer.run}" in copied
        assert "code: bad_key" in copied
        assert "The model did not accept the key of this site." in copied

    def test_failure_of_a_provider_that_refuses_is_no_error(self, panel: Panel) -> None:
        panel.ask_and_wait("[[script:refused]]")

        assert panel.log.locator(".aia-error[data-refused]").count() == 1


class TestConnection:
    @pytest.mark.scenario(6)
    def test_connection_that_is_lost_says_when_it_is_tried_again(
        self, visit: Visit, server: DemoServer
    ) -> None:
        visitor = visit(server)
        panel = visitor.panel()
        panel.ask_and_wait(HELLO)
        panel.page.evaluate(OFFLINE)
        visitor.context.set_offline(True)
        said = panel.page.locator("#aia-conn")
        panel.wait_state("offline")
        panel.wait(
            lambda: "Offline, trying again in" in said.inner_text(), "a countdown"
        )
        panel.ask("Sent while offline")
        visitor.context.set_offline(False)
        panel.wait(lambda: panel.state != "offline", "a connection")

        panel.wait_done(2)
        assert [text.strip() for text in panel.asked()] == [HELLO, "Sent while offline"]
        assert said.inner_text() == ""

    def test_connection_is_tried_at_once_if_asked_for(
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
        panel.page.evaluate(OFFLINE)
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
    def test_closed_socket_is_opened_again(
        self, visit: Visit, server: DemoServer, code: int
    ) -> None:
        tab = visit(server).tab()
        opened = ending(tab, code)
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
            (4403, "You have no access to this conversation."),
        ],
    )
    def test_closed_socket_stays_closed(
        self, visit: Visit, server: DemoServer, code: int, said: str
    ) -> None:
        tab = visit(server).tab()
        opened = ending(tab, code)
        tab.goto()
        tab.open()

        tab.wait(lambda: said in tab.root.inner_text(), "the sentence")
        tab.page.wait_for_timeout(1000)
        assert len(opened) == 1


class TestSession:
    @pytest.mark.scenario(33)
    def test_session_that_ended_keeps_draft_and_conversation(
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
        draft = panel.input.input_value
        panel.wait(lambda: draft() == "My next thought and more", "the draft")

    @pytest.mark.scenario(33)
    def test_session_that_expires_in_mid_answer_keeps_draft_and_answer(
        self, visit: Visit, server: DemoServer, oracle: Oracle
    ) -> None:
        visitor = visit(server, fresh=True)
        panel = visitor.panel()
        panel.ask("[[script:stream tokens=500 rate=30]]")
        panel.wait_words(5)
        conversation, run = panel.conversation, panel.answer().run
        panel.type("My next thought")
        (key,) = [
            one["value"]
            for one in visitor.context.cookies()
            if one["name"] == "sessionid"
        ]
        write(
            server,
            "UPDATE django_session SET expire_date = '2001-01-01' WHERE session_key = ?",
            key,
        )
        panel.wait_state("signed-out")
        assert panel.answer().busy
        assert "You are signed out." in panel.root.inner_text()
        assert panel.input.input_value() == "My next thought"

        panel.page.get_by_role("link", name="Sign in again").click()
        panel.page.fill("[name=username]", "admin")
        panel.page.fill("[name=password]", "admin")
        panel.page.click("[type=submit]")
        panel.page.wait_for_url("**/admin/")
        panel.input.wait_for()
        assert panel.conversation == conversation
        draft = panel.input.input_value
        panel.wait(lambda: draft() == "My next thought", "the draft")
        answer = panel.wait_done()
        assert answer.run == run
        said = oracle.text(run).split()
        assert len(said) == 500
        assert "".join(answer.text.split()) == "".join(said)


@pytest.mark.scenario(32)
class TestPage:
    def test_page_that_may_be_viewed_only_says_so(
        self, visit: Visit, server: DemoServer
    ) -> None:
        panel = visit(server, "viewer").panel("/admin/questionnaires/questionnaire/")

        banner = panel.page.locator("#aia-banner")
        assert "You can view but not change Questionnaires" in banner.inner_text()
        empty = panel.page.locator("#aia-empty")
        said = "On this page the assistant can look up Questionnaires."
        assert said in empty.inner_text()

    def test_page_says_what_it_allows(self, panel: Panel) -> None:
        panel.goto("/admin/questionnaires/questionnaire/")

        panel.wait(
            lambda: (
                "look up Questionnaires and propose changes to them."
                in panel.page.locator("#aia-empty").inner_text()
            ),
            "what the page allows",
        )


WRITING = {
    *("create_object", "change_object", "change_objects", "delete_objects"),
    *("rename_section", "publish_questionnaire", "needs_approval", "write_effect"),
}
RENAME = {
    "model": "questionnaires.section",
    "id": 3,
    "values": {"title": "By the viewer"},
}


@pytest.mark.scenario(32)
class TestViewer:
    PATH = "/admin/questionnaires/section/"

    def test_viewer_is_offered_no_tool_that_writes(
        self, visit: Visit, server: DemoServer, model: ModelServerProcess
    ) -> None:
        names = {}
        for name in ("editor", "viewer"):
            visit(server, name).panel(self.PATH).ask_and_wait(HELLO)
            names[name] = offered(model.requests()[-1])

        assert names["editor"] >= {"change_object", "rename_section", "write_effect"}
        assert names["viewer"] & WRITING == set()
        assert "search_objects" in names["viewer"]

    def test_viewer_changes_nothing_by_a_call_that_was_not_offered(
        self,
        visit: Visit,
        server: DemoServer,
        model: ModelServerProcess,
        oracle: Oracle,
    ) -> None:
        model.script("by-viewer", [[call("change_object", RENAME)], [text("Tried.")]])
        panel = visit(server, "viewer").panel(self.PATH)
        panel.ask_and_wait("[[script:by-viewer]]")

        assert panel.card("change_object").get_attribute("data-status") == "denied"
        assert (
            oracle.rows(
                "SELECT id FROM questionnaires_section WHERE title = %s",
                "By the viewer",
            )
            == []
        )

    def test_who_has_become_one_can_no_longer_approve(
        self, visit: Visit, own_server: OwnServer, model: ModelServerProcess
    ) -> None:
        model.script("by-viewer", [[call("change_object", RENAME)], [text("Tried.")]])
        server = own_server()
        panel = visit(server, "editor").panel(self.PATH)
        panel.ask("[[script:by-viewer]]")
        panel.wait_state("waiting-approval")
        write(
            server,
            "DELETE FROM auth_user_user_permissions WHERE permission_id IN "
            "(SELECT id FROM auth_permission WHERE codename LIKE 'change_%')",
        )
        panel.approve()
        panel.wait_done()

        assert panel.card("change_object").get_attribute("data-status") == "failed"
        assert (
            Oracle(server.database_url).rows(
                "SELECT id FROM questionnaires_section WHERE title = %s",
                "By the viewer",
            )
            == []
        )
