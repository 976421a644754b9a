"""A site without a model: who may set it up is led there, all others know whom to ask."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import status, text
from tests.servers.app import DemoServer

PAGE = "/admin/wiki/page/"
SAID = "#aia-banner [role=status]:visible"
FIRST_RUN = "**/profile/first-run/"
SETTINGS = {"PROFILES": {"default": {}}, "MODEL_HOSTS": ["127.0.0.1"]}
SENTENCE = "The assistant cannot answer yet: its model is not set up. Ask Ada Lovelace."


@pytest.mark.row("V02")
@pytest.mark.timeout(300)
def test_superuser_is_led_to_the_first_answer_and_others_know_whom_to_ask(
    own_server: Callable[..., DemoServer],
    visit: Callable[..., Visitor],
    model: ModelServerProcess,
    subtests: pytest.Subtests,
) -> None:
    server = own_server(env={"TESTS_SETTINGS": json.dumps(SETTINGS)})
    panel = visit(server).panel("/admin/auth/user/1/change/")
    page, content = panel.page, panel.page.locator("#content")
    page.fill("#id_first_name", "Ada")
    page.fill("#id_last_name", "Lovelace")
    with page.expect_navigation():
        content.locator("[name=_save]").first.click()

    with subtests.test("others read one sentence"):
        other = visit(server, "viewer").panel(PAGE)
        expect(other.page.locator(SAID)).to_have_text(SENTENCE)
        expect(other.page.locator(f"#aia-empty ol, {SAID} a")).to_have_count(0)
    with subtests.test("the panel leads to the providers, and is out of the way"):
        panel.goto(PAGE)
        page.locator("#aia-empty").get_by_role("link", name="Choose a provider").click()
        page.wait_for_url(FIRST_RUN)
        expect(panel.root).to_be_hidden()
        content.get_by_role("link", name="A server of your own").click()
    with subtests.test("a refused key is told, and the form is there again"):
        model.script("default", [[status(401, "Incorrect API key provided.")]])
        page.fill("[name=model]", "openai/scripted")
        page.fill("[name=api_base]", model.base)
        page.fill("[name=api_key]", "sk-wrong")
        with page.expect_navigation():
            content.locator("[type=submit]").click()
        expect(page.locator(".messagelist")).to_contain_text("refused the key")
    with subtests.test("the right key leads to a question, which is answered"):
        model.script("default", [[text("All chapters of the handbook.")]])
        page.fill("[name=api_key]", "sk-right")
        with page.expect_navigation():
            content.locator("[type=submit]").click()
        assert "sk-" not in page.content()
        content.get_by_role("link", name="What can you look up here?").click()
        panel.wait_text("All chapters of the handbook.")
        assert panel.asked() == ["What can you look up here?"]
    with subtests.test("nothing is left of the way there, for anybody"):
        for tab in (panel, other):
            tab.goto(PAGE)
            expect(tab.input).to_be_visible()
            expect(tab.page.locator(f"{SAID}, #aia-empty ol")).to_have_count(0)
