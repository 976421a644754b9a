"""What a person sees of the panel and does with it, by the page hooks alone."""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Error, Locator, Page

# Nobody waits so long on a machine of one's own; one that others share may need it.
WAIT_S = 120.0
# Between two looks at a page: soon, and after a second. Each costs as much as a frame.
LOOK_MS, LATER_MS = 70, 250
ANSWER_MS = 300  # in which most answers are there
FINAL = ("idle", "stopped", "error", "limited")
WAITING = ("waiting-approval", "waiting-answer")

READ_LOG = r"""() => {
  const isSpoken = (node) => !/^(H[1-6]|SUMMARY)$/.test(node.tagName);
  const textOf = (element) =>
    [...element.children].filter(isSpoken).map((node) => node.textContent).join("");
  const readPart = (part) => {
    if (part.matches(".aia-tool"))
      return { kind: "tool", text: part.dataset.tool, status: part.dataset.status };
    if (part.matches(".aia-reasoning"))
      return { kind: "reasoning", text: textOf(part) };
    const html = part.innerHTML.replace(/ (id|data-message-id)="[^"]*"/g, "");
    return { kind: "text", text: part.textContent, html };
  };
  const inside = ".aia-body[data-message-id], .aia-tool, .aia-reasoning";
  return [...document.querySelectorAll("#aia-log .aia-msg")].map((message) => ({
    role: message.dataset.role,
    run: message.dataset.runId ?? "",
    busy: message.matches("[aria-busy=true], :has([aria-busy=true])"),
    parts: message.dataset.role === "user"
      ? [{ kind: "text", text: message.querySelector(".aia-text")?.textContent ?? "" }]
      : [...message.querySelectorAll(inside)].map(readPart),
  }));
}"""
REPEATED_IDS = """() => {
  const ids = [...document.querySelectorAll("#aia [id]")].map((node) => node.id);
  return ids.filter((id, place) => ids.indexOf(id) !== place);
}"""
# The script of an open panel and its htmx: before them no key or button is heard. A
# test may have kept them from the page, or all scripts.
READY = """async () => {
  const root = document.getElementById("aia");
  if (!window.AIAssistant || !root || !("open" in root.dataset)) return;
  const panel = await import(root.dataset.src).catch(() => {});
  await panel?.startHtmx();
}"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One part of a message: text, a tool's card or reasoning."""

    kind: str
    text: str  # of a card: the tool's name
    html: str = ""  # of text, without ids
    status: str = ""  # of a card


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One message as it stands in the conversation."""

    role: str
    parts: tuple[Part, ...]
    run: str = ""
    busy: bool = False

    @property
    def text(self) -> str:
        return "\n\n".join(part.text for part in self.parts if part.kind == "text")


class Panel:
    """The panel on a page."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url

    # --- where the person is ---

    def goto(self, path: str = "/admin/") -> None:
        self.page.goto(f"{self.url}{path}")
        self.ready()

    def reload(self) -> None:
        self.page.reload()
        self.ready()

    def ready(self) -> None:
        """Wait until the panel hears: pages are loaded before its script is."""
        self.page.evaluate(READY)

    def click_to(self, name: str) -> None:
        """Click a link of the page around the panel, as people do in mid-answer."""
        with self.page.expect_navigation():
            self.page.locator("#content, #container").first.get_by_role(
                "link", name=name, exact=True
            ).first.click()
        self.ready()

    def click_at(self, *selectors: str) -> None:
        """Click these, one right after another on the same page, and wait for nothing."""
        self.page.evaluate(
            "all => { for (const one of all) document.querySelector(one).click(); }",
            [*selectors],
        )

    def open(self) -> None:
        if self.root.get_attribute("data-open") is None:
            self.page.locator("[data-aia-open]").first.click()
        self.input.wait_for()

    # --- what is on the page ---

    @property
    def root(self) -> Locator:
        return self.page.locator("#aia")

    @property
    def input(self) -> Locator:
        return self.page.locator("#aia-input")

    @property
    def log(self) -> Locator:
        return self.page.locator("#aia-log")

    @property
    def approval(self) -> Locator:
        return self.page.locator("#aia-pinned .aia-approval")

    @property
    def question(self) -> Locator:
        return self.page.locator("#aia-pinned .aia-question")

    @property
    def state(self) -> str:
        return self.root.get_attribute("data-state") or ""

    @property
    def conversation(self) -> str:
        return self.root.get_attribute("data-conversation") or ""

    def card(self, tool: str) -> Locator:
        return self.log.locator(f'.aia-tool[data-tool="{tool}"]')

    def read(self) -> list[Entry]:
        """Return the conversation as it stands on the page."""
        return [
            Entry(
                role=entry["role"],
                run=entry["run"],
                busy=entry["busy"],
                parts=tuple(Part(**part) for part in entry["parts"]),
            )
            for entry in self.page.evaluate(READ_LOG)
        ]

    def answers(self) -> list[Entry]:
        return [entry for entry in self.read() if entry.role == "assistant"]

    def answer(self) -> Entry:
        """Return the last answer."""
        return self.answers()[-1]

    def asked(self) -> list[str]:
        """Return what the person said, in order."""
        return [entry.text for entry in self.read() if entry.role == "user"]

    def repeated_ids(self) -> list[str]:
        return list(self.page.evaluate(REPEATED_IDS))

    # --- what the person does ---

    def type(self, text: str) -> None:
        self.input.fill(text)

    def ask(self, text: str) -> None:
        """Send a message, without waiting for anything."""
        self.type(text)
        self.page.locator("#aia-send").click()

    def stop(self) -> None:
        self.page.locator("#aia-stop").click()

    def approve(self) -> None:
        self.page.locator("#aia-pinned [data-aia-approve]").click()

    def deny(self, reason: str = "") -> None:
        if reason:
            self.approval.locator(".aia-denial summary").click()
            self.approval.locator("[name=reason]").fill(reason)
        self.page.locator("#aia-pinned [data-aia-deny]").click()

    def edit(self) -> Locator:
        """Ask for the form of the values; return it."""
        self.approval.get_by_role("link", name="Edit first").click()
        return self.approval.locator(".aia-edit-form")

    def edit_field(self, name: str) -> Locator:
        return self.approval.locator(f".aia-edit-form [name$={name}]")

    def save_edit(self) -> None:
        self.approval.locator(".aia-edit-form .aia-go").click()

    def choose(self, option: str) -> None:
        self.question.get_by_role("button", name=option).click()

    def reply(self, text: str) -> None:
        self.input.fill(text)
        self.input.press("Enter")

    # --- conversations ---

    def title(self) -> str:
        return self.root.get_by_role("heading", level=2).first.inner_text()

    def new_conversation(self) -> None:
        before = self.conversation
        self.root.get_by_role("button", name="New conversation").click()
        self.wait(lambda: self.conversation != before, "another conversation")

    def list_conversations(self) -> list[str]:
        """Open the list; return the names in it."""
        entries = self.root.get_by_role("navigation", name="Conversations")
        if not entries.is_visible():
            self.root.get_by_role("link", name="Conversations").click()
        links = entries.get_by_role("link")
        links.first.wait_for()
        return links.all_inner_texts()

    def open_conversation(self, conversation: str) -> None:
        self.list_conversations()
        self.root.locator(f'a[data-aia-conversation="{conversation}"]').click()
        self.wait(lambda: self.conversation == conversation, "the conversation")

    # --- waiting ---

    def wait(self, until: Callable[[], Any], what: str = "") -> Any:
        """Wait until `until()` is true, whatever pages come and go meanwhile."""
        begun = time.monotonic()
        while not (found := _seen(until)):
            waited = time.monotonic() - begun
            if waited > WAIT_S:
                raise AssertionError(
                    f"Not seen within {WAIT_S:g} s: {what or until}. "
                    f"State: {self.state}. Conversation: {self.read()}"
                )
            self.page.wait_for_timeout(LOOK_MS if waited < 1 else LATER_MS)
        return found

    def wait_state(self, *states: str) -> None:
        self.wait(lambda: self.state in states, f"state {states}")

    def reload_until(self, *states: str) -> None:
        """Reload, as a person without JavaScript does, until it is in such a state."""

        def is_there() -> bool:
            with suppress(Error):  # the form's own navigation may be under way
                self.page.reload()
            return self.state in states

        if self.state not in states:
            self.page.wait_for_timeout(ANSWER_MS)
            self.wait(is_there, f"state {states}")

    def wait_text(self, text: str) -> None:
        """Wait until the last answer contains `text`."""
        self.wait(
            lambda: (found := self.answers()) and text in found[-1].text,
            f"an answer with {text!r}",
        )

    def wait_words(self, count: int) -> None:
        """Wait until the last answer has so many words: it is in the middle then."""
        self.wait(
            lambda: (
                (found := self.answers())
                and len(re.findall(r"\w+", found[-1].text)) >= count
            ),
            f"{count} words",
        )

    def wait_done(self, answers: int = 1) -> Entry:
        """Wait until so many answers are complete; return the last."""
        self.wait(
            lambda: (
                self.state in FINAL
                and len(found := self.answers()) >= answers
                and not any(entry.busy for entry in found)
            ),
            f"{answers} complete answers",
        )
        return self.answer()

    def ask_and_wait(self, text: str) -> Entry:
        """Send a message; return its answer once it is complete."""
        before = len(self.answers())
        self.ask(text)
        return self.wait_done(before + 1)


def _seen(until: Callable[[], Any]) -> Any:
    """Return what `until()` does, or None on a page that just comes or goes."""
    try:
        return until()
    except IndexError:
        return None  # half of it is there: no answer yet
    except Error as error:
        if "context was destroyed" not in str(error):
            raise
        return None
