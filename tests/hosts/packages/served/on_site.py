"""What a person does with the panel on pages of the site, and what must hold there."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from tests.browser.test_axe import all_faults
from tests.browser.visitor import Visitor, remember_session
from tests.hosts.packages.served.run import PERSON
from tests.hosts.packages.served.site import Served
from tests.hosts.packages.test_browser_filled import PHONE
from tests.model_server import ModelServerProcess

# Where each page is looked at; a Visitor has 1440 x 900 pixels.
SCREENS: Mapping[str, Any] = {"phone": PHONE, "wide": {}}
SHOTS = os.environ.get("HOSTS_SHOTS")  # a folder for pictures
SEES = "This page has"  # the first words of an answer
# The policy forbids nothing here, and tells. What frames.js reads is the page, too, once
# something is changed: its styles are those of the site.
VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) => {
  const { target, sourceFile, violatedDirective } = event;
  const isOfThePage =
    violatedDirective === "style-src-attr" && sourceFile?.endsWith("/frames.js");
  const isOurs = target.closest?.("#aia, #aia-launcher, #aia-skip")
    || sourceFile?.includes("/ai_assistant/");
  if (isOurs && !isOfThePage)
    console.error(`ai-assistant: ${violatedDirective} of ${sourceFile}`);
})"""
VIOLATE = "document.getElementById('aia').setAttribute('style', 'top: 0')"
# What is cut, or lies over the panel: at a grid of points, then at the buttons and
# fields that are always there.
COVERED = """() => {
  const root = document.getElementById("aia"), found = [];
  const { left, top, right, bottom, width, height } = root.getBoundingClientRect();
  const view = visualViewport;
  if (left < 0 || top < 0 || right > view.width + 1 || bottom > view.height + 1)
    found.push(`the panel is cut: ${[left, top, right, bottom]}`);
  const look = (one, x, y) => {
    const seen = document.elementFromPoint(x, y);
    if (!one.contains(seen))
      found.push(`${seen?.tagName}#${seen?.id}.${seen?.className} at ${[x, y]}`);
  };
  for (let row = 0; row < 9; row++)
    for (let column = 0; column < 5; column++)
      look(root, left + 8 + ((width - 16) * column) / 4, top + 8 + ((height - 16) * row) / 8);
  const controls = ":is(.aia-head, #aia-form) :is(a, button, textarea, summary, select)";
  for (const one of root.querySelectorAll(controls)) {
    if (!one.checkVisibility({ visibilityProperty: true })) continue;
    const box = one.getBoundingClientRect();
    look(one, (box.left + box.right) / 2, (box.top + box.bottom) / 2);
  }
  for (const one of root.querySelectorAll("#aia-inner, #aia-scroll, #aia-form, .aia-head"))
    if (one.scrollWidth > one.clientWidth + 1) found.push(`${one.id} runs over`);
  if (getComputedStyle(document.getElementById("aia-input")).outlineStyle !== "none")
    found.push("the page draws a line around the field");
  return found;
}"""
# Whether an element is in sight and nothing lies over it, at parts of its width.
IN_REACH = """(one, parts) => {
  const { left, right, top, bottom, width } = one.getBoundingClientRect();
  const root = one.getRootNode(); // that of a toolbar may be a shadow
  const isSeen = (part) =>
    one.contains(root.elementFromPoint(left + width * part, (top + bottom) / 2));
  const view = visualViewport; // of a wide page, a phone shows a part
  const isInView = left >= 0 && right <= view.width + 1 && bottom <= view.height + 1;
  return isInView && parts.every(isSeen);
}"""
MIDDLE, WHOLE = [0.5], [0.05, 0.5, 0.95]


class OnSite:
    """
    A person in a browser, on one screen.

    `free` are selectors of what the launcher and the docked panel leave free.
    """

    def __init__(
        self, browser: Browser, site: Served, screen: str, free: Sequence[str] = ()
    ) -> None:
        self.site = site
        self.screen = screen
        self.free = free
        if site.session:
            remember_session(site.url, PERSON, site.session)
        self.visitor = Visitor(browser, site.url, PERSON, **SCREENS[screen])
        self.visitor.context.add_init_script(VIOLATIONS)
        self.panel = self.visitor.tab()
        self.page = self.panel.page

    def opens_by_the_launcher(self, address: str) -> None:
        """Open the panel on a page, and close it again."""
        self.panel.goto(address)
        self.shot(f"closed {address}")
        assert self.out_of_reach("#aia-launcher", *self.free) == []
        self.page_can_be_saved()
        self.page.locator("#aia-launcher").click()
        self.panel.input.wait_for()
        self.shot(f"open {address}")
        assert self.covered() == []
        if self.screen == "wide":
            self.page_can_be_saved()
            assert self.out_of_reach(*self.free) == []
        self.page.locator("#aia-close").click()
        self.page.locator("#aia-launcher").wait_for()

    def page_can_be_saved(self) -> None:
        """The launcher does not lie over the button, where there is one."""
        save = self.page.locator("[name=_save]:visible")
        if save.count():
            save.last.scroll_into_view_if_needed()
            assert save.last.evaluate(IN_REACH, MIDDLE)

    def asks_reads_and_approves(
        self, address: str, model: ModelServerProcess, wanted: set[str]
    ) -> None:
        """Ask, read an answer as it comes, and approve a change; it is a row then."""
        self.panel.goto(address)
        self.panel.open()
        before = self.site.rows()
        self.panel.ask("Please change it")
        self.panel.wait_text(SEES)
        assert self.panel.answer().busy
        model.release("rest")
        self.panel.wait_state("waiting-approval")
        assert self.site.rows() == before
        assert self.covered() == []
        assert self.out_of_reach("#aia-pinned [data-aia-approve]") == []
        self.shot("card")
        assert all_faults(self.panel) == []
        self.shot("card in the dark")
        self.panel.approve()
        answer = self.panel.wait_done()
        self.shot("done")
        changed = self.site.rows() - before
        assert answer.text.endswith("It is changed.")
        assert changed
        assert not wanted or any(wanted & {*row} for row in changed)

    def covered(self) -> list[str]:
        """Return what of the panel is cut, and what lies over it."""
        found: list[str] = self.page.evaluate(COVERED)
        return found

    def out_of_reach(self, *queries: str) -> list[str]:
        """Return which of these are cut or covered."""
        found = {one: self.page.locator(one).first for one in queries}
        return [one for one in found if not found[one].evaluate(IN_REACH, WHOLE)]

    def troubles(self) -> list[str]:
        """Return errors of scripts, and what of ours the policy forbids; begin anew."""
        found = [*self.visitor.watch.errors]
        self.visitor.watch.take()
        return found

    def violates(self) -> None:
        """Break the policy, so that who looks for troubles has to find it."""
        self.page.evaluate(VIOLATE)
        self.panel.wait(lambda: self.visitor.watch.errors, "the violation")

    def shot(self, name: str) -> None:
        """Keep a picture, if somebody wants some."""
        if SHOTS:
            file = f"{self.screen} {name}".replace("/", "_").replace(" ", "-")
            self.page.screenshot(path=Path(SHOTS) / f"{file}.png")
