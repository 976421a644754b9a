"""Links in answers: the card of an object, and a page with unsaved work."""

import pytest
from playwright.sync_api import Request, expect

from tests.browser.panel import Panel
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import text

LIST = "/admin/questionnaires/questionnaire/"
OBJECT = f"{LIST}4/change/"
TOLD = f"See [that one]({OBJECT}) and [all of them]({LIST})."
CARD = "#aia-object"
ASKED = "/assistant/object/"


@pytest.fixture(scope="module", autouse=True)
def scripts(model: ModelServerProcess) -> None:
    model.script("linked", [[text(TOLD)]])


@pytest.fixture
def asked(tab: Panel) -> list[Request]:
    """The requests for cards, as they are sent."""
    found: list[Request] = []
    tab.page.on("request", lambda one: found.append(one) if ASKED in one.url else None)
    tab.goto(f"{LIST}add/")
    tab.ask_and_wait("[[script:linked]]")
    return found


@pytest.mark.row("ui 22", "ui 68")
def test_link_shows_a_card_and_leads_on_unless_work_is_unsaved(
    tab: Panel, asked: list[Request], subtests: pytest.Subtests
) -> None:
    with subtests.test("a card by pointer and keyboard"):
        card_is_asked_for(tab, asked)
    with subtests.test("asked about unsaved work, and opened in a new tab"):
        opened_in_a_new_tab(tab)
    link = tab.log.get_by_role("link", name="that one")
    with subtests.test("the page is left when the person says so"):
        link.click()
        with tab.page.expect_navigation():
            tab.page.get_by_role("link", name="Leave the page").click()
        tab.ready()
        assert tab.page.url.endswith(OBJECT)

    with subtests.test("without unsaved work it leads on"):
        with tab.page.expect_navigation():
            tab.log.get_by_role("link", name="all of them").click()
        assert tab.page.url.endswith(LIST)


def card_is_asked_for(tab: Panel, asked: list[Request]) -> None:
    tab.log.get_by_role("link", name="all of them").hover()
    tab.page.wait_for_timeout(500)  # longer than a card takes
    assert asked == []  # a list has none

    link = tab.log.get_by_role("link", name="that one")
    link.hover()
    card = tab.page.locator(CARD)
    expect(card).to_be_visible()
    expect(card).to_contain_text("Status")
    assert len(asked) == 1
    card.hover()
    tab.page.wait_for_timeout(400)  # longer than it stays without
    expect(card).to_be_visible()
    tab.input.hover()
    expect(card).not_to_be_visible()

    link.focus()
    expect(card).to_be_visible()
    said = card.inner_text().replace("\n", " ")
    expect(link).to_have_accessible_description(said)
    tab.page.keyboard.press("Escape")
    expect(card).not_to_be_visible()
    expect(link).to_be_focused()


def opened_in_a_new_tab(tab: Panel) -> None:
    tab.page.fill("#id_title", "Not saved yet")
    link = tab.log.get_by_role("link", name="that one")
    link.click()
    new = tab.page.get_by_role("link", name="Open in a new tab")
    expect(new).to_be_focused()
    with tab.page.expect_popup() as opened:
        new.click()
    assert opened.value.url.endswith(OBJECT)
    assert tab.page.url.endswith("/add/")
    assert tab.page.input_value("#id_title") == "Not saved yet"
    expect(link).to_be_focused()
    opened.value.close()
