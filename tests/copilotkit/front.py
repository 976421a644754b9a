"""The pages, CopilotKit's runtime behind them, and a person who uses them."""

import contextlib
import http.client
import os
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.chromium import Watch
from tests.servers.process import Process

WAIT_MS = 60_000
TRIES = 20


class FrontServer(Process):
    """Serves the pages and the runtime, which signs in with `token` at `assistant`."""

    def __init__(
        self, pages: Path, *, port: int, log: Path, assistant: str, token: str
    ) -> None:
        told_nobody = {"COPILOTKIT_TELEMETRY_DISABLED": "true", "DO_NOT_TRACK": "1"}
        address = f"{assistant}/assistant/agui/"
        where = {"ASSISTANT_URL": address, "ASSISTANT_TOKEN": token}
        super().__init__(
            ["node", str(pages / "serve.mjs"), str(pages / "out"), str(port)],
            log=log,
            env={**os.environ, **told_nobody, **where},
            ready=self._answers,
        )
        self.port = port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _answers(self) -> bool:
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        with contextlib.closing(asked), contextlib.suppress(OSError):
            asked.request("GET", "/runtime/info")
            with asked.getresponse() as answer:
                return answer.status == 200
        return False


@dataclass
class Reader:
    """A person with a page in a browser of their own."""

    browser: Browser
    origins: set[str]
    watch: Watch = field(init=False)
    page: Page = field(init=False)

    def __post_init__(self) -> None:
        context = self.browser.new_context()
        context.set_default_timeout(WAIT_MS)
        self.watch = Watch(self.origins)
        self.watch.begin(context)
        self.page = context.new_page()

    def open(self, url: str) -> None:
        self.page.goto(url)

    def say(self, words: str) -> None:
        """Send a message, as soon as the chat takes it: it asks for its thread first."""
        box = self.page.locator("textarea")
        box.fill(words)
        for _ in range(TRIES):
            box.press("Enter")
            with contextlib.suppress(AssertionError):
                expect(box).to_have_value("", timeout=WAIT_MS / TRIES)
                return
        raise AssertionError(f"The chat does not take {words!r}.")

    def sees(self, words: str) -> None:
        self.on_page(self.page.get_by_text(words))

    def card(self, tool: str, status: str = "complete") -> Locator:
        return self.page.locator(f"[data-tool={tool}][data-status={status}]")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def on_page(self, found: Locator) -> None:
        expect(found.last).to_be_visible(timeout=WAIT_MS)

    def leave(self) -> list[str]:
        """Close the browser; return what happened that never must."""
        self.page.context.close()
        return self.watch.troubles()
