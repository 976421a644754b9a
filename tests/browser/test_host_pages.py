"""Pages that bring an htmx of their own, swap their body, or have other templates."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator

import ai_assistant
from tests.browser.panel import Panel
from tests.browser.sites import site
from tests.browser.visitor import Visitor
from tests.docs.blocks import blocks, page, section
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer
from tests.thorough import part

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


@pytest.fixture(scope="module", params=part(HOSTS, every=2))
def hosting(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    model: ModelServerProcess,
) -> Iterator[DemoServer]:
    """A site whose pages have an htmx, and a boosted body."""
    folder = tmp_path_factory.mktemp("host")
    with site(folder, model, "hosts.settings", host=HOSTS[request.param]) as started:
        started.version = request.param.split()[0]  # type: ignore[attr-defined]
        started.config = [*HOSTS[request.param].get("config", [])]  # type: ignore[attr-defined]
        yield started


@pytest.fixture
def hosted(hosting: DemoServer, visit: Visit) -> Panel:
    return visit(hosting).panel()


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
    panel.page.wait_for_timeout(500)  # a second one would have come by then
    return seen


def bare(part: Locator) -> str:
    """
    Return the HTML of a part without the token, which each of its forms must have.

    Each page has another one. What htmx has seen is marked a moment after a page load.
    """
    html, tokens = TOKEN.subn("", part.inner_html())
    assert tokens == html.count("<form")
    return html.replace(' data-htmx-powered="true"', "").strip()


@pytest.fixture(scope="module", params=part(PLAIN, every=2))
def plain_host(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    model: ModelServerProcess,
) -> Iterator[DemoServer]:
    """A site whose pages have an htmx, and load anew at each click."""
    folder, host = tmp_path_factory.mktemp("plain"), {"scripts": [PLAIN[request.param]]}
    with site(folder, model, "hosts.settings", host=host) as started:
        yield started


class TestTemplatesOfTheSite:
    def test_replace_ours_in_the_stream_and_in_history(
        self, visit: Visit, tmp_path: Path, model: ModelServerProcess
    ) -> None:
        """The example of the docs, as it stands there."""
        documented = section(page("docs/panel.md"), "Templates")
        (example,) = [one for one in blocks(documented) if one.language == "html"]
        assert example.file == "ai_assistant/run_end.html"
        own = tmp_path / "templates" / example.file
        own.parent.mkdir(parents=True)
        own.write_text(example.code)

        folders = [str(tmp_path / "templates")]
        with site(
            tmp_path, model, "hosts.settings", host={"templates": folders}
        ) as server:
            panel = visit(server).panel()
            panel.ask_and_wait("[[script:hello]]")
            rule = panel.log.locator(".aia-msg[data-role=assistant] .house-rule")
            rule.wait_for()
            assert rule.all_inner_texts() == ["Check figures before you pass them on."]
            end = panel.log.locator(".aia-end").first
            streamed = bare(end)
            panel.page.reload()

            assert bare(end) == streamed
            assert rule.count() == 1

    def test_fields_added_to_the_composer_are_sent(
        self, visit: Visit, tmp_path: Path, model: ModelServerProcess
    ) -> None:
        """With the first message and after a page load; the file is the site's own."""
        own = tmp_path / "templates" / "ai_assistant" / "composer.html"
        own.parent.mkdir(parents=True)
        field = '<input type="hidden" name="ticket" value="A 7">'
        form, label = TEMPLATES.joinpath("composer.html").read_text(), "<label "
        own.write_text(form.replace(label, field + label, 1))
        host = {"templates": [str(tmp_path / "templates")]}
        with site(tmp_path, model, "hosts.settings", host=host) as server:
            panel = visit(server).panel()
            sent: list[str] = []
            panel.page.on("request", lambda one: sent.append(one.post_data or ""))
            panel.ask_and_wait("[[script:hello]]")
            panel.reload()
            panel.ask("[[script:hello]]")
            panel.wait_done(2)

        messages = [parse_qs(body) for body in sent if "script%3Ahello" in body]
        assert [one["ticket"] for one in messages] == [["A 7"], ["A 7"]]


class TestHostWithAPlainBody:
    @pytest.mark.scenario(23)
    def test_each_click_asks_once(self, visit: Visit, plain_host: DemoServer) -> None:
        panel = visit(plain_host).panel()
        button = panel.page.locator("#host-button")
        assert sent(panel, "/assistant/health/", button.click) == ["GET"]
        panel.ask("[[script:approval]]")
        panel.wait_state("waiting-approval")
        assert sent(panel, "/assistant/answer/", panel.approve) == ["POST"]
        assert panel.wait_done().text.endswith("That is settled.")
        opened = panel.page.locator("#aia-list").click
        assert sent(panel, "/assistant/conversations/", opened) == ["GET"]


class TestHostWithHtmx:
    @pytest.mark.scenario(23)
    def test_page_keeps_its_copy(self, hosted: Panel, hosting: DemoServer) -> None:
        assert hosted.page.evaluate("htmx.version") == hosting.version  # type: ignore[attr-defined]
        assert hosted.page.locator("script[src*=htmx]").count() == 1
        configured = hosted.page.locator("meta[name=htmx-config]")
        assert configured.count() == len(hosting.config)  # type: ignore[attr-defined]
        prefix = "htmx.config.prefix ?? 'none'"
        assert hosted.page.evaluate(prefix) in ("none", "data-hx-")

    @pytest.mark.scenario(23)
    def test_one_click_on_its_button_asks_once(self, hosted: Panel) -> None:
        button = hosted.page.locator("#host-button")

        asked = sent(hosted, "/assistant/health/", button.click)

        assert asked == ["GET"]

    @pytest.mark.scenario(23)
    def test_forms_of_the_panel_work(self, hosted: Panel) -> None:
        hosted.page.evaluate(CONFIRM)  # the page would ask before each request
        hosted.ask("[[script:approval]]")
        hosted.wait_state("waiting-approval")
        answered = sent(hosted, "/assistant/answer/", hosted.approve)
        assert answered == ["POST"]
        assert hosted.wait_done().text.endswith("That is settled.")
        hosted.ask("[[script:stream tokens=400 rate=20]]")
        hosted.wait_words(5)
        assert sent(hosted, "/assistant/stop/", hosted.stop) == ["POST"]
        hosted.wait_state("stopped")
        hosted.list_conversations()

        assert hosted.page.url.endswith("/admin/")
        assert hosted.repeated_ids() == []

    @pytest.mark.scenario(23)
    def test_new_conversation_is_begun_once(self, hosted: Panel) -> None:
        hosted.ask_and_wait("[[script:hello]]")

        asked: list[str] = []
        hosted.page.on(
            "request",
            lambda request: asked.append(
                f"{request.method} {urlsplit(request.url).path}"
            ),
        )
        hosted.new_conversation()
        hosted.page.wait_for_timeout(500)

        assert hosted.read() == []
        assert asked.count("GET /assistant/panel/") == 1
        # The end of the answer may still be told of as seen; nothing else is posted.
        posted = {one for one in asked if one.startswith("POST")}
        assert posted <= {"POST /assistant/seen/"}

    @pytest.mark.scenario(23)
    def test_panel_survives_a_swap_of_the_page(
        self, visit: Visit, hosting: DemoServer
    ) -> None:
        visitor = visit(hosting)
        visitor.context.add_init_script(f"({COUNT})()")
        panel = visitor.panel()
        panel.page.evaluate(MARK)
        panel.type("A draft")
        panel.input.fill("[[script:stream tokens=60 rate=15]]")
        panel.page.locator("#aia-send").click()
        panel.wait_words(3)
        panel.type("The next thing")
        link = panel.page.locator("#content").get_by_role(
            "link", name="Questionnaires", exact=True
        )
        link.last.click()
        panel.page.wait_for_url("**/admin/questionnaires/questionnaire/")
        panel.page.locator("#content h1").first.wait_for()

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

    @pytest.mark.scenario(23)
    def test_what_it_sees_is_the_new_page(self, hosted: Panel) -> None:
        link = hosted.page.locator("#content").get_by_role(
            "link", name="Sections", exact=True
        )
        link.last.click()
        hosted.page.wait_for_url("**/section/")

        hosted.wait(
            lambda: "Sections" in hosted.page.locator("#aia-context").inner_text(),
            "the chip of the new page",
        )
