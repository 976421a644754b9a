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
def asked(panel: Panel) -> list[Request]:
    """The requests for cards, as they are sent."""
    found: list[Request] = []
    panel.page.on(
        "request", lambda one: found.append(one) if ASKED in one.url else None
    )
    panel.ask_and_wait("[[script:linked]]")
    return found


@pytest.mark.row("ui 22")
class TestCard:
    def test_card_is_asked_for_by_pointer_and_keyboard(
        self, panel: Panel, asked: list[Request]
    ) -> None:
        panel.log.get_by_role("link", name="all of them").hover()
        panel.page.wait_for_timeout(600)  # longer than a card takes
        assert asked == []  # a list has none

        panel.log.get_by_role("link", name="that one").hover()
        card = panel.page.locator(CARD)
        expect(card).to_be_visible()
        expect(card).to_contain_text("Status")
        assert len(asked) == 1
        card.hover()
        panel.page.wait_for_timeout(400)  # longer than it stays without
        expect(card).to_be_visible()
        panel.input.hover()

        expect(card).not_to_be_visible()

        link = panel.log.get_by_role("link", name="that one")
        link.focus()
        expect(card).to_be_visible()
        expect(link).to_have_accessible_description(
            card.inner_text().replace("\n", " "), timeout=5000
        )
        panel.page.keyboard.press("Escape")

        expect(card).not_to_be_visible()
        expect(link).to_be_focused()


@pytest.mark.row("ui 68")
class TestUnsavedWork:
    def test_link_leads_on_or_asks_about_unsaved_work(self, panel: Panel) -> None:
        panel.goto(f"{LIST}add/")
        panel.ask_and_wait("[[script:linked]]")
        link = panel.log.get_by_role("link", name="that one")
        with panel.page.expect_navigation():
            link.click()
        assert panel.page.url.endswith(OBJECT)

        panel.goto(f"{LIST}add/")
        panel.page.fill("#id_title", "Not saved yet")
        link.click()
        tab = panel.page.get_by_role("link", name="Open in a new tab")
        expect(tab).to_be_focused()
        with panel.page.expect_popup() as opened:
            tab.click()

        assert opened.value.url.endswith(OBJECT)
        assert panel.page.url.endswith("/add/")
        assert panel.page.input_value("#id_title") == "Not saved yet"
        expect(link).to_be_focused()

        link.click()
        with panel.page.expect_navigation():
            panel.page.get_by_role("link", name="Leave the page").click()

        assert panel.page.url.endswith(OBJECT)
