"""Pages that bring an htmx of their own, swap their body, or have other templates."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Request

import ai_assistant
from tests.browser.panel import Panel
from tests.browser.sites import site
from tests.browser.visitor import Visitor
from tests.docs.blocks import blocks, page, section
from tests.model_server import ModelServerProcess
from tests.thorough import share

Visit = Callable[..., Visitor]
TEMPLATES = Path(ai_assistant.__file__).parent / "templates" / "ai_assistant"
FIRST = "hosts/htmx-1.9.12.min.js"
SECOND = "hosts/htmx-2.0.11.min.js"
FOURTH = "hosts/htmx-4.0.1.min.js"
HOSTS: dict[str, dict[str, Any]] = {
    "1.9.12": {"scripts": [FIRST], "body": 'hx-boost="true"'},
    "2.0.11": {"scripts": [SECOND], "body": 'hx-boost="true"'},
    "4.0.1": {"scripts": [FOURTH], "body": 'hx-boost:inherited="true"'},
    "4.0.1 that inherits": {
        "scripts": [FOURTH],
        "config": {"implicitInheritance": True},
        "body": 'hx-boost="true" hx-target="#content" hx-select="#content" '
        'hx-swap="outerHTML" hx-push-url="true"',
    },
    "2.0.11 that inherits": {
        "scripts": [SECOND],
        "body": 'hx-boost="true" hx-target="#content" hx-select="#content" '
        'hx-swap="outerHTML" hx-push-url="true"',
    },
}
PLAIN = {"1.9.12": FIRST, "2.0.11": SECOND, "4.0.1": FOURTH}
COUNT = """() => {
  window.counted = { sent: 0, sockets: [] };
  const { fetch, WebSocket } = window;
  window.WebSocket = class extends WebSocket {
    constructor(...values) { super(...values); window.counted.sockets.push(this); }
  };
}"""
CONFIRM = """() => {
  for (const name of ["hx-confirm", "hx-confirm:inherited"])
    document.body.setAttribute(name, "Of the host?");
}"""
MARK = "() => (document.getElementById('aia').marked = 'the same')"
TOKEN = re.compile(r'<input[^>]*name="csrfmiddlewaretoken"[^>]*>')
MARKED = "() => document.getElementById('aia').marked"


def sent(panel: Panel, ending: str, do: Callable[[], Any]) -> list[str]:
    """Return the requests to addresses with that ending while `do` is done."""
    seen: list[str] = []
    panel.page.on(
        "request",
        lambda request: (
            seen.append(request.method) if request.url.endswith(ending) else None
        ),
    )
    do()
    panel.wait(lambda: seen, "the request")
    panel.page.wait_for_timeout(200)  # a second one would have come by then
    return seen


def bare(part: Locator) -> str:
    """
    Return the HTML of a part without the token, which each of its forms must have.

    Each page has another one. What htmx has seen is marked a moment after a page load.
    """
    html, tokens = TOKEN.subn("", part.inner_html())
    assert tokens == html.count("<form")
    return html.replace(' data-htmx-powered="true"', "").strip()


def test_templates_of_the_site_replace_ours_live_and_in_history(
    visit: Visit, tmp_path: Path, model: ModelServerProcess, subtests: pytest.Subtests
) -> None:
    """The example of the docs, as it stands there; and a field in the composer."""
    folder = tmp_path / "templates"
    documented = section(page("docs/panel.md"), "Templates")
    (example,) = [one for one in blocks(documented) if one.language == "html"]
    assert example.file == "ai_assistant/run_end.html"
    field = '<input type="hidden" name="ticket" value="A 7">'
    form, label = TEMPLATES.joinpath("composer.html").read_text(), "<label "
    (folder / "ai_assistant").mkdir(parents=True)
    (folder / example.file).write_text(example.code)
    composer = form.replace(label, field + label, 1)
    (folder / "ai_assistant" / "composer.html").write_text(composer)

    host = {"templates": [str(folder)]}
    with site(tmp_path, model, "hosts.settings", host=host) as server:
        panel = visit(server).panel()
        posted: list[str] = []
        panel.page.on("request", lambda one: posted.append(one.post_data or ""))
        panel.ask_and_wait("[[script:hello]]")
        rule = panel.log.locator(".aia-msg[data-role=assistant] .house-rule")
        rule.wait_for()
        streamed = bare(panel.log.locator(".aia-end").first)
        panel.reload()
        with subtests.test("the end of an answer"):
            assert rule.all_inner_texts() == ["Check figures before you pass them on."]
            assert bare(panel.log.locator(".aia-end").first) == streamed

        panel.ask("[[script:hello]]")
        panel.wait_done(2)
        with subtests.test("a field of the composer, before and after a page load"):
            messages = [parse_qs(body) for body in posted if "script%3Ahello" in body]
            assert [one["ticket"] for one in messages] == [["A 7"], ["A 7"]]


@pytest.mark.scenario(23)
@pytest.mark.parametrize("name", share(PLAIN, every=3))
def test_each_click_asks_once_beside_an_htmx_of_the_page(
    visit: Visit, tmp_path: Path, model: ModelServerProcess, name: str
) -> None:
    host = {"scripts": [PLAIN[name]]}
    with site(tmp_path, model, "hosts.settings", host=host) as server:
        panel = visit(server).panel()
        button = panel.page.locator("#host-button")
        assert sent(panel, "/assistant/health/", button.click) == ["GET"]
        panel.ask("[[script:approval]]")
        panel.wait_state("waiting-approval")
        assert sent(panel, "/assistant/answer/", panel.approve) == ["POST"]
        assert panel.wait_done().text.endswith("That is settled.")
        opened = panel.page.locator("#aia-list").click
        assert sent(panel, "/assistant/conversations/", opened) == ["GET"]


@pytest.mark.scenario(23)
@pytest.mark.parametrize("name", share(HOSTS, every=3))
def test_boosted_body_with_an_htmx_and_panel_leave_each_other_alone(
    visit: Visit,
    tmp_path: Path,
    model: ModelServerProcess,
    subtests: pytest.Subtests,
    name: str,
) -> None:
    with site(tmp_path, model, "hosts.settings", host=HOSTS[name]) as server:
        visitor = visit(server)
        visitor.context.add_init_script(f"({COUNT})()")
        panel = visitor.panel()
        with subtests.test("the page keeps its copy of htmx"):
            page_keeps_its_copy(panel, name)
        with subtests.test("the panel survives a swap of the page"):
            panel_survives_a_swap(panel)
        with subtests.test("what it sees is the new page"):
            panel_sees_the_new_page(panel)
        with subtests.test("a new conversation is begun once"):
            conversation_is_begun_once(panel)
        with subtests.test("forms of the panel work"):
            forms_of_the_panel_work(panel)


def page_keeps_its_copy(panel: Panel, name: str) -> None:
    assert panel.page.evaluate("htmx.version") == name.split(maxsplit=1)[0]
    assert panel.page.locator("script[src*=htmx]").count() == 1
    configured = panel.page.locator("meta[name=htmx-config]")
    assert configured.count() == len(HOSTS[name].get("config", []))
    prefix = "htmx.config.prefix ?? 'none'"
    assert panel.page.evaluate(prefix) in ("none", "data-hx-")
    button = panel.page.locator("#host-button")
    assert sent(panel, "/assistant/health/", button.click) == ["GET"]


def panel_survives_a_swap(panel: Panel) -> None:
    panel.page.evaluate(MARK)
    panel.ask("[[script:stream tokens=60 rate=20]]")
    panel.wait_words(3)
    panel.type("The next thing")
    go(panel, "Questionnaires", "**/admin/questionnaires/questionnaire/")
    panel.page.get_by_role("heading", name="Select questionnaire").wait_for()

    assert panel.page.evaluate(MARKED) == "the same"
    assert panel.root.count() == 1
    assert panel.input.input_value() == "The next thing"
    panel.wait_words(20)
    panel.wait_done()
    assert panel.page.evaluate("window.counted.sockets.length") == 1
    asked = sent(panel, "/assistant/send/", panel.page.locator("#aia-send").click)
    assert asked == ["POST"]
    panel.wait_done(2)
    assert panel.repeated_ids() == []


def go(panel: Panel, name: str, url: str) -> None:
    """Click a link of the page, whose body is swapped then."""
    content = panel.page.locator("#content, #container").first
    content.get_by_role("link", name=name, exact=True).last.click()
    panel.page.wait_for_url(url)


def panel_sees_the_new_page(panel: Panel) -> None:
    chips = panel.page.locator("#aia-context")
    panel.wait(lambda: "Questionnaires" in chips.inner_text(), "the chip of the list")


def conversation_is_begun_once(panel: Panel) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(f"{request.method} {urlsplit(request.url).path}")

    panel.page.on("request", note)
    panel.new_conversation()
    panel.page.wait_for_timeout(300)
    panel.page.remove_listener("request", note)

    assert panel.read() == []
    assert asked.count("GET /assistant/panel/") == 1
    # The end of the answer may still be told of as seen; nothing else is posted.
    posted = {one for one in asked if one.startswith("POST")}
    assert posted <= {"POST /assistant/seen/"}


def forms_of_the_panel_work(panel: Panel) -> None:
    place = panel.page.url
    panel.page.evaluate(CONFIRM)  # the page would ask before each request
    panel.ask("[[script:approval]]")
    panel.wait_state("waiting-approval")
    assert sent(panel, "/assistant/answer/", panel.approve) == ["POST"]
    assert panel.wait_done().text.endswith("That is settled.")
    panel.ask("[[script:stream tokens=4000 rate=20]]")
    panel.wait(lambda: len(panel.answers()) == 2, "the second answer")
    panel.wait_words(5)
    assert sent(panel, "/assistant/stop/", panel.stop) == ["POST"]
    panel.wait_state("stopped")
    panel.list_conversations()
    assert panel.page.url == place
    assert panel.repeated_ids() == []
