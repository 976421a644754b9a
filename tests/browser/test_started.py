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
RENAME = call("change_object", {**SECTION, "values": {"title": "By night"}})
LAUNCHER = "#aia-launcher"


class Night:
    """A server on which a command asks for the admin, as cron does."""

    def __init__(self, server: DemoServer, model: ModelServerProcess) -> None:
        self.server = server
        self.oracle = Oracle(server.database_url)
        model.script("by-night", [[RENAME], [text("That is settled.")]])

    def ask(self) -> str:
        """Start a run that wants to change something; return it as it waits."""
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


def at(visit: Visit, night: Night, path: str = "/admin/") -> Panel:
    tab = visit(night.server).tab()
    tab.goto(path)
    return tab


class TestStarted:
    def test_launcher_of_any_page_leads_to_its_approval(
        self, night: Night, visit: Visit
    ) -> None:
        panel = at(visit, night)
        assert panel.root.get_attribute("data-busy") is None
        run, before = night.ask(), night.title()

        panel.goto("/admin/wiki/page/")
        assert panel.root.get_attribute("data-busy") == "wait"
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

    def test_open_panel_names_it_and_leads_there(
        self, night: Night, visit: Visit
    ) -> None:
        panel = at(visit, night)
        panel.open()
        panel.ask_and_wait("Hello.")
        before = panel.conversation
        run = night.ask()

        panel.reload()
        banner = panel.page.locator("#aia-banner")
        banner.get_by_text("waits for you").wait_for()
        assert panel.conversation == before
        banner.get_by_role("link", name="Show").click()
        panel.approval.wait_for()
        assert panel.conversation != before
        panel.deny("Not now")
        panel.wait_done()

        assert night.title() != "By night"
        assert night.state(run) == "succeeded"
        assert panel.page.get_by_text("waits for you").count() == 0
