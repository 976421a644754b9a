"""The preview of a row of configuration follows what is typed."""

import pytest
from playwright.sync_api import expect

from tests.browser.panel import Panel

pytestmark = pytest.mark.row("C11")


def test_preview_stands_below_the_text_and_follows_it(tab: Panel) -> None:
    tab.goto("/admin/ai_assistant/skill/add/")
    shown = tab.page.locator(".aia-preview-shown")

    tab.page.fill("#id_body", "Look at **open** orders.")

    expect(shown.locator("strong")).to_have_text("open")
    assert tab.page.locator("[data-aia-preview] button").count() == 0
    following = tab.page.locator("fieldset:has(#id_body) + [data-aia-preview]")
    assert following.count() == 1
