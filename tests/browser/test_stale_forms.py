"""A form that is open while the assistant changes its object, in a real browser."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

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
    def test_field_follows_at_once_and_can_be_put_back(
        self, panel: Panel, section: Section
    ) -> None:
        panel.goto(section.path)
        old = panel.page.input_value("#id_title")

        panel.page.evaluate(LISTEN)
        section.rename(panel, "Sound sleep")

        expect(panel.page.locator("#id_title")).to_have_value("Sound sleep")
        expect(panel.page.locator("#content h2").first).to_have_text("Sound sleep")
        expect(panel.page.locator("#aia-context")).to_contain_text("Sound sleep")
        assert {"model": MODEL, "pk": str(section.id)} in panel.page.evaluate("heard")
        expect(panel.page.locator("#id_title")).to_have_class(re.compile("aia-changed"))
        expect(bar(panel)).to_be_hidden()
        panel.page.get_by_role("button", name=f"Put back: {old}").click()
        expect(panel.page.locator("#id_title")).to_be_focused()
        save(panel.page)
        assert section.title() == old

    def test_field_follows_a_second_change(
        self, panel: Panel, section: Section
    ) -> None:
        panel.goto(section.path)
        section.rename(panel, "One")
        expect(panel.page.locator("#id_title")).to_have_value("One")

        section.rename(panel, "Two")

        expect(panel.page.locator("#id_title")).to_have_value("Two")
        expect(panel.page.get_by_role("button", name="Put back: One")).to_be_visible()

    def test_words_of_the_person_stay_and_the_others_can_be_taken(
        self, panel: Panel, section: Section
    ) -> None:
        panel.goto(section.path)
        panel.page.fill("#id_title", "My own words")
        section.rename(panel, "Sore back")

        panel.page.get_by_role("button", name="Take: Sore back").click()

        assert panel.page.input_value("#id_title") == "Sore back"


class TestList:
    def test_row_follows_at_once(self, panel: Panel, section: Section) -> None:
        panel.goto(f"/admin/questionnaires/section/?id={section.id}")
        row = panel.page.locator("#result_list tbody tr")
        row.locator("input.action-select").check()

        section.rename(panel, "Sound sleep")

        expect(row).to_have_count(1)
        expect(row).to_contain_text("Sound sleep")
        expect(row).to_have_class(re.compile("aia-changed"))
        expect(row.locator("input.action-select")).to_be_checked()
        expect(bar(panel)).to_be_hidden()

    def test_row_that_fits_no_more_goes(self, panel: Panel, section: Section) -> None:
        section.rename(panel, "Zebra")
        panel.goto("/admin/questionnaires/section/?q=Zebra")
        others = panel.page.locator("#result_list tbody tr").count()

        section.rename(panel, "Sound sleep")

        if others > 1:
            expect(panel.page.locator("#result_list tbody tr")).to_have_count(
                others - 1
            )
        else:  # a list without rows is another page
            expect(bar(panel)).to_be_visible()


class TestBar:
    def test_bar_asks_before_it_loses_what_was_entered(
        self, panel: Panel, section: Section
    ) -> None:
        panel.goto(section.path)
        panel.page.fill("#id_position", "77")
        panel.page.evaluate(ONE_FIELD_MORE)
        section.rename(panel, "Rest")

        bar(panel).get_by_role("button", name="Reload the page").click()
        keep = bar(panel).get_by_role("button", name="Keep editing")
        expect(keep).to_be_focused()
        keep.click()
        assert panel.page.input_value("#id_position") == "77"
        bar(panel).get_by_role("button", name="Reload the page").click()
        with panel.page.expect_navigation():
            bar(panel).get_by_role("button", name="Reload anyway").click()

        panel.ready()
        assert panel.page.input_value("#id_title") == "Rest"
        assert panel.page.input_value("#id_position") != "77"

    def test_form_that_cannot_follow_loads_the_page_anew(
        self, panel: Panel, section: Section
    ) -> None:
        panel.goto(section.path)
        expect(bar(panel)).to_be_hidden()
        panel.page.evaluate(ONE_FIELD_MORE)

        section.rename(panel, "Sound sleep")

        expect(bar(panel)).to_be_visible()
        assert "This section has changed since you opened the page." in (
            bar(panel).inner_text()
        )
        assert panel.page.input_value("#id_title") != "Sound sleep"
        with panel.page.expect_navigation():
            bar(panel).get_by_role("button", name="Reload the page").click()
        panel.ready()
        assert panel.page.input_value("#id_title") == "Sound sleep"
        expect(bar(panel)).to_be_hidden()

    def test_each_tab_of_the_object_follows_and_no_other(
        self, panel: Panel, section: Section, oracle: Oracle
    ) -> None:
        panel.goto(section.path)
        same, other = (Panel(panel.page.context.new_page(), panel.url) for _ in "ab")
        same.goto(section.path)
        same.open()
        rows = oracle.rows(DRAFTS)
        other.goto(f"/admin/questionnaires/section/{rows[-1]['id']}/change/")
        other.open()
        panel.page.bring_to_front()

        section.rename(panel, "Night")

        for tab in (panel, same):
            expect(tab.page.locator("#id_title")).to_have_value("Night")
        other.wait(lambda: "It is renamed." in other.log.inner_text(), "the answer")
        expect(bar(other)).to_be_hidden()

    def test_where_there_is_no_socket(
        self, visit: Visit, server: DemoServer, section: Section
    ) -> None:
        with Proxy(server.port) as proxy:
            proxy.refuses_sockets = True
            panel = visit(server, url=proxy.url).panel(section.path)

            section.rename(panel, "Dream")

            expect(panel.page.locator("#id_title")).to_have_value("Dream")

    def test_panel_that_is_opened_later(
        self, panel: Panel, section: Section, visit: Visit, server: DemoServer
    ) -> None:
        late = Panel(panel.page.context.new_page(), panel.url)
        panel.goto(section.path)
        panel.page.locator("#aia-close").click()
        late.goto(section.path)
        panel.open()
        section.rename(panel, "Morning")

        late.open()

        expect(late.page.locator("#id_title")).to_have_value("Morning")


class TestSave:
    def test_value_of_the_assistant_is_taken(
        self, panel: Panel, section: Section
    ) -> None:
        panel.goto(section.path)
        panel.page.fill("#id_position", "55")
        panel.page.evaluate(ONE_FIELD_MORE)
        section.rename(panel, "Exercise")

        save(panel.page)
        asked = panel.page.locator("#content")
        assert "Exercise" in asked.inner_text()
        expect(asked.locator("[value=take]")).to_be_checked()
        save(panel.page)

        assert "was changed successfully" in panel.page.inner_text(".messagelist")
        assert section.title() == "Exercise"

    def test_value_of_the_person_is_kept(self, panel: Panel, section: Section) -> None:
        panel.goto(section.path)
        panel.page.fill("#id_title", "My own words")
        section.rename(panel, "Exercise")

        save(panel.page)
        expect(panel.page.locator("#content [value=keep]")).to_be_checked()
        save(panel.page)

        assert section.title() == "My own words"

    def test_save_without_script(
        self, visit: Visit, server: DemoServer, panel: Panel, section: Section
    ) -> None:
        plain = visit(server, java_script_enabled=False).tab().page
        plain.goto(f"{server.url}{section.path}")
        section.rename(panel, "Walking")

        plain.fill("#id_position", "44")
        save(plain)
        assert "Walking" in plain.inner_text("#content")
        save(plain)

        assert "was changed successfully" in plain.inner_text(".messagelist")
        assert section.title() == "Walking"
