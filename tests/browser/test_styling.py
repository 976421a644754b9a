"""What the browser styles anew while an answer is drawn: what is new, not the page."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser

from tests.bench.markdown import numbered_markdown
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
LIST = "/admin/questionnaires/question/"
TOKENS = 600
CATEGORIES = ["devtools.timeline"]
SIZE = "(element) => [element.offsetWidth, element.offsetHeight]"


def styled(trace: Path) -> list[int]:
    """Return how many elements each update of styles was about, in the page's thread."""
    events = json.loads(trace.read_text())["traceEvents"]
    updates = [one for one in events if one["name"] == "UpdateLayoutTree"]
    ((thread, _),) = Counter((one["pid"], one["tid"]) for one in updates).most_common(1)
    counts = [
        one["args"].get("elementCount", 0)
        for one in updates
        if (one["pid"], one["tid"]) == thread
    ]
    return [count for count in counts if count]


def test_answer_has_what_it_draws_styled_and_not_the_page(
    visit: Visit,
    server: DemoServer,
    model: ModelServerProcess,
    browser: Browser,
    tmp_path: Path,
) -> None:
    model.script("many", [text(numbered_markdown(TOKENS), rate=400)])
    panel = visit(server).panel(LIST)
    panel.new_conversation()
    panel.ask_and_wait("[[script:many]]")
    everything = panel.page.evaluate("document.querySelectorAll('*').length")
    assert everything > 1000

    trace = tmp_path / "trace.json"
    browser.start_tracing(page=panel.page, path=trace, categories=CATEGORIES)
    panel.ask_and_wait("[[script:many]]")
    browser.stop_tracing()

    counts = styled(trace)
    assert len(counts) > 10
    # The frames that begin and end it swap parts of the panel; the others draw a block.
    assert max(counts) < everything / 5
    assert median(counts) < 25


def test_icons_are_laid_out_where_they_are_seen(
    visit: Visit, server: DemoServer, model: ModelServerProcess
) -> None:
    """The buttons are there all the same: for the Tab key, and to be spoken."""
    panel = visit(server).panel(LIST)
    panel.ask_and_wait("one")
    panel.ask_and_wait("two")
    first = panel.log.get_by_role("button", name="Copy").first
    icon = first.locator("svg")
    last = panel.log.get_by_role("button", name="Copy").last.locator("svg")
    size = first.evaluate(SIZE)
    assert (icon.is_visible(), last.is_visible()) == (False, True)

    first.focus()

    assert icon.is_visible()
    assert first.evaluate(SIZE) == size


def test_icons_of_a_question_leave_its_words_to_be_selected(
    visit: Visit, server: DemoServer
) -> None:
    panel = visit(server).panel(LIST)
    panel.ask_and_wait("Hi")
    box = panel.log.locator(".aia-msg[data-role=user] > .aia-text").bounding_box()
    assert box is not None

    panel.page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    assert panel.page.evaluate("getSelection().toString().trim()") == "Hi"
    edit = panel.log.get_by_role("link", name="Edit the message")
    assert (
        edit.locator("..").evaluate("icons => getComputedStyle(icons).opacity") == "1"
    )
