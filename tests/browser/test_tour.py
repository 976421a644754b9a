"""Marks with numbers, and a tour that the user steps through, over two pages."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.flashes import keep_shown
from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer

Visit = Callable[..., Visitor]
LIST = "/admin/questionnaires/questionnaire/"
ADD = "admin:questionnaires_questionnaire_add"
STEPS = [
    {"text": "Here are all of them.", "selector": "#content h1"},
    {"text": "Type the title here.", "selector": "#id_title", "view_name": ADD},
    {"text": "Then choose its state.", "selector": "#id_status"},
]
ENDS = "note => note.getBoundingClientRect().right"
BEGINS = "panel => panel.getBoundingClientRect().left"
# Whether the first note and its element have the same start, from right to left.
BEGINS_TOGETHER = """() => {
  const nodes = document.querySelectorAll("#content h1, .aia-highlight-note");
  const [heading, note] = [...nodes].map((node) => node.getBoundingClientRect().right);
  return Math.abs(heading - note) < 1;
}"""
POINTED = [
    {"text": "Choose its state.", "selector": "#id_status"},
    {"text": "Then save it.", "selector": "[name=_save]"},
]
MARKS = [
    {"selector": "#content h1", "text": "The list"},
    {"selector": "#nowhere", "text": "Nothing"},
    {"selector": "a.addlink", "text": "A new one"},
]


@pytest.fixture(scope="module", autouse=True)
def scripts(model: ModelServerProcess) -> None:
    model.script("toured", [[call("show_tour", {"steps": STEPS})], [text("Go on.")]])
    told = [call("show_tour", {"steps": POINTED})]
    model.script("pointed", [told, [text("Go on.")]])
    model.script("marked", [[call("highlight", {"marks": MARKS})], [text("There.")]])


def mark(panel: Panel) -> None:
    """Have three places marked, for as long as the page is there."""
    keep_shown(panel.page, "highlight.js", times=len(MARKS))
    panel.ask_and_wait("[[script:marked]]")


def test_marks_have_numbers_and_what_is_missing_is_told(
    panel: Panel, model: ModelServerProcess
) -> None:
    panel.goto(LIST)
    panel.open()
    mark(panel)

    expect(panel.page.locator(".aia-highlight")).to_have_count(2)
    expect(panel.page.locator("a.addlink.aia-highlight")).to_be_in_viewport()
    notes = panel.page.locator(".aia-highlight-note")
    assert notes.last.evaluate(ENDS) <= panel.root.evaluate(BEGINS)
    assert notes.all_inner_texts() == ["1. The list", "3. A new one"]
    told = json.loads(model.requests()[-1]["messages"][-1]["content"])
    assert told == {"found": 2, "missing": ["#nowhere"]}


def test_note_of_what_is_folded_away_shows_when_it_unfolds(
    panel: Panel, model: ModelServerProcess
) -> None:
    panel.goto(LIST)
    panel.open()
    heading = panel.page.locator("#content h1")
    heading.evaluate("heading => { heading.style.display = 'none'; }")
    mark(panel)

    notes = panel.page.locator(".aia-highlight-note")
    expect(notes.last).to_be_visible()
    expect(notes.first).to_be_hidden()

    heading.evaluate("heading => { heading.style.display = ''; }")
    expect(notes.first).to_be_visible()


def test_note_begins_where_its_element_does_from_right_to_left(
    visit: Visit, server: DemoServer
) -> None:
    mirrored = visit(server, locale="ar").panel(LIST)
    mark(mirrored)

    page = mirrored.page
    note = page.locator(".aia-highlight-note").first
    assert note.evaluate("note => getComputedStyle(note).direction") == "ltr"
    line = note.bounding_box()["height"]
    for width in (1440, 1024):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(BEGINS_TOGETHER)
        assert note.bounding_box()["height"] == line


def test_tour_goes_from_page_to_page_as_the_user_presses(panel: Panel) -> None:
    page = panel.page
    tour, outlined = page.locator(".aia-tour"), page.locator(".aia-highlight")
    panel.goto(LIST)
    panel.open()
    panel.ask_and_wait("[[script:toured]]")

    expect(tour).to_contain_text("Here are all of them.")
    expect(page.locator("#content h1.aia-highlight")).to_be_visible()
    expect(tour.get_by_role("button", name="Back")).to_be_hidden()

    tour.get_by_role("button", name="Next").click()
    page.wait_for_url(f"**{LIST}add/")
    expect(tour).to_contain_text("Type the title here.")
    expect(page.locator("#id_title.aia-highlight")).to_be_visible()

    tour.get_by_role("button", name="Next").click()
    expect(tour).to_contain_text("Then choose its state.")
    expect(page.locator("#id_status.aia-highlight")).to_be_visible()
    expect(outlined).to_have_count(1)
    expect(tour.get_by_role("button", name="Next")).to_be_hidden()

    page.locator("#id_title").fill("Half a title")
    tour.get_by_role("button", name="Back").click()
    tour.get_by_role("button", name="Back").click()
    expect(tour).to_contain_text("This page has unsaved changes.")
    expect(page.locator("#id_title")).to_have_value("Half a title")

    tour.get_by_role("button", name="End").click()
    expect(tour).to_have_count(0)
    expect(outlined).to_have_count(0)
    panel.goto(f"{LIST}add/")
    expect(page.locator("#aia-input")).to_be_visible()
    expect(tour).to_have_count(0)


def test_panel_of_a_phone_makes_room_for_what_is_pointed_at(panel: Panel) -> None:
    page = panel.page
    tour, aside = page.locator(".aia-tour"), page.locator("#aia[data-aside]")
    page.set_viewport_size({"width": 390, "height": 844})
    panel.goto(f"{LIST}add/")
    panel.open()
    tall = page.locator("#aia").bounding_box()
    panel.ask_and_wait("[[script:pointed]]")

    expect(tour).to_contain_text("Choose its state.")
    expect(aside).to_be_visible()
    for locator in (page.locator("#id_status"), page.locator(".aia-highlight-note")):
        expect(locator).to_be_in_viewport(ratio=1)
        shown, over = locator.bounding_box(), aside.bounding_box()
        assert shown["y"] + shown["height"] <= over["y"], (shown, over)
    for button in ("Next", "End"):
        expect(tour.get_by_role("button", name=button)).to_be_in_viewport(ratio=1)

    tour.get_by_role("button", name="Next").click()
    expect(tour).to_contain_text("Then save it.")
    expect(page.locator("[name=_save]")).to_be_in_viewport(ratio=1)
    saved = page.locator("[name=_save]").bounding_box()
    assert saved["y"] + saved["height"] <= aside.bounding_box()["y"]

    tour.get_by_role("button", name="End").click()
    expect(aside).to_have_count(0)
    assert page.locator("#aia").bounding_box() == tall


def test_tour_leads_to_no_other_site(panel: Panel) -> None:
    page = panel.page
    panel.goto(LIST)
    panel.open()
    step = {"path": "//127.0.0.1:9/", "title": "Elsewhere", "text": "", "selector": ""}
    tour = json.dumps({"steps": [step], "at": 0})
    for key, value in (("aia.tour", tour), ("aia.going", "null")):
        page.evaluate("(one) => sessionStorage.setItem(...one)", [key, value])
    page.reload()
    page.locator(".aia-tour").get_by_role("button", name="Next").click()

    expect(page.locator(".aia-tour")).to_have_count(0)
    assert page.evaluate("location.pathname") == LIST
