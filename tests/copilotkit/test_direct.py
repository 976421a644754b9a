"""`@ag-ui/client` 1.0 in a page of another origin, with a token."""

from urllib.parse import urlencode

import pytest

from tests.copilotkit.conftest import SCOPES
from tests.copilotkit.front import FrontServer, Reader
from tests.web.agui.site import Site, call, text

WISH = call("needs_approval", text="a wish")


def open_page(reader: Reader, front: FrontServer, site: Site, token: str) -> None:
    given = {"url": f"{site.server.url}/assistant/agui/", "token": token}
    reader.open(f"{front.url}/direct#{urlencode(given)}")


@pytest.fixture
def direct(reader: Reader, front: FrontServer, site: Site) -> Reader:
    open_page(reader, front, site, site.token(*SCOPES))
    return reader


def statuses(site: Site) -> list[str]:
    run = site.oracle.runs()[-1]["id"]
    return [one["status"] for one in site.oracle.calls(run)]


def started(site: Site) -> tuple[int, int]:
    """Return how many conversations and runs there are."""
    rows = site.count()
    return rows["conversations"], rows["runs"]


def say(reader: Reader, words: str) -> None:
    reader.page.locator("textarea").fill(words)
    reader.press("Send")


def result(reader: Reader) -> str:
    return reader.page.locator("[data-role=tool]").last.inner_text()


def test_tool_is_called_and_one_approved_and_one_denied(direct, site, subtests):
    with subtests.test("a tool of the site"):
        say(direct, site.script([call("echo", text="found")], [text("That was all.")]))
        direct.sees("That was all.")
        assert result(direct) == "found"

    with subtests.test("approved"):
        say(direct, site.script([WISH], [text("That is settled.")]))
        direct.sees("Approve “Needs approval”?")
        assert statuses(site) == ["waiting"]
        direct.press("Approve")
        direct.sees("That is settled.")
        assert (result(direct), statuses(site)) == ("Approved: a wish", ["complete"])

    with subtests.test("denied"):
        say(direct, site.script([WISH], [text("Then not.")]))
        direct.press("Deny")
        direct.sees("Then not.")
        assert statuses(site) == ["denied"]


def test_token_that_is_none(reader, front, site):
    before = started(site)
    open_page(reader, front, site, "aia_" + "x" * 43)

    say(reader, "Hello.")

    alert = reader.page.locator("[data-role=alert]")
    reader.on_page(alert)
    assert "signed_out" in alert.inner_text()
    assert started(site) == before
