"""What a person is told of the page, of the connection, of limits and of failures."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import WebSocketRoute

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle
from tests.thorough import share

Visit = Callable[..., Visitor]
OwnServer = Callable[..., DemoServer]
HELLO = "[[script:hello]]"
LIMIT_S = 60
LEFT_S = 15  # of the limit, when the message is sent that goes over it
# Load what tells of a lost connection: without one it cannot be had.
OFFLINE = """() => {
  const panel = new URL(document.getElementById("aia").dataset.src, location.href);
  return import(new URL("offline.js", panel)).then(() => true);
}"""
# How far what waits to be sent stands below the last answer.
GAP_PX = """() => {
  const ghost = document.querySelector("#aia .aia-ghost").getBoundingClientRect();
  const answers = document.querySelectorAll("#aia-log > [data-role=assistant]");
  const last = [...answers].at(-1).lastElementChild.getBoundingClientRect();
  return ghost.top - last.bottom;
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


def let_be_old(server: DemoServer, seconds: int) -> None:
    """Let it be so long ago that the first of all runs was asked for."""
    (row,) = Oracle(server.database_url).rows(
        "SELECT (julianday('now') - julianday(min(created_at))) * 86400 AS age"
        " FROM ai_assistant_run"
    )
    write(
        server,
        "UPDATE ai_assistant_run SET created_at ="
        " strftime('%Y-%m-%d %H:%M:%f', created_at, ?)",
        f"{row['age'] - seconds:+.3f} seconds",
    )


def offered(request: dict[str, Any]) -> set[str]:
    """Return the names of the tools that the model may call."""
    return {one["function"]["name"] for one in request.get("tools", [])}


class TestLimit:
    @pytest.mark.scenario(34)
    def test_site_has_its_words_and_a_limit_counts_down_and_sends_again(
        self,
        visit: Visit,
        own_server: OwnServer,
        subtests: pytest.Subtests,
    ) -> None:
        """A site with a banner, where nobody may send more than two messages a minute."""
        own = {
            "PANEL": {
                "BANNER": {"text": "PRODUCTION", "level": "danger"},
                "DISCLAIMER": "Ask Ada if in doubt.",
            },
            "RATES": {"USER": "2/m"},
        }
        strict = own_server(env={"TESTS_SETTINGS": json.dumps(own)})
        panel = visit(strict).panel()
        with subtests.test("a banner, and a line that goes for good"):
            self.line_goes_for_good(panel)
        with subtests.test("a limit counts down and sends again"):
            self.limit_counts_down(panel, strict)

    def line_goes_for_good(self, panel: Panel) -> None:
        banner = panel.page.locator("#aia-banner [data-level=danger]")
        assert banner.inner_text() == "PRODUCTION"
        line = panel.page.locator("#aia-disclaimer")
        assert line.inner_text().strip() == "Ask Ada if in doubt."
        line.get_by_role("button").click()
        panel.wait(lambda: not line.count(), "no line")
        panel.reload()
        panel.input.wait_for()
        assert not line.count()
        assert banner.count() == 1

    def limit_counts_down(self, panel: Panel, strict: DemoServer) -> None:
        panel.ask_and_wait(HELLO)
        panel.ask_and_wait(HELLO)
        let_be_old(strict, LIMIT_S - LEFT_S)
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


class TestConnection:
    @pytest.mark.scenario(6)
    def test_lost_connection_says_when_it_is_tried_again_and_can_be_tried_at_once(
        self, visit: Visit, server: DemoServer, subtests: pytest.Subtests
    ) -> None:
        visitor = visit(server)
        panel = visitor.panel()
        panel.ask_and_wait(HELLO)
        panel.page.evaluate(OFFLINE)
        with subtests.test("what is sent meanwhile arrives"):
            self.sent_meanwhile_arrives(visitor, panel)
        with subtests.test("tried at once"):
            self.tried_at_once(visitor, panel)

    def sent_meanwhile_arrives(self, visitor: Visitor, panel: Panel) -> None:
        visitor.context.set_offline(True)
        said = panel.page.locator("#aia-conn")
        panel.wait_state("offline")
        panel.wait(
            lambda: "Offline, trying again in" in said.inner_text(), "a countdown"
        )
        panel.ask("Sent while offline")
        panel.page.locator(".aia-ghost").wait_for()
        assert panel.page.evaluate(GAP_PX) < 60  # below the answer, not below its room
        visitor.context.set_offline(False)
        panel.wait(lambda: panel.state != "offline", "a connection")
        panel.wait_done(2)
        assert [text.strip() for text in panel.asked()] == [HELLO, "Sent while offline"]
        assert said.inner_text() == ""

    def tried_at_once(self, visitor: Visitor, panel: Panel) -> None:
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

    @pytest.mark.scenario(5)
    def test_socket_that_its_server_closes_is_opened_again_or_says_why_not(
        self, regular: Visitor, tab: Panel, subtests: pytest.Subtests
    ) -> None:
        for code in share((1000, 1001, 1011, 1012, 1013), every=5):
            with subtests.test("opened again", code=code):
                opened = ending(tab, code)
                tab.goto()
                tab.ask_and_wait(HELLO)
                tab.wait(lambda seen=opened: len(seen) > 1, "another socket")
                answer = tab.answer().text.strip()
                assert answer == "Hello there, how can this help you?"
            tab.page.close()
            tab = regular.tab()

        for code, said in (
            (4401, "You are signed out."),
            (4403, "You have no access to this conversation."),
        ):
            with subtests.test("closed for good", code=code):
                opened = ending(tab, code)
                tab.goto()
                tab.root.get_by_text(said).first.wait_for()
                tab.page.wait_for_timeout(700)  # another try would have come by now
                assert len(opened) == 1
            tab.page.close()
            tab = regular.tab()


class TestSession:
    @pytest.mark.scenario(33)
    def test_session_that_expires_in_mid_answer_keeps_draft_and_answer(
        self,
        visit: Visit,
        server: DemoServer,
        model: ModelServerProcess,
        oracle: Oracle,
    ) -> None:
        hold = {"op": "hold", "name": "expires"}
        end = {"op": "story", "tokens": 60, "rate": 40}
        words = "It begins with these words, and then it waits. "
        model.script("expires", [[text(words), hold, end]])
        visitor = visit(server, fresh=True)
        panel = visitor.panel()
        panel.ask("[[script:expires]]")
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

        model.release("expires")
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
        assert len(said) > 60
        assert "".join(answer.text.split()) == "".join(said)


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
    def test_viewer_is_told_so_and_is_offered_and_can_call_nothing_that_writes(
        self,
        visit: Visit,
        server: DemoServer,
        model: ModelServerProcess,
        oracle: Oracle,
    ) -> None:
        model.script("by-viewer", [[call("change_object", RENAME)], [text("Tried.")]])
        panel = visit(server, "viewer").panel("/admin/questionnaires/section/")
        banner = panel.page.locator("#aia-banner")
        assert "You can view but not change Sections" in banner.inner_text()
        empty = panel.page.locator("#aia-empty")
        said = "On this page the assistant can look up Sections."
        assert said in empty.inner_text()

        panel.ask_and_wait("[[script:by-viewer]]")
        names = offered(model.requests()[-1])
        assert names & WRITING == set()
        assert "search_objects" in names
        assert panel.card("change_object").get_attribute("data-status") == "denied"
        changed = oracle.rows(
            "SELECT id FROM questionnaires_section WHERE title = %s", "By the viewer"
        )
        assert changed == []
