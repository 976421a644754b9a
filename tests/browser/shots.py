"""
`python -m tests.browser.shots [STATE...]`: a picture of every state of the panel.

In light and dark, docked, floating and at 390 pixels, in build/shots/. Without
arguments also docs/panel.png, the picture of the README. `owner` alone takes those of
docs/site-owner.md, in docs/pictures/.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser

from tests.browser import scenes
from tests.browser.chromium import chromium
from tests.browser.owner_pages import addresses
from tests.browser.panel import Panel
from tests.browser.theatre import PAGE, PHONE, Theatre, theatre
from tests.browser.visitor import Visitor
from tests.servers.app import DemoServer

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "shots"
README_PICTURE = ROOT / "docs" / "panel.png"
THEMES = ("light", "dark")
OWNER = "owner"
OWNER_PICTURES = ROOT / "docs" / "pictures"
OWNER_SIZE = {"width": 1120, "height": 720}
# Each page, with what is opened and where the picture begins.
OF_OWNER = {
    "start": ("start", "", "#content"),
    "profile": ("profile-add", "", "#content"),
    "module": ("module-change", "", "#content"),
    "run": ("run-change", ".aia-told details", "#content"),
    "prompt": ("prompt-told", "", "#content"),
    "usage": ("report-usage", "", "#content"),
}


def take(panel: Panel, name: str, place: str) -> None:
    """Write the pictures of what stands on the page now, in light and dark."""
    for theme in THEMES:
        panel.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        panel.page.wait_for_timeout(120)
        panel.page.screenshot(path=FOLDER / f"{name}-{place}-{theme}.png")
    panel.page.emulate_media(color_scheme="light")


def can_float(panel: Panel) -> bool:
    """Tell whether the panel is there, open, docked, and under no dialog."""
    if not panel.root.count():
        return False
    button = panel.page.locator("#aia-mode")
    is_covered = panel.page.locator("dialog[open]").count() > 0
    return panel.state != "closed" and button.is_visible() and not is_covered


def play(house: Theatre, scene: scenes.Scene) -> None:
    """Play a scene on a desk and on a phone, and take its pictures."""
    name = scenes.name_of(scene)
    try:
        with house.play(scene) as panel:
            take(panel, name, "docked")
            if can_float(panel):
                panel.page.locator("#aia-mode").click()
                panel.page.mouse.move(0, 0)
                take(panel, name, "floating")
        if "viewport" not in scenes.OPTIONS.get(name, {}):
            with house.play(scene, **PHONE) as panel:
                take(panel, name, "390")
    except scenes.Missing as missing:
        print(f"{name}: skipped, {missing}", flush=True)
    else:
        print(name, flush=True)


def take_all(browser: Browser, names: list[str]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with theatre(browser) as house:
        for scene in scenes.SCENES:
            if not names or scenes.name_of(scene) in names:
                play(house, scene)


def take_readme_picture(browser: Browser) -> None:
    """Write the demo as it is: with the built-in offline model."""
    with (
        tempfile.TemporaryDirectory() as folder,
        DemoServer(
            Path(folder), model_url="http://127.0.0.1:9", env={"ASSISTANT_MODEL": ""}
        ) as server,
    ):
        visitor = Visitor(browser, server.url, device_scale_factor=2)
        panel = visitor.panel(PAGE)
        panel.goto("/admin/questionnaires/questionnaire/4/change/")
        panel.ask_and_wait("Which questionnaires are about knee replacement?")
        panel.ask_and_wait("How many questions are in questionnaire 4?")
        panel.ask("Rename section 14 to Daily life with your knee")
        panel.wait_state("waiting-approval")
        panel.page.mouse.move(0, 0)
        panel.page.wait_for_timeout(300)
        panel.page.screenshot(path=README_PICTURE)
        panel.stop()
        panel.wait_state("stopped")
        visitor.leave()


def take_owner_pictures(browser: Browser) -> None:
    """Write the pictures of the main pages for the owner of a site."""
    OWNER_PICTURES.mkdir(exist_ok=True)
    with theatre(browser) as house:
        pages = addresses(house.server)
        visitor = Visitor(browser, house.server.url, viewport=OWNER_SIZE)
        tab = visitor.tab()
        for name, (page, opened, part) in OF_OWNER.items():
            tab.goto(pages[page])
            if opened:
                tab.page.locator(opened).first.evaluate("one => { one.open = true }")
            tab.page.locator("#aia-launcher").evaluate("one => one.remove()")
            box = tab.page.locator(part).bounding_box() or {}
            height = min(box.get("height", 0.0), float(OWNER_SIZE["height"]))
            tab.page.screenshot(
                path=OWNER_PICTURES / f"{name}.png",
                clip={**box, "height": height},
                full_page=True,
            )
        visitor.leave()


def main(names: list[str]) -> None:
    with chromium(whole=True) as browser:
        if names == [OWNER]:
            take_owner_pictures(browser)
            return
        take_all(browser, names)
        if not names:
            take_readme_picture(browser)
    print(f"{len([*FOLDER.glob('*.png')])} pictures in {FOLDER.relative_to(ROOT)}/")


if __name__ == "__main__":
    main(sys.argv[1:])
