"""A run that no tab has started: its person finds it, and answers it in the panel."""

import subprocess
from collections.abc import Callable

import pytest

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle
from tests.servers.process import ROOT, python

Visit = Callable[..., Visitor]
OwnServer = Callable[..., DemoServer]

pytestmark = pytest.mark.row("P05")
SECTION = {"model": "questionnaires.section", "id": 3}
LAUNCHER = "#aia-launcher"


class Night:
    """A server on which a command asks for the admin, as cron does."""

    def __init__(self, server: DemoServer, model: ModelServerProcess) -> None:
        self.server = server
        self.model = model
        self.oracle = Oracle(server.database_url)

    def ask(self, title: str) -> str:
        """Start a run that wants to rename a section; return it as it waits."""
        rename = call("change_object", {**SECTION, "values": {"title": title}})
        self.model.script("by-night", [[rename], [text("That is settled.")]])
        asked = subprocess.run(
            python(
                *("manage.py", "assistant_ask", "--user", "admin"),
                "Look over the sections. [[script:by-night]]",
            ),
            cwd=ROOT,
            env=self.server.env,
            capture_output=True,
            text=True,
            check=True,
        )
        run = asked.stdout.split()[-1]
        self.oracle.wait(lambda: self.state(run) == "waiting_approval")
        return run

    def state(self, run: str) -> str:
        return str(self.oracle.run(run)["state"])

    def title(self) -> str:
        statement = "SELECT title FROM questionnaires_section WHERE id = 3"
        return str(self.oracle.rows(statement)[0]["title"])


@pytest.fixture
def night(own_server: OwnServer, model: ModelServerProcess) -> Night:
    return Night(own_server(), model)


def test_launcher_of_any_page_and_an_open_panel_lead_to_what_waits(
    night: Night, visit: Visit, subtests: pytest.Subtests
) -> None:
    panel = visit(night.server).tab()
    panel.goto()
    assert panel.root.get_attribute("data-busy") is None
    with subtests.test("the launcher of any page leads to its approval"):
        launcher_leads_to_it(panel, night)
    with subtests.test("an open panel names it and leads there"):
        open_panel_names_it(panel, night)


def launcher_leads_to_it(panel: Panel, night: Night) -> None:
    run, before = night.ask("By night"), night.title()

    def busy() -> str | None:
        panel.goto("/admin/wiki/page/")
        return panel.root.get_attribute("data-busy")

    # The page before found no run of code, which a process believes for five seconds.
    night.oracle.wait(lambda: busy() == "wait", what="the launcher of a new page")
    launcher = panel.page.locator(LAUNCHER)
    assert "It is waiting for you." in launcher.inner_text()
    panel.open()
    panel.approval.wait_for()
    assert "Sent by code of this site" in panel.log.inner_text()
    assert panel.approval.locator("[name=for_run]").count() == 0
    assert night.title() == before
    panel.approve()
    panel.wait_done()
    assert night.title() == "By night"
    assert night.state(run) == "succeeded"
    panel.goto("/admin/")
    assert panel.root.get_attribute("data-unread") is None


def open_panel_names_it(panel: Panel, night: Night) -> None:
    panel.new_conversation()
    panel.ask_and_wait("Hello.")
    before = panel.conversation
    run = night.ask("By day")
    panel.reload()
    banner = panel.page.locator("#aia-banner")
    banner.get_by_text("waits for you").wait_for()
    assert panel.conversation == before
    banner.get_by_role("link", name="Show").click()
    panel.approval.wait_for()
    assert panel.conversation != before
    panel.deny("Not now")
    panel.wait_done()
    assert night.state(run) == "succeeded"
    status = panel.card("change_object").last.get_attribute("data-status")
    assert status == "denied"
    assert panel.page.get_by_text("waits for you").count() == 0
