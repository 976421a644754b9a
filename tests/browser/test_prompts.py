"""What the model was told of a past message, and what it would be told of the next."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.panel import Panel
from tests.browser.test_axe import faults
from tests.browser.visitor import Visitor
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]

pytestmark = pytest.mark.row("I03", "B02")
LIST = "/admin/auth/group/"


def unfold(page: Page, part: str) -> str:
    """Open a part of a prompt; return its words."""
    fold = page.locator("#aia-whole details", has=page.get_by_text(part, exact=True))
    fold.first.locator("summary").click()
    return fold.first.locator("pre").inner_text()


def test_prompt_of_a_past_step_and_of_the_next_message(panel: Panel) -> None:
    panel.goto(LIST)
    panel.open()
    panel.ask_and_wait("[[script:hello]]")

    panel.log.locator("[popovertarget$=-more]").click()
    with panel.page.expect_popup() as popup:
        panel.page.get_by_role("link", name="Show raw").click()
    raw = popup.value
    expect(raw.locator("h1", has_text="How this answer was made")).to_be_visible()
    expect(raw.locator("h3", has_text="Prompt of model call 1")).to_be_visible()
    assert "Django" in unfold(raw, "identity")
    assert faults(raw, "#aia-whole") == []

    raw.get_by_role("link", name="Prompt of the next message on this page").click()
    expect(raw.locator("h1", has_text="Prompt of the next message")).to_be_visible()
    assert LIST in raw.locator("h2", has_text="/admin/").inner_text()
    assert "Django" in unfold(raw, "identity")
    assert "search_objects" in unfold(raw, "Tools")
    assert faults(raw, "#aia-whole") == []


def test_table_of_model_calls_has_the_width_of_the_page(
    visit: Visit, server: DemoServer
) -> None:
    """It is wider than a line of text, above all in German."""
    wide = {"width": 1920, "height": 900}
    panel = visit(server, locale="de", viewport=wide).panel(LIST)
    panel.ask_and_wait("[[script:hello]]")
    link = panel.log.locator(".aia-menu a[href*='/raw/']")
    panel.goto(link.get_attribute("href") or "")

    table = panel.page.locator("#aia-whole .aia-wide").first
    assert table.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    words = panel.page.locator("#aia-whole > pre").first
    assert words.evaluate("box => box.clientWidth") < 800
