"""A form that is open while the assistant changes its object, in a real browser."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.flashes import keep_shown
from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle
from tests.servers.proxy import Proxy

Visit = Callable[..., Visitor]

pytestmark = pytest.mark.row("K01")
MODEL = "questionnaires.section"
ASK = "Rename it. [[script:stale]]"
DRAFTS = """SELECT section.id FROM questionnaires_section section
  JOIN questionnaires_questionnaire owner ON owner.id = section.questionnaire_id
  WHERE owner.status = 'draft' ORDER BY section.id"""


# What scripts of a site do to a form, so that it cannot follow.
ONE_FIELD_MORE = """() => {
  const field = document.createElement("input");
  field.name = "one_more";
  document.querySelector("#section_form").append(field);
}"""

LISTEN = (
    "() => document.addEventListener('aia:changed', (e) => window.heard = e.detail)"
)


class Section:
    """A section that the assistant renames, and no other test."""

    taken = 0

    def __init__(self, oracle: Oracle, model: ModelServerProcess) -> None:
        self.oracle, self.model = oracle, model
        self.id = oracle.rows(DRAFTS)[Section.taken]["id"]
        Section.taken += 1
        self.path = f"/admin/questionnaires/section/{self.id}/change/"

    def title(self) -> str:
        (row,) = self.oracle.rows(
            "SELECT title FROM questionnaires_section WHERE id = %s", self.id
        )
        return str(row["title"])

    def rename(self, panel: Panel, title: str) -> None:
        """Let the assistant rename it; the person approves."""
        given = {"model": MODEL, "id": self.id, "values": {"title": title}}
        answer = [text("It is renamed.")]
        self.model.script("stale", [[call("change_object", given)], answer])
        panel.ask(ASK)
        panel.wait_state("waiting-approval")
        panel.approve()
        panel.wait_state("idle")
        assert self.title() == title


@pytest.fixture
def section(oracle: Oracle, model: ModelServerProcess) -> Iterator[Section]:
    yield Section(oracle, model)
    model.script("stale", [[text("Nothing.")]])


def bar(panel: Panel) -> Locator:
    return panel.page.locator(".aia-stale")


def save(page: Page) -> None:
    with page.expect_navigation():
        page.locator("#content [type=submit]").first.click()


class TestForm:
    @pytest.mark.smoke
    def test_field_follows_at_once_again_and_can_be_put_back(
        self, tab: Panel, section: Section
    ) -> None:
        tab.goto(section.path)
        tab.page.evaluate(LISTEN)
        keep_shown(tab.page, "follow.js")
        section.rename(tab, "Sound sleep")

        field = tab.page.locator("#id_title")
        expect(field).to_have_value("Sound sleep")
        expect(tab.page.locator("#content h2").first).to_have_text("Sound sleep")
        expect(tab.page.locator("#aia-context")).to_contain_text("Sound sleep")
        assert {"model": MODEL, "pk": str(section.id)} in tab.page.evaluate("heard")
        expect(field).to_have_class(re.compile("aia-changed"))
        expect(bar(tab)).to_be_hidden()

        section.rename(tab, "Two")
        expect(field).to_have_value("Two")
        tab.page.get_by_role("button", name="Put back: Sound sleep").click()
        expect(field).to_be_focused()
        save(tab.page)
        assert section.title() == "Sound sleep"

    def test_words_of_the_person_stay_until_the_others_are_taken(
        self, tab: Panel, section: Section
    ) -> None:
        tab.goto(section.path)
        tab.page.fill("#id_title", "My own words")
        section.rename(tab, "Sore back")
        tab.page.get_by_role("button", name="Take: Sore back").click()
        assert tab.page.input_value("#id_title") == "Sore back"

        tab.page.fill("#id_title", "My own words")
        section.rename(tab, "Exercise")
        save(tab.page)
        expect(tab.page.locator("#content [value=keep]")).to_be_checked()
        save(tab.page)
        assert section.title() == "My own words"

    def test_form_that_cannot_follow_is_loaded_anew_or_asks_when_it_is_saved(
        self, tab: Panel, section: Section, subtests: pytest.Subtests
    ) -> None:
        tab.goto(section.path)
        expect(bar(tab)).to_be_hidden()
        tab.page.evaluate(ONE_FIELD_MORE)
        section.rename(tab, "Sound sleep")
        with subtests.test("untouched, it is loaded anew"):
            self.untouched_is_loaded_anew(tab)

        tab.page.fill("#id_position", "77")
        tab.page.evaluate(ONE_FIELD_MORE)
        section.rename(tab, "Rest")
        with subtests.test("what was entered is not lost without a word"):
            self.entered_is_asked_about(tab)

        tab.page.fill("#id_position", "55")
        tab.page.evaluate(ONE_FIELD_MORE)
        section.rename(tab, "Movement")
        with subtests.test("saved, the page asks whose value is to be"):
            save(tab.page)
            asked = tab.page.locator("#content")
            assert "Movement" in asked.inner_text()
            expect(asked.locator("[value=take]")).to_be_checked()
            save(tab.page)
            assert "was changed successfully" in tab.page.inner_text(".messagelist")
            assert section.title() == "Movement"

    def untouched_is_loaded_anew(self, tab: Panel) -> None:
        expect(bar(tab)).to_be_visible()
        said = "This section has changed since you opened the page."
        assert said in bar(tab).inner_text()
        assert tab.page.input_value("#id_title") != "Sound sleep"
        with tab.page.expect_navigation():
            bar(tab).get_by_role("button", name="Reload the page").click()
        tab.ready()
        assert tab.page.input_value("#id_title") == "Sound sleep"
        expect(bar(tab)).to_be_hidden()

    def entered_is_asked_about(self, tab: Panel) -> None:
        bar(tab).get_by_role("button", name="Reload the page").click()
        keep = bar(tab).get_by_role("button", name="Keep editing")
        expect(keep).to_be_focused()
        keep.click()
        assert tab.page.input_value("#id_position") == "77"
        bar(tab).get_by_role("button", name="Reload the page").click()
        with tab.page.expect_navigation():
            bar(tab).get_by_role("button", name="Reload anyway").click()
        tab.ready()
        assert tab.page.input_value("#id_title") == "Rest"
        assert tab.page.input_value("#id_position") != "77"


class TestList:
    def test_row_follows_at_once_and_goes_when_it_fits_no_more(
        self, tab: Panel, section: Section
    ) -> None:
        tab.goto(f"/admin/questionnaires/section/?id={section.id}")
        keep_shown(tab.page, "follow.js")
        row = tab.page.locator("#result_list tbody tr")
        row.locator("input.action-select").check()
        section.rename(tab, "Zebra")
        expect(row).to_have_count(1)
        expect(row).to_contain_text("Zebra")
        expect(row).to_have_class(re.compile("aia-changed"))
        expect(row.locator("input.action-select")).to_be_checked()
        expect(bar(tab)).to_be_hidden()

        tab.goto("/admin/questionnaires/section/?q=Zebra")
        others = row.count() - 1
        section.rename(tab, "Sound sleep")
        if others:
            expect(row).to_have_count(others)
        else:  # a list without rows is another page
            expect(bar(tab)).to_be_visible()


class TestTabs:
    def test_each_tab_of_the_object_follows_also_one_opened_later_and_no_other(
        self, regular: Visitor, tab: Panel, section: Section, oracle: Oracle
    ) -> None:
        same, other, late = (regular.tab() for _ in "abc")
        tab.goto(section.path)
        same.goto(section.path)
        other.goto(
            f"/admin/questionnaires/section/{oracle.rows(DRAFTS)[-1]['id']}/change/"
        )
        tab.page.locator("#aia-close").click()
        late.goto(section.path)
        tab.page.bring_to_front()
        tab.open()
        section.rename(tab, "Night")

        for one in (tab, same):
            expect(one.page.locator("#id_title")).to_have_value("Night")
        other.wait(lambda: "It is renamed." in other.log.inner_text(), "the answer")
        expect(bar(other)).to_be_hidden()
        late.open()
        expect(late.page.locator("#id_title")).to_have_value("Night")

    def test_form_follows_where_there_is_no_socket(
        self, visit: Visit, server: DemoServer, section: Section
    ) -> None:
        with Proxy(server.port) as proxy:
            proxy.refuses_sockets = True
            panel = visit(server, url=proxy.url).panel(section.path)

            section.rename(panel, "Dream")

            expect(panel.page.locator("#id_title")).to_have_value("Dream")
