"""A person looks at what the model is told, sends it, and nothing happens by it."""

import pytest
from playwright.sync_api import expect

from tests.browser.panel import Panel
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.oracle import Oracle

PATH = "/admin/wiki/page/1/change/"
ASKED = "Rename this chapter. [[script:dry-walk]]"
RENAME = {"model": "wiki.page", "id": 1, "values": {"title": "Renamed dry"}}
# What it might have stored. Rows of other tests come and go: a run that was left ends,
# and what was deleted goes when the time to undo it is over.
STORED = {
    "conversation": "SELECT id FROM ai_assistant_conversation",
    "run": "SELECT id FROM ai_assistant_run",
    "message": "SELECT id FROM ai_assistant_message WHERE parts LIKE '%dry-walk%'",
    "call": "SELECT id FROM ai_assistant_toolcall WHERE arguments LIKE '%Renamed dry%'",
}
TITLE = "SELECT title FROM wiki_page WHERE id = 1"


def stored(oracle: Oracle) -> set[tuple[str, str]]:
    return {
        (name, row["id"]) for name, ids in STORED.items() for row in oracle.rows(ids)
    }


@pytest.mark.row("B02")
def test_what_is_told_is_sent_and_its_calls_are_only_proposed(
    tab: Panel, model: ModelServerProcess, oracle: Oracle
) -> None:
    model.script("dry-walk", [[text("I would."), call("change_object", RENAME)]])
    page, content = tab.page, tab.page.locator("#content")
    before, title = stored(oracle), oracle.rows(TITLE)

    tab.goto("/admin/ai_assistant/")
    content.get_by_role("link", name="What the model is told").click()
    page.fill("#id_path", PATH)
    page.fill("#id_text", ASKED)
    with page.expect_navigation():
        content.get_by_role("button", name="Show").click()
    expect(content.get_by_role("heading", name="The prompt")).to_be_visible()
    expect(content).to_contain_text("Nothing has been sent.")
    assert [one for one in model.requests() if "dry-walk" in str(one)] == []

    with page.expect_navigation():
        content.get_by_role("button", name="Send it as a dry run").click()
    reply = content.locator("section", has_text="says first")
    expect(reply).to_contain_text("I would.")
    expect(reply.locator("details")).to_contain_text("change_object")
    expect(reply.locator("details")).to_contain_text("Renamed dry")
    (sent,) = [one for one in model.requests() if "dry-walk" in str(one)]
    assert sent["messages"][-1]["content"] == ASKED
    assert stored(oracle) - before == set()
    assert oracle.rows(TITLE) == title
