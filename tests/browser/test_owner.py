"""A person with only the admin sets the assistant up, and takes it to another site."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, status, text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]

PAGE = "/admin/wiki/page/1/change/"
GROUP = "Readers"
TOOLS = ("search_objects", "get_object", "change_object")
WORDS = "Speak of chapters, never of sections."
ASKED = "Sum up this chapter. [[script:sum]]"
SETTINGS = {"MODEL_HOSTS": ["127.0.0.1"]}


def told(model: ModelServerProcess, marker: str) -> dict[str, Any]:
    """Return the last request with tools in which this stands."""
    asked = [one for one in model.requests() if one.get("tools") and marker in str(one)]
    return dict(asked[-1])


def save(page: Page, name: str = "_save") -> None:
    with page.expect_navigation():
        page.locator(f"#content [name={name}]").first.click()


def add_group(panel: Panel) -> None:
    panel.goto("/admin/auth/group/add/")
    panel.page.fill("#content [name=name]", GROUP)
    save(panel.page)


class Owner:
    """The owner of a site, in its admin."""

    def __init__(self, panel: Panel) -> None:
        self.panel, self.page = panel, panel.page

    def fill(self, kind: str, **values: str) -> None:
        """Fill in the form of a new row."""
        self.panel.goto(f"/admin/ai_assistant/{kind}/add/")
        for name, value in values.items():
            field = self.page.locator(f"#content [name={name}]").first
            if field.evaluate("one => Boolean(one.options)"):
                field.select_option(label=value)
            else:
                field.fill(value)

    def add(self, kind: str, **values: str) -> None:
        self.fill(kind, **values)
        save(self.page)
        expect(self.page.locator(".messagelist .success")).to_be_visible()


@pytest.mark.row("M01", "I03", "C11", "U07")
@pytest.mark.timeout(300)
def test_site_is_set_up_in_the_admin_and_taken_elsewhere(  # noqa: PLR0915 - one story
    own_server: Callable[..., DemoServer],
    visit: Visit,
    model: ModelServerProcess,
    tmp_path: Path,
    subtests: pytest.Subtests,
) -> None:
    env = {"TESTS_SETTINGS": json.dumps(SETTINGS), "ASSISTANT_API_KEY": ""}
    server = own_server(env=env)
    panel = visit(server).panel(PAGE)
    owner, page = Owner(panel), panel.page
    content = page.locator("#content")

    with subtests.test("a wrong key is told, and mended"):
        model.script("default", [[status(401, "Incorrect API key provided.")]])
        owner.fill(
            "profile", name="default", model="openai/scripted", api_base=model.base
        )
        page.fill("[name=api_key]", "sk-wrong")
        for name in ("input", "output"):
            price = page.locator(f"[name={name}_usd_per_mtok]")
            price.evaluate("one => one.closest('details')?.setAttribute('open', '')")
            price.fill("100")
        save(page, "_test")
        expect(page.locator(".messagelist")).to_contain_text("key")
        model.script("default", [[text("OK")]])
        page.fill("[name=api_key]", "sk-right")
        save(page, "_test")
        expect(page.locator(".messagelist")).to_contain_text("answered")
        assert "sk-" not in page.content()
    with subtests.test("a module for one model, with three tools"):
        owner.fill("module", name="chapters", pages="wiki.page", text=WORDS)
        expect(page.locator("#aia-module-pages .aia-pages")).to_contain_text(
            "page", ignore_case=True
        )
        page.locator("#id_tools_from").select_option([*TOOLS])
        page.evaluate("SelectBox.move('id_tools_from', 'id_tools_to')")
        save(page)
    with subtests.test("one of them is denied to a group"):
        add_group(panel)
        panel.goto("/admin/auth/user/1/change/")
        page.locator("#id_groups_from").select_option(label=GROUP)
        page.evaluate("SelectBox.move('id_groups_from', 'id_groups_to')")
        save(page)
        owner.add(
            "policyrule", tools="change_object", decision="deny (never)", group=GROUP
        )
    with subtests.test("a skill, a command and a suggestion"):
        owner.add("skill", name="tidy-up", description="How to tidy.", body="1. Look.")
        owner.add("promptcommand", name="sum-up", text=ASKED)
        owner.add("suggestion", name="how-many", label="How many chapters?")

    read = call("get_object", {"model": "wiki.page", "id": 1})
    model.script("sum", [[read], [text("There are nine.")]])
    panel.goto(PAGE)
    panel.open()
    with subtests.test("each act is seen in the next message"):
        chips = page.locator("#aia-suggestions")
        expect(chips).to_contain_text("How many chapters?")
        panel.ask_and_wait("/sum-up")
        request = told(model, ASKED)
        prompt = str(request["messages"][0]["content"])
        assert WORDS in prompt
        assert "tidy-up" in prompt
        names = {one["function"]["name"] for one in request["tools"]}
        assert names & {*TOOLS} == {"search_objects", "get_object"}
    with subtests.test("the trace of that run, and its cost in the report"):
        panel.goto("/admin/ai_assistant/run/")
        cost = float(content.locator("#result_list .field-cost").first.inner_text())
        content.locator("#result_list tbody th a").first.click()
        expect(content.locator(".aia-trace").first).to_contain_text("get_object")
        panel.goto("/admin/ai_assistant/report/")
        told_in_all = content.locator("td.aia-cell-money").first.inner_text()
        assert float(told_in_all) >= cost > 0
    with subtests.test("all of it runs on an empty site"):
        panel.goto("/admin/ai_assistant/configurationfile/")
        with page.expect_download() as download:
            content.get_by_role("link", name="YAML").click()
        file = tmp_path / "assistant.yaml"
        download.value.save_as(file)
        assert "sk-" not in file.read_text()
        url = f"sqlite:///{tmp_path / 'other.sqlite3'}"
        other = visit(own_server(env=env, database_url=url)).panel(PAGE)
        add_group(other)
        imported(other, file)
        other.goto(PAGE)
        other.open()
        other.ask_and_wait("/sum-up")
        assert WORDS in str(told(model, ASKED)["messages"][0])
        assert len([one for one in model.log() if "sk-right" in str(one)]) > 1


def imported(panel: Panel, file: Path) -> None:
    """Compare the file with an empty site, apply it, and enter the key again."""
    page = panel.page
    panel.goto("/admin/ai_assistant/configurationfile/")
    page.locator("#content [type=file]").set_input_files(file)
    with page.expect_navigation():
        page.locator("#content [type=submit]").last.click()
    expect(page.locator("#content table").first).to_contain_text("chapters")
    with page.expect_navigation():
        page.locator("#content [value=Apply]").click()
    panel.goto("/admin/ai_assistant/profile/")
    page.locator("#result_list").get_by_role("link", name="default").click()
    page.fill("[name=api_key]", "sk-right")
    save(page)
