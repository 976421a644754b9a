"""A site served by WSGI: the panel polls, and `runworker` executes."""

from collections.abc import Callable

import pytest

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.servers.app import DemoServer

TRIES = 3  # of a socket, at most, while the server is asked whether it has any
Visit = Callable[..., Visitor]
# What the dot of a panel is that is ready, and what it is now.
COLOURS = """() => { const colour = (dot) => getComputedStyle(dot).backgroundColor;
  const ready = document.createElement("i"); ready.style.background = "var(--aia-ok)";
  document.getElementById("aia").append(ready);
  const found = [ready, document.querySelector("#aia .aia-dot")].map(colour);
  ready.remove(); return found; }"""


@pytest.mark.scenario(24)
def test_chat_is_complete_without_asgi_and_a_socket_is_tried_no_more(
    own_server: Callable[..., DemoServer], visit: Visit
) -> None:
    server = own_server(wsgi=True, executor="worker", env={})
    worker = server.worker()
    worker.start()
    panel: Panel = visit(server).tab()
    tried: list[str] = []
    panel.page.on("websocket", lambda socket: tried.append(socket.url))
    panel.goto("/admin/questionnaires/")
    panel.open()
    panel.ask("[[script:approval]]")
    # The worker may still be starting.
    panel.wait_state("waiting-approval")
    panel.approve()
    panel.wait(lambda: panel.state == "idle", "the end")
    assert "That is settled." in panel.log.inner_text()
    assert panel.log.inner_text().count("[[script:approval]]") == 1

    panel.page.wait_for_function("() => document.cookie.includes('aia_ws')")
    seen = len(tried)
    with panel.page.expect_response(lambda answer: "/frames/" in answer.url):
        panel.goto("/admin/questionnaires/")
        panel.open()
    assert seen <= TRIES
    assert len(tried) == seen


@pytest.mark.scenario(24)
def test_site_on_which_nothing_works_says_so_once_and_is_not_ready(
    own_server: Callable[..., DemoServer], visit: Visit
) -> None:
    server = own_server(wsgi=True, executor="web", env={})
    panel: Panel = visit(server).tab()
    panel.goto("/admin/questionnaires/")
    panel.open()
    banner = panel.page.locator("#aia-banner")
    assert "no process of this site answers them" in banner.inner_text()
    panel.ask("Hello there")
    notice = panel.page.locator("#aia-notice")
    panel.wait(lambda: "cannot be sent" in notice.inner_text(), "the sentence")
    assert panel.page.locator("#aia-input").input_value() == "Hello there"
    assert panel.state == "idle"

    ready, dot = panel.page.evaluate(COLOURS)
    assert dot != ready
    assert notice.bounding_box()["height"] <= 1  # type: ignore[index]
    banner.evaluate("banner => banner.remove()")
    assert notice.bounding_box()["height"] > 1  # type: ignore[index]
    assert panel.page.evaluate(COLOURS)[1] == dot
