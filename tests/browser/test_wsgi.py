"""A site served by WSGI: the panel polls, and `runworker` executes."""

from collections.abc import Callable

import pytest

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]


@pytest.mark.scenario(24)
def test_chat_is_complete_without_asgi(
    own_server: Callable[..., DemoServer], visit: Visit
) -> None:
    server = own_server(wsgi=True, executor="worker", provider="plain", env={})
    worker = server.worker()
    worker.start()
    panel: Panel = visit(server).tab()
    panel.goto("/admin/questionnaires/")
    panel.open()

    panel.ask("[[script:approval]]")
    # The worker may still be starting.
    panel.wait_state("waiting-approval", seconds=90)
    panel.approve()

    panel.wait(lambda: panel.state == "idle", "the end")
    assert "That is settled." in panel.log.inner_text()
    assert panel.log.inner_text().count("[[script:approval]]") == 1
