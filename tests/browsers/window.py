"""A window of a browser: what its driver does, in the words that the tests need."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from tests.servers.ports import free_port

CSS = "css selector"
WAIT_S = 30
MINI_BROWSER = "webkit2gtk-4*/MiniBrowser"


class Window(Protocol):
    """One window; the person of it is signed in nowhere."""

    name: str

    def goto(self, url: str) -> None: ...
    def find(self, selector: str) -> Any: ...
    def run(self, script: str, *values: Any) -> Any: ...
    def open_tab(self) -> None: ...
    def show_tab(self, number: int) -> None: ...
    def close(self) -> None: ...


def missing(name: str) -> str:
    """Return which program of this browser the system lacks; empty if none."""
    if name == "firefox":
        return "" if _firefox() else "firefox-esr"
    lacks = [one for one in ("WebKitWebDriver", "Xvfb") if not shutil.which(one)]
    return ", ".join(lacks if _mini_browser() else [*lacks, "MiniBrowser"])


@contextmanager
def window(name: str, **preferences: Any) -> Iterator[Window]:
    """Open a browser of its own; `preferences` are those of Firefox."""
    opened = Firefox(preferences) if name == "firefox" else WebKit()
    try:
        yield opened
    finally:
        opened.close()


def wait(until: Callable[[], Any], what: str) -> Any:
    """Wait until `until()` is true; an element that just goes is none."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        try:
            if found := until():
                return found
        except Exception as error:  # noqa: BLE001 - each driver has its own
            what = f"{what} ({error})"[:400]
        time.sleep(0.1)
    raise AssertionError(f"Not seen within {WAIT_S} s: {what}.")


class Firefox:
    """Firefox by Marionette, its own protocol: geckodriver is a layer over that."""

    name = "firefox"

    def __init__(self, preferences: dict[str, Any]) -> None:
        from marionette_driver.marionette import Marionette

        self._driver = Marionette(
            bin=_firefox(),
            headless=True,
            port=free_port(),
            prefs=preferences,
            gecko_log=os.devnull,
        )
        self._driver.start_session()
        self._driver.set_window_rect(width=1400, height=900)

    def goto(self, url: str) -> None:
        self._driver.navigate(url)

    def find(self, selector: str) -> Any:
        return self._driver.find_element(CSS, selector)

    def run(self, script: str, *values: Any) -> Any:
        return self._driver.execute_script(script, script_args=values, sandbox=None)

    def open_tab(self) -> None:
        tab = self._driver.open(type="tab", focus=True)
        self._driver.switch_to_window(tab["handle"])

    def show_tab(self, number: int) -> None:
        self._driver.switch_to_window(self._driver.window_handles[number])

    def close(self) -> None:
        self._driver.quit()


class WebKit:
    """WebKitGTK by WebDriver, in a display that nobody sees."""

    name = "webkit"

    def __init__(self) -> None:
        from selenium import webdriver
        from selenium.webdriver.webkitgtk.options import Options
        from selenium.webdriver.webkitgtk.service import Service

        options = Options()
        options.binary_location = _mini_browser()
        options.add_argument("--automation")
        service = Service(shutil.which("WebKitWebDriver"))
        self._driver = webdriver.WebKitGTK(options=options, service=service)
        self._driver.set_window_size(1400, 900)

    def goto(self, url: str) -> None:
        self._driver.get(url)

    def find(self, selector: str) -> Any:
        return self._driver.find_element(CSS, selector)

    def run(self, script: str, *values: Any) -> Any:
        return self._driver.execute_script(script, *values)

    def open_tab(self) -> None:
        self._driver.switch_to.new_window("tab")

    def show_tab(self, number: int) -> None:
        self._driver.switch_to.window(self._driver.window_handles[number])

    def close(self) -> None:
        self._driver.quit()


def _firefox() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


def _mini_browser() -> str:
    found = [str(file) for file in Path("/usr/lib").glob(f"*/{MINI_BROWSER}")]
    return shutil.which("MiniBrowser") or next(iter(sorted(found)), "")
