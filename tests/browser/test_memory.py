"""What a user has the assistant remember: asked first, and on a page of their own."""

from collections.abc import Callable

import pytest

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
OwnServer = Callable[..., DemoServer]

pytestmark = pytest.mark.row("D16")
LIST = "/admin/ai_assistant/memory/"
SAID = "I write to customers in French."


@pytest.fixture
def panel(own_server: OwnServer, model: ModelServerProcess, visit: Visit) -> Panel:
    model.script(
        "remembers",
        [[call("save_memory", {"text": SAID})], [text("I will keep that in mind.")]],
    )
    tab = visit(own_server()).tab()
    tab.goto(LIST)
    tab.open()
    return tab


def told(model: ModelServerProcess, marker: str) -> str:
    """Return the system prompt of the last request with this text."""
    answers = [one for one in model.requests() if one.get("tools")]  # not titles
    asked = [one for one in answers if marker in str(one)]
    return str(asked[-1]["messages"][0]["content"])


class TestMemory:
    def test_is_kept_once_it_was_approved_and_told_from_then_on(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        content = panel.page.locator("#content")
        panel.ask(f"Remember: {SAID} [[script:remembers]]")
        panel.approval.wait_for()
        assert SAID in panel.approval.inner_text()
        panel.reload()
        assert SAID not in content.inner_text()  # not before it was approved
        panel.open()
        panel.approve()
        panel.wait_done()

        panel.goto(LIST)
        content.get_by_role("link", name=SAID).wait_for()
        panel.open()
        panel.new_conversation()
        panel.ask("Hello, first time.")
        panel.wait_done()
        assert SAID in told(model, "Hello, first time.")

    def test_is_changed_and_deleted_on_its_page(
        self, panel: Panel, model: ModelServerProcess
    ) -> None:
        page, content = panel.page, panel.page.locator("#content")
        panel.ask(f"Remember: {SAID} [[script:remembers]]")
        panel.approval.wait_for()
        panel.approve()
        panel.wait_done()

        panel.goto(LIST)
        content.get_by_role("link", name=SAID).click()
        page.fill("#content [name=text]", "I write to customers in Welsh.")
        with page.expect_navigation():
            page.press("#content [name=text]", "Enter")
        panel.ready()
        panel.open()
        panel.new_conversation()
        panel.ask("Hello, second time.")
        panel.wait_done()
        assert "in Welsh." in told(model, "Hello, second time.")

        panel.goto(LIST)
        content.get_by_role("link", name="in Welsh").click()
        content.get_by_role("link", name="Delete").click()
        content.locator("input[type=submit]").click()
        panel.ready()
        panel.open()
        panel.new_conversation()
        panel.ask("Hello, third time.")
        panel.wait_done()
        assert "in Welsh." not in told(model, "Hello, third time.")
