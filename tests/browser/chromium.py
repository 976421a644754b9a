"""Starts Chromium, and watches what its pages do that they should not."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import (
    Browser,
    BrowserContext,
    BrowserType,
    Request,
    sync_playwright,
)

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# The same without a window around its pages, which takes a quarter of the work.
SHELLS = ("chromium-headless-shell",)
# Nothing of the browser's own may go out, and root may start it in a container.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LOCAL = ("data:", "blob:", "about:")


@contextmanager
def chromium(*, whole: bool = False) -> Iterator[Browser]:
    """Start a browser as `launch` does, and end it."""
    with sync_playwright() as playwright:
        browser = launch(playwright.chromium, whole=whole)
        yield browser
        browser.close()


def launch(kind: BrowserType, *, whole: bool) -> Browser:
    """
    Start the system's Chromium if there is one, else Playwright's own.

    That is its shell if it is there, unless the `whole` browser is asked for: the
    shell has no notifications.
    """
    names = BROWSERS if whole else (*SHELLS, *BROWSERS)
    found = next(filter(None, map(shutil.which, names)), None)
    return kind.launch(
        executable_path=found,
        channel="chromium" if whole and not found else None,
        args=[*FLAGS],
        env={**os.environ, "LANG": "C.UTF-8"},
    )


@dataclass
class Watch:
    """What happened in a context that must never happen."""

    origins: set[str]
    errors: list[str] = field(default_factory=list)  # of scripts
    violations: list[str] = field(default_factory=list)  # of the CSP
    foreign: list[str] = field(default_factory=list)  # requests
    dialogs: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)  # all of them

    def begin(self, context: BrowserContext) -> None:
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        context.on("console", lambda message: self._console(message.text))
        context.on("request", self._request)
        context.on("dialog", self._dialog)

    def troubles(self) -> list[str]:
        return [*self.errors, *self.violations, *self.foreign, *self.dialogs]

    def take(self) -> list[str]:
        """Return the troubles, and begin anew."""
        found = self.troubles()
        for gathered in (self.errors, self.violations, self.foreign, self.dialogs):
            gathered.clear()
        self.requests.clear()
        return found

    def _console(self, text: str) -> None:
        if "Content Security Policy" in text:
            self.violations.append(text)
        if text.startswith("ai-assistant:"):
            self.errors.append(text)

    def _request(self, request: Request) -> None:
        self.requests.append(request)
        own = (*self.origins, *(o.replace("http", "ws", 1) for o in self.origins))
        if not request.url.startswith((*own, *LOCAL)):
            self.foreign.append(f"request to {request.url}")

    def _dialog(self, dialog) -> None:
        self.dialogs.append(f"dialog: {dialog.message}")
        dialog.dismiss()
