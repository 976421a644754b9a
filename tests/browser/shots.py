"""
`python -m tests.browser.shots [STATE...]`: a picture of every state of the panel.

In light and dark, docked, floating and at 390 pixels, in build/shots/. Without
arguments also docs/panel.png, the picture of the README.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from tests.browser import scenes
from tests.browser.chromium import chromium
from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "shots"
README_PICTURE = ROOT / "docs" / "panel.png"
PAGE = "/admin/questionnaires/questionnaire/"
THEMES = ("light", "dark")
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
}


def take(panel: Panel, name: str, place: str) -> None:
    """Write the pictures of what stands on the page now, in light and dark."""
    for theme in THEMES:
        panel.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        panel.page.wait_for_timeout(120)
        panel.page.screenshot(path=FOLDER / f"{name}-{place}-{theme}.png")
    panel.page.emulate_media(color_scheme="light")


def play(browser: Browser, url: str, scene: scenes.Scene) -> None:
    """Play a scene on a desk and on a phone, and take its pictures."""
    name = scenes.name_of(scene)
    with visit(browser, url, fresh=scene is scenes.signed_out) as panel:
        scene(panel)
        take(panel, name, "docked")
        if panel.state != "closed":
            panel.page.locator("#aia-mode").click()
            panel.page.mouse.move(0, 0)
            take(panel, name, "floating")
    with visit(browser, url, fresh=scene is scenes.signed_out, **PHONE) as panel:
        scene(panel)
        take(panel, name, "390")
    print(name, flush=True)


@contextmanager
def visit(browser: Browser, url: str, **options: Any) -> Iterator[Panel]:
    visitor = Visitor(browser, url, **options)
    try:
        panel = visitor.panel(PAGE)
        yield panel
        visitor.context.set_offline(False)
        if panel.root.get_attribute("data-busy"):
            panel.open()
            panel.stop()
            panel.wait_state("stopped", "idle")
    finally:
        visitor.leave()


def settings(model: ModelServerProcess) -> str:
    """Return the settings under which the model has a name fit for a picture."""
    profile = {
        "PROVIDER": "ai_assistant.providers.litellm.LiteLLMProvider",
        "MODEL": "openai/scripted",
        "LABEL": "Example model",
        "API_BASE": model.base,
        "API_KEY_ENV": "ASSISTANT_API_KEY",
    }
    return json.dumps({"PROFILES": {"default": profile}})


def take_all(browser: Browser, names: list[str]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        ModelServerProcess() as model,
        tempfile.TemporaryDirectory() as folder,
        DemoServer(
            Path(folder),
            model_url=model.url,
            env={"TESTS_SETTINGS": settings(model), "TESTS_PROPOSALS": "1"},
        ) as server,
    ):
        for scene in scenes.SCENES:
            if not names or scenes.name_of(scene) in names:
                model.script("default", scenes.script_of(scene))
                play(browser, server.url, scene)


def take_readme_picture(browser: Browser) -> None:
    """Write the demo as it is: with the built-in offline model."""
    with (
        tempfile.TemporaryDirectory() as folder,
        DemoServer(
            Path(folder), model_url="http://127.0.0.1:9", env={"ASSISTANT_MODEL": ""}
        ) as server,
        visit(browser, server.url, device_scale_factor=2) as panel,
    ):
        panel.goto("/admin/questionnaires/questionnaire/4/change/")
        panel.ask_and_wait("Which questionnaires are about knee replacement?")
        panel.ask_and_wait("How many questions are in questionnaire 4?")
        panel.ask("Rename section 14 to Daily life with your knee")
        panel.wait_state("waiting-approval")
        panel.page.mouse.move(0, 0)
        panel.page.wait_for_timeout(300)
        panel.page.screenshot(path=README_PICTURE)


def main(names: list[str]) -> None:
    with chromium() as browser:
        take_all(browser, names)
        if not names:
            take_readme_picture(browser)
    print(f"{len([*FOLDER.glob('*.png')])} pictures in {FOLDER.relative_to(ROOT)}/")


if __name__ == "__main__":
    main(sys.argv[1:])
