"""A conversation is shared in one browser, and read in that of a colleague."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.flashes import keep_shown
from tests.browser.panel import Panel
from tests.browser.test_drawer import entry
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
PHONE = {"viewport": {"width": 320, "height": 640}, "has_touch": True}
# How far the second of two buttons stands below the first one.
BELOW = """([first, second]) =>
  second.getBoundingClientRect().top - first.getBoundingClientRect().bottom"""

pytestmark = pytest.mark.row("D15")


@pytest.fixture
def told(model: ModelServerProcess) -> str:
    """Return a message after which two tools are called, of which one is the site's."""
    wiki = call("search_objects", {"model": "wiki.page"})
    counted = call("count_questions", index=1)
    model.script("sharing", [[wiki, counted], [text("There are pages.")]])
    return "Look around [[script:sharing]]"


@pytest.fixture
def owner(visit: Visit, server: DemoServer) -> Panel:
    visitor = visit(server, "editor")
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return visitor.panel()


def dialog(panel: Panel) -> Locator:
    return panel.page.locator("dialog[open]")


def test_link_is_made_by_keys_copied_read_and_ended(
    owner: Panel, told: str, visit: Visit, server: DemoServer
) -> None:
    owner.ask_and_wait(told)
    owner.list_conversations()
    own = entry(owner, owner.conversation)
    own.get_by_role("button", name="More for").press("Enter")
    own.get_by_role("link", name="Share", exact=True).press("Enter")
    days = dialog(owner).get_by_role("combobox")
    expect(days).to_be_focused()
    days.select_option("7")
    dialog(owner).get_by_role("button", name="Make a link").press("Enter")
    expect(dialog(owner).get_by_text("The link expires:")).to_be_visible()

    copy = dialog(owner).get_by_role("button", name="Copy")
    expect(copy).to_be_focused()
    keep_shown(owner.page, "copy.js")
    copy.click()
    expect(dialog(owner).get_by_role("button", name="Copied")).to_be_visible()
    link = owner.page.evaluate("navigator.clipboard.readText()")
    assert re.fullmatch(rf"{server.url}/assistant/shared/aia_\S{{43}}/", link)
    expect(own.get_by_text("Shared")).to_be_visible()
    expect(owner.page.locator("#aia-shared")).to_have_text("Shared")

    colleague = visit(server, "viewer")
    page = colleague.context.new_page()
    page.goto(link)
    expect(page.get_by_text("There are pages.")).to_be_visible()
    page.get_by_text("Looked at 2 things").click()
    for card in page.locator(".aia-tool summary").all():
        card.click()
    expect(page.get_by_role("table").get_by_role("link").first).to_be_visible()
    expect(page.get_by_text("You may not see this.")).to_have_count(1)
    assert page.locator("#aia :is(button, form, input, textarea)").count() == 0

    dialog(owner).get_by_role("button", name="Stop sharing").click()
    expect(dialog(owner).get_by_text("The link no longer works")).to_be_visible()
    expect(own.get_by_text("Shared")).to_have_count(0)
    expect(owner.page.locator("#aia-shared")).to_have_text("")
    assert colleague.context.request.get(link).status == 404

    owner.page.keyboard.press("Escape")
    expect(dialog(owner)).to_have_count(0)
    expect(own.get_by_role("button")).to_be_focused()


def test_buttons_that_do_not_fit_beside_each_other_stand_apart(
    visit: Visit, server: DemoServer
) -> None:
    """As those of German on a small phone."""
    panel = visit(server, "editor", locale="de", **PHONE).panel()
    panel.ask_and_wait("[[script:hello]]")
    for way in (
        "#aia-list",
        "#aia-history li > [popovertarget]",
        "#aia-history [popover] a[href*='/share/']",
        "#aia-share [value=share]",
    ):
        panel.page.locator(way).first.click()
    panel.page.locator("#aia-share pre").wait_for()
    assert panel.page.locator("#aia-share [name=do]").evaluate_all(BELOW) >= 8
