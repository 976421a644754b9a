"""What the browser styles anew while an answer is drawn: what is new, not the page."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser

from tests.bench.markdown import numbered_markdown
from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
LIST = "/admin/questionnaires/question/"
TOKENS = 600
PIECES = 24  # of them, each of which is drawn before the next one comes
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


def ask_piece_by_piece(panel: Panel, model: ModelServerProcess) -> None:
    before = len(panel.answers())

    def grown() -> str:
        """Return the new answer as far as it is there."""
        return "".join(one.text for one in panel.answers()[before:])

    panel.ask("[[script:many]]")
    seen = ""
    for _ in range(PIECES):
        panel.wait(lambda seen=seen: grown() != seen, "more of the answer")
        seen = grown()
        model.release("piece")
    panel.wait_done(before + 1)


def test_answer_has_what_it_draws_styled_and_not_the_page(
    visit: Visit,
    server: DemoServer,
    model: ModelServerProcess,
    browser: Browser,
    tmp_path: Path,
) -> None:
    many = numbered_markdown(TOKENS)
    size = -(-len(many) // PIECES)
    pieces = [many[at : at + size] for at in range(0, len(many), size)]
    hold = {"op": "hold", "name": "piece"}
    model.script("many", [[one for piece in pieces for one in (text(piece), hold)]])
    panel = visit(server).panel(LIST)
    panel.new_conversation()
    ask_piece_by_piece(panel, model)
    everything = panel.page.evaluate("document.querySelectorAll('*').length")
    assert everything > 1000

    trace = tmp_path / "trace.json"
    browser.start_tracing(page=panel.page, path=trace, categories=CATEGORIES)
    ask_piece_by_piece(panel, model)
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
