"""What a user has the assistant remember: asked first, and on a page of their own."""

import pytest

from tests.browser.panel import Panel
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text

pytestmark = pytest.mark.row("D16")
LIST = "/admin/ai_assistant/memory/"
SAID = "I write to customers in French."


def told(model: ModelServerProcess, marker: str) -> str:
    """Return the system prompt of the last request with this text."""
    answers = [one for one in model.requests() if one.get("tools")]  # not titles
    asked = [one for one in answers if marker in str(one)]
    return str(asked[-1]["messages"][0]["content"])


def test_memory_is_told_once_approved_changed_and_deleted_on_its_page(
    tab: Panel, model: ModelServerProcess
) -> None:
    given = [call("save_memory", {"text": SAID})]
    model.script("remembers", [given, [text("I will keep that in mind.")]])
    content = tab.page.locator("#content")
    tab.goto(LIST)
    tab.ask(f"Remember: {SAID} [[script:remembers]]")
    tab.approval.wait_for()
    assert SAID in tab.approval.inner_text()
    tab.reload()
    assert SAID not in content.inner_text()  # not before it was approved
    tab.approve()
    tab.wait_done()
    tab.new_conversation()
    tab.ask_and_wait("Hello, first time.")
    assert SAID in told(model, "Hello, first time.")

    tab.goto(LIST)
    content.get_by_role("link", name=SAID).click()
    tab.page.fill("#content [name=text]", "I write to customers in Welsh.")
    with tab.page.expect_navigation():
        tab.page.press("#content [name=text]", "Enter")
    tab.ready()
    tab.new_conversation()
    tab.ask_and_wait("Hello, second time.")
    assert "in Welsh." in told(model, "Hello, second time.")

    content.get_by_role("link", name="in Welsh").click()
    content.locator(".deletelink").click()  # of Django 6.1 it is a button
    with tab.page.expect_navigation():
        content.locator("input[type=submit]").click()
    tab.ready()
    tab.new_conversation()
    tab.ask_and_wait("Hello, third time.")
    assert "in Welsh." not in told(model, "Hello, third time.")
