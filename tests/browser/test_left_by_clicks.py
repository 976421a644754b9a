"""Messages of people who click on at once: each arrives, once, in order, from any page."""

import random
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import UUID

import pytest
from playwright.sync_api import Page, Route

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.figures import FIGURE
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import text
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle
from tests.thorough import IS_THOROUGH, part

Visit = Callable[..., Visitor]

MESSAGES = 75 if IS_THOROUGH else 3  # of each of the four ways
PACE_S = 0.5  # of an answer: those that follow find one under way
LONGEST_MS = 20  # from the message to the click
PAUSE_MS = 400  # in which nobody has written the next one
PAGES = ("section/", "question/")
SCRIPT = re.compile(r"/ai_assistant/panel(\.\w+)?\.js")
# A hand that types, sends, and clicks on; `way` is the form or the page's own script.
LEAVE = """([way, text, page, wait]) => {
  if (way === "form") {
    document.querySelector("#aia-input").value = text;
    document.querySelector("#aia-send").click();
  } else AIAssistant.send(text).catch(() => {});
  setTimeout(() => {
    const link = document.createElement("a");
    link.href = `/admin/questionnaires/${page}`;
    document.body.append(link);
    link.click();
  }, wait);
}"""


@dataclass
class Tab:
    """One tab; `is_held` keeps the panel's script from the pages that are loaded."""

    panel: Panel
    is_held: bool = False
    sent: list[str] = field(default_factory=list)
    given_back: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.route(SCRIPT, self._answer)

    @property
    def page(self) -> Page:
        return self.panel.page

    def _answer(self, route: Route) -> None:
        if not self.is_held:
            route.continue_()

    @property
    def next_page(self) -> str:
        """Each is another one than that before it."""
        return PAGES[len(self.sent) % 2]

    def arrive(self) -> None:
        """Be on the next page, with its script, and see there what was said."""
        # A page may be given up on the way, which `wait_for_url` takes for a failure.
        self.panel.wait(lambda: self.page.url.endswith(self.next_page), "the next page")
        self.page.wait_for_function("() => window.AIAssistant")
        self.panel.ready()
        shown = self.panel.root.get_by_text(self.sent[-1], exact=True)
        self.panel.wait(shown.count, "the message on the next page")
        self.page.wait_for_timeout(PAUSE_MS)
        if left := self.panel.input.input_value():
            self.given_back.append(left)
            self.panel.type("")

    def without_script(self) -> None:
        """Go on to a page whose script is not there yet."""
        self.is_held = True
        self.page.goto(f"{self.panel.url}/admin/questionnaires/", wait_until="commit")
        self.page.wait_for_function("() => window.AIAssistant")
        self.panel.input.wait_for()

    def leave(self, said: str, wait_ms: float) -> None:
        """Say something, by the form or by the page's own script, and click on."""
        self.sent.append(said)
        way = "form" if len(self.sent) % 3 else "script"
        self.is_held = False
        self.page.evaluate(LEAVE, [way, said, self.next_page, wait_ms])


PLACES = [(1, "not ready"), (2, "ready")]
PLACES += part([(1, "ready"), (2, "not ready")], every=2, start=2)


class TestLeftByClicks:
    @pytest.mark.timeout(1200)
    @pytest.mark.parametrize(("tabs", "script"), PLACES)
    def test_none_is_lost_doubled_or_given_back(
        self,
        visit: Visit,
        own_server: Callable[..., DemoServer],
        model: ModelServerProcess,
        record_property: Callable[[str, object], None],
        tabs: int,
        script: str,
    ) -> None:
        model.script("paced", [[{"op": "delay", "seconds": PACE_S}, text("Yes.")]])
        server = own_server(env={"ASSISTANT_UNLIMITED": "1"})
        visitor, dice = visit(server), random.Random(3)
        first = Tab(visitor.panel())
        all_tabs = [first, *(Tab(visitor.panel()) for _ in range(tabs - 1))]
        conversation = first.panel.conversation

        for number in range(MESSAGES):
            tab = all_tabs[number % tabs]
            if script == "not ready":
                tab.without_script()
            said = f"{number} [[script:paced]]"
            tab.leave(said, dice.uniform(0, LONGEST_MS))
            tab.arrive()

        oracle = Oracle(server.database_url)
        asked = wait_until_asked(oracle, conversation, MESSAGES)
        lost = MESSAGES - len(set(asked))
        doubled = sum(Counter(asked).values()) - len(set(asked))
        given_back = sum(len(tab.given_back) for tab in all_tabs)
        in_order = [[one for one in asked if one in tab.sent] for tab in all_tabs]
        record_property(
            FIGURE,
            f"{MESSAGES} messages left by clicks, {tabs} tabs, script "
            f"{script}: {lost} lost, {doubled} doubled, "
            f"{given_back} given back",
        )
        assert (lost, doubled, given_back) == (0, 0, 0)
        assert in_order == [tab.sent for tab in all_tabs]


def wait_until_asked(oracle: Oracle, conversation: str, count: int) -> list[str]:
    """Return what was said, once so much was, or nothing more comes."""
    place = UUID(conversation).hex

    def rest() -> bool:
        waits = oracle.rows(
            "SELECT id FROM ai_assistant_queuedmessage WHERE conversation_id = %s",
            place,
        )
        runs = oracle.rows(
            "SELECT id FROM ai_assistant_run WHERE conversation_id = %s "
            "AND state <> 'succeeded'",
            place,
        )
        return not waits and not runs and len(said()) >= count

    def said() -> list[str]:
        rows = oracle.rows(
            "SELECT parts FROM ai_assistant_message WHERE conversation_id = %s "
            "AND role = 'user' ORDER BY position",
            place,
        )
        return [re.search(r'"text": "([^"]*)"', row["parts"])[1] for row in rows]

    with suppress(AssertionError):  # the figures say what is missing
        oracle.wait(rest, 60 + count, "all messages")
    return said()
