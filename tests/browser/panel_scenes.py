"""What surrounds an answer and a conversation: menus, lists, places, banners."""

from typing import Any

from playwright.sync_api import Locator
from playwright.sync_api import TimeoutError as Late

from tests.browser.approval_scenes import rename
from tests.browser.panel import WAIT_S, Panel

QUESTION = "Which drafts could be published?"
SELECT = """() => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector(".aia-body .aia-b"));
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  document.dispatchEvent(new Event("selectionchange"));
}"""


class Missing(Exception):
    """A part of the panel that a scene shows is not there."""


def need(panel: Panel, selector: str) -> Locator:
    """Return the first of these elements; raise Missing if there is none."""
    found = panel.page.locator(selector).first
    try:
        found.wait_for(state="attached", timeout=WAIT_S * 1000)
    except Late:
        raise Missing(f"there is no {selector}") from None
    return found


def ask(panel: Panel) -> None:
    panel.ask(QUESTION)
    panel.wait_done()


# --- the list of conversations ---


def drawer_menu(panel: Panel) -> None:
    ask(panel)
    panel.list_conversations()
    need(panel, "#aia-history li > [popovertarget]").click()


def drawer_search(panel: Panel) -> None:
    ask(panel)
    panel.list_conversations()
    need(panel, "#aia-q").fill("questions")
    panel.page.locator("#aia-history mark").first.wait_for()


def drawer_nothing_found(panel: Panel) -> None:
    panel.list_conversations()
    need(panel, "#aia-q").fill("zebra")
    panel.root.get_by_text("No conversation contains these words.").wait_for()


def drawer_rename(panel: Panel) -> None:
    drawer_menu(panel)
    need(panel, "[data-aia-rename]").click()
    panel.page.locator("#aia-name").wait_for()


def drawer_deleted(panel: Panel) -> None:
    drawer_menu(panel)
    need(panel, "#aia-history [name=do][value=delete]").click()
    panel.page.locator("#aia-undo").wait_for()


def share_form(panel: Panel) -> None:
    drawer_menu(panel)
    need(panel, "#aia-history [popover] a[href*='/share/']").click()
    panel.page.locator("dialog[open] #aia-days").wait_for()


def share_link(panel: Panel) -> None:
    share_form(panel)
    need(panel, "#aia-share [value=share]").click()
    panel.page.locator("#aia-share pre").wait_for()


def shared_page(panel: Panel) -> None:
    rename(panel, "Measurements at home")
    panel.ask(QUESTION)
    panel.wait_state("waiting-approval")
    panel.approve()
    panel.wait_done()
    panel.list_conversations()
    need(panel, "#aia-history li > [popovertarget]").click()
    need(panel, "#aia-history [popover] a[href*='/share/']").click()
    need(panel, "#aia-share [value=share]").click()
    panel.page.goto(need(panel, "#aia-share pre").inner_text())


# --- settings ---


def settings_open(panel: Panel) -> None:
    need(panel, "#aia-settings > summary").click()
    panel.page.locator(".aia-settings").wait_for()


def keyboard_map(panel: Panel) -> None:
    settings_open(panel)
    panel.root.get_by_role("link", name="Keyboard map").click()
    panel.page.locator("dialog[open] kbd, [popover] kbd").first.wait_for()


# --- an answer and its question ---


def edit_question(panel: Panel) -> None:
    ask(panel)
    panel.log.locator(".aia-msg[data-role=user]").last.hover()
    need(panel, "#aia-log .aia-mine [data-aia-use=edit]").click()
    panel.page.locator("form.aia-fork textarea").wait_for()


def branch_picker(panel: Panel) -> None:
    edit_question(panel)
    panel.page.locator("form.aia-fork textarea").fill("Which drafts are ready?")
    panel.page.locator("form.aia-fork .aia-go").click()
    panel.log.get_by_text("2 / 2").wait_for()
    panel.wait_done()


def answer_anew(panel: Panel) -> None:
    ask(panel)
    need(panel, "#aia-log .aia-acts [data-aia-use=edit]").click()
    panel.page.locator("form.aia-fork").wait_for()


def feedback_form(panel: Panel) -> None:
    ask(panel)
    need(panel, "#aia-log [id$='-down']").click()
    form = panel.page.locator("#aia-log [id$='-why']").first
    form.wait_for()
    if form.get_attribute("open") is None:
        form.locator("summary").click()


def answer_menu(panel: Panel) -> None:
    ask(panel)
    need(panel, "#aia-log [popovertarget]").click()
    panel.page.locator(".aia-menu:popover-open").wait_for()


def show_raw(panel: Panel) -> None:
    """How the answer was made, with one part of its prompt unfolded."""
    answer_menu(panel)
    link = panel.page.get_by_role("link", name="Show raw")
    panel.goto(link.get_attribute("href") or "")
    panel.page.locator("#aia-whole details summary").first.click()


def quote_button(panel: Panel) -> None:
    ask(panel)
    panel.page.evaluate(SELECT)
    panel.page.locator("#aia-log").dispatch_event("pointerup")
    panel.page.locator("#aia-quote").wait_for()


# --- the composer ---


def leave_waiting(panel: Panel, *texts: str) -> None:
    panel.ask(QUESTION)
    panel.wait_text("Leadership")
    for text in texts:
        panel.input.fill(text)
        panel.input.press("Enter")
        panel.page.locator("#aia-queued").get_by_text(text).wait_for()


def queued(panel: Panel) -> None:
    leave_waiting(panel, "Then publish the first one.")


def queue_paused(panel: Panel) -> None:
    leave_waiting(panel, "Then publish the first one.", "And tell the team of it.")
    panel.stop()
    panel.page.get_by_role("button", name="Resume").wait_for()


def queue(panel: Panel) -> None:
    leave_waiting(panel, "Then publish the first one.", "And tell the team of it.")
    waiting = panel.page.locator("#aia-queue")
    waiting.get_by_role("button", name="Send now").first.click()
    waiting.get_by_text("reads it in its next step").wait_for()


def models(panel: Panel) -> None:
    ask(panel)
    panel.page.get_by_label("Model that answers").select_option("large")
    panel.page.get_by_label("Agent that answers").select_option("analyst")
    panel.ask_and_wait("How many are drafts?")


def said_within(panel: Panel) -> None:
    panel.ask(QUESTION)
    panel.wait_state("tool")
    panel.input.fill("Leave the archived ones out.")
    panel.input.press("Enter")
    waiting = panel.page.locator("#aia-queue")
    waiting.get_by_role("button", name="Send now").click()
    waiting.wait_for(state="hidden")


def rate_limit(panel: Panel) -> None:
    ask(panel)
    panel.ask("Then publish the first one.")
    panel.page.locator("#aia-notice [data-limited]").wait_for()


# --- places and people ---


def banner_production(panel: Panel) -> None:
    need(panel, "#aia .aia-banner").wait_for()


def full_page(panel: Panel) -> None:
    ask(panel)
    panel.goto("/assistant/")
    panel.input.wait_for()


def unread(panel: Panel) -> None:
    panel.ask("[[script:stream tokens=200 rate=40]]")
    panel.wait_words(5)
    panel.page.locator("#aia-close").click()
    panel.page.locator("#aia[data-unread]").wait_for(state="attached")


def right_to_left(panel: Panel) -> None:
    ask(panel)


def right_to_left_drawer(panel: Panel) -> None:
    ask(panel)
    panel.page.locator("#aia-list").click()
    panel.page.locator("#aia-history a").first.wait_for()


def narrow_320(panel: Panel) -> None:
    ask(panel)


def zoom_200(panel: Panel) -> None:
    ask(panel)


def forced_colours(panel: Panel) -> None:
    ask(panel)


# --- commands ---


def palette(panel: Panel) -> None:
    panel.input.press_sequentially("/")
    need(panel, "#aia-palette [role=option]").wait_for()


def pointing(panel: Panel) -> None:
    panel.input.press_sequentially("Compare @questionnaire exit")
    need(panel, "#aia-far [role=option]").wait_for()


def command_arguments(panel: Panel) -> None:
    panel.ask("/weekly-report")
    need(panel, "#aia-argument-status").wait_for()


def command_sent(panel: Panel) -> None:
    panel.ask("/weekly-report draft")
    panel.wait_done()
    need(panel, ".aia-sent summary").click()


def command_answer(panel: Panel) -> None:
    panel.ask("/help")
    need(panel, ".aia-told").wait_for()


def command_form(panel: Panel) -> None:
    ask(panel)
    need(panel, ".aia-mine > span > a").click()
    need(panel, ".aia-keep form").wait_for()


def talk(panel: Panel) -> None:
    """Say so much that the first of it is summed up."""
    for _number in range(3):
        panel.ask_and_wait(f"{QUESTION} And which of them has no questions at all?")
    panel.log.locator(".aia-summary").wait_for()


def summed_up(panel: Panel) -> None:
    talk(panel)
    panel.log.locator(".aia-summary > summary").click()
    jump = panel.root.get_by_role("button", name="New text")
    if jump.is_visible():
        jump.click()  # it stands over the last answer
        jump.wait_for(state="hidden")


def meter(panel: Panel) -> None:
    talk(panel)
    settings_open(panel)
    panel.root.get_by_role("link", name="What the assistant reads").click()
    panel.page.locator("dialog[open] progress").wait_for()


SCENES = (
    *(drawer_menu, drawer_search, drawer_nothing_found, drawer_rename),
    *(share_form, share_link, shared_page),
    *(drawer_deleted, settings_open, keyboard_map, edit_question, branch_picker),
    *(
        answer_anew,
        feedback_form,
        answer_menu,
        show_raw,
        quote_button,
        queue,
        said_within,
    ),
    *(queued, queue_paused, summed_up, meter),
    *(models, rate_limit, banner_production, full_page, unread),
    *(palette, pointing, command_arguments, command_sent, command_answer, command_form),
    *(right_to_left, right_to_left_drawer, narrow_320, zoom_200, forced_colours),
)
UNDER_WAY = {
    "shared_page": "shared-page",
    **dict.fromkeys(("queue", "queued", "queue_paused"), "streaming"),
    "said_within": "progress",
    **dict.fromkeys(("summed_up", "meter"), "summary"),
    **dict.fromkeys(
        ("palette", "pointing", "command_arguments", "command_answer"), "empty"
    ),
}  # the others are done
SAME = {
    scene.__name__.replace("_", "-"): UNDER_WAY.get(scene.__name__, "done")
    for scene in SCENES
}
ARABIC: dict[str, Any] = {"locale": "ar"}
OPTIONS: dict[str, dict[str, Any]] = {
    "right-to-left": ARABIC,
    "right-to-left-drawer": ARABIC,
    "narrow-320": {"viewport": {"width": 320, "height": 640}},
    # what is left of a desk's window at twice the size
    "zoom-200": {"viewport": {"width": 720, "height": 450}, "device_scale_factor": 2},
    "forced-colours": {"forced_colors": "active"},
}
LONG: dict[str, Any] = {
    "LIMITS": {"HISTORY_MESSAGES": 4},
    "PROFILES": {"default": {"WINDOW_TOKENS": 16_000}},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "summed-up": LONG,
    "meter": LONG,
    "empty-awaits": {"PROFILES": {"writer": {"MODEL": "openai/small"}}},
    "empty-written": {"PROFILES": {"writer": {"MODEL": "openai/small"}}},
    "models": {"PROFILES": {"large": {"MODEL": "openai/large", "LABEL": "Large one"}}},
    "rate-limit": {"RATES": {"USER": "1/m"}},
    "banner-production": {
        "PANEL": {"BANNER": {"text": "PRODUCTION", "level": "danger"}}
    },
}
