"""The form of the page, filled in by the assistant and saved by the person."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Error, expect

from ai_assistant.safety.policy.sensitive import HIDDEN
from tests.browser.panel import Panel
from tests.browser.theatre import PHONE
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle

DRAFT = """SELECT section.id, questionnaire_id, section.title
  FROM questionnaires_section section
  JOIN questionnaires_questionnaire owner ON owner.id = section.questionnaire_id
  WHERE owner.status = 'draft' ORDER BY section.id DESC"""
QUESTIONS = """SELECT name, text, type_id FROM questionnaires_question
  WHERE section_id = %s ORDER BY position"""
ASK = "Fill it in [[script:fill]]"


def fill(tab: Panel, model: ModelServerProcess, values: dict, **inlines: list) -> None:
    given = {"values": values, **({"inlines": inlines} if inlines else {})}
    model.script("fill", [[call("fill_form", given)], [text("Look at it, and save.")]])
    tab.ask_and_wait(ASK)


@pytest.mark.row("B08", "ui 59")
@pytest.mark.scenario(29)
def test_form_is_filled_in_and_the_person_decides_what_is_saved(
    tab: Panel, model: ModelServerProcess, oracle: Oracle, subtests: pytest.Subtests
) -> None:
    section, other = oracle.rows(DRAFT)[:2]
    before = oracle.rows(QUESTIONS, section["id"])
    (kind, *_) = oracle.rows("SELECT id, label FROM questionnaires_questiontype")
    tab.goto(f"/admin/questionnaires/section/{section['id']}/change/")
    page = tab.page
    fill(
        tab,
        model,
        {
            "title": "Filled in",
            "position": 77,
            "questionnaire": other["questionnaire_id"],
        },
        questions=[{"type": kind["id"], "name": "new_one", "text": "A new one?"}],
    )

    with subtests.test("fields are marked, and nothing is saved"):
        assert page.input_value("#id_title") == "Filled in"
        expect(page.locator("#id_title[data-aia-filled]")).to_be_visible()
        expect(page.locator("#id_title + .aia-filled del")).to_have_text(
            section["title"]
        )
        assert oracle.rows(QUESTIONS, section["id"]) == before
    with subtests.test("a choice that the page did not have has its name"):
        expect(page.locator(".field-type .select2-selection").last).to_contain_text(
            kind["label"]
        )
    with subtests.test("one field is taken back"):
        page.locator(".field-position [data-aia-take-back]").first.click()
        assert page.input_value("#id_position") != "77"
        assert page.evaluate("document.activeElement.id") == "id_position"
    with subtests.test("what is kept is saved, and nothing else"):
        page.locator(".aia-filling button").first.click()
        expect(page.locator(".aia-filled")).to_have_count(0)
        with page.expect_navigation():
            page.locator("[name=_save]").first.click()
        (now,) = [one for one in oracle.rows(DRAFT) if one["id"] == section["id"]]
        assert now["title"] == "Filled in"
        assert now["questionnaire_id"] == other["questionnaire_id"]
        added = {"name": "new_one", "text": "A new one?", "type_id": kind["id"]}
        assert oracle.rows(QUESTIONS, section["id"]) == [*before, added]


SCHEDULES = "SELECT * FROM questionnaires_schedule ORDER BY id"
ASKED = "SELECT * FROM questionnaires_schedulesection ORDER BY id"
UNASKED = """SELECT id FROM questionnaires_section WHERE questionnaire_id = %s
  AND id NOT IN (SELECT section_id FROM questionnaires_schedulesection)"""


@pytest.mark.row("B08")
def test_mirrored_form_on_a_phone_saves_what_is_wanted_and_nothing_else(
    server: DemoServer,
    visit: Callable[..., Visitor],
    model: ModelServerProcess,
    oracle: Oracle,
) -> None:
    """A text, a choice, numbers, dates, a box, and a row with what is searched."""
    schedule, *rest = oracle.rows(SCHEDULES)
    asked = oracle.rows(ASKED)
    (section, *_) = oracle.rows(UNASKED, schedule["questionnaire_id"])
    row = {"section": section["id"], "position": 40}
    values = {
        "name": "مرة كل أسبوع",
        "anchor": "fixed_date",
        "anchor_date": "2031-05-06",
        "offset_days": -3,
        "repeat_every_days": 7,
        "repeat_count": None,
        "repeat_until": "2031-07-08",
        "active": not schedule["active"],
    }
    phone = visit(server, locale="ar", **PHONE).tab()
    phone.goto(f"/admin/questionnaires/schedule/{schedule['id']}/change/")
    page = phone.page
    assert page.locator("html").get_attribute("dir") == "rtl"
    phone.open()
    fill(phone, model, values, schedule_sections=[row])

    page.locator("#aia-close").click()
    marks = page.locator(".aia-filled")
    expect(marks).to_have_count(len(values) + len(row))
    for mark in marks.all():
        mark.scroll_into_view_if_needed()
        place = mark.bounding_box()
        assert place
        assert place["x"] >= 0
        assert place["x"] + place["width"] <= 390
    with page.expect_navigation():
        page.locator("[name=_save]").first.click()

    assert oracle.rows(SCHEDULES) == [{**schedule, **values}, *rest]
    new = oracle.rows(ASKED)
    assert new[:-1] == asked
    given = (new[-1]["schedule_id"], new[-1]["section_id"], new[-1]["position"])
    assert given == (schedule["id"], section["id"], 40)


FILL = """given => import("/static/ai_assistant/fill.js").then(
  module => module.fillForm(given))"""


def test_inputs_of_each_kind(tab: Panel, subtests: pytest.Subtests) -> None:
    """As the server names them, whatever the tool may fill in."""
    path = "/admin/auth/user/1/change/"
    tab.goto(path)
    page = tab.page

    def put(name: str, *values: str, at: str = path) -> dict[str, list[str]]:
        field = {"name": name, "label": "", "values": values, "texts": {}}
        told: dict[str, list[str]] = page.evaluate(
            FILL, {"page": at, "fields": [field], "rows": {}}
        )
        return told

    with subtests.test("two boxes between which choices move"):
        page.locator("#id_user_permissions_to").wait_for()
        ids = page.locator("#id_user_permissions_from option").evaluate_all(
            "options => options.slice(0, 2).map((one) => one.value)"
        )
        put("user_permissions", *ids)
        moved = page.locator("#id_user_permissions_to option")
        expect(moved).to_have_count(2)
        page.locator(".field-user_permissions [data-aia-take-back]").click()
        expect(moved).to_have_count(0)
    with subtests.test("a date and a time"):
        put("date_joined_0", "2026-01-02")
        put("date_joined_1", "03:04:05")
        assert page.input_value("#id_date_joined_1") == "03:04:05"
    with subtests.test("a box to tick"):
        put("is_active")
        assert not page.is_checked("#id_is_active")
        page.locator(".field-is_active [data-aia-take-back]").click()
        assert page.is_checked("#id_is_active")
    with subtests.test("one that the person types in is left alone"):
        page.locator("#id_first_name").focus()
        assert put("first_name", "Ada")["typed_by_person"] == ["first_name"]
        assert page.input_value("#id_first_name") == ""
    with subtests.test("one that sends itself is left alone"):
        page.locator("#id_email").evaluate("one => one.setAttribute('hx-post', '/x')")
        assert put("email", "ada@example.org")["sends_itself"] == ["email"]
    is_refused = pytest.raises(Error, match="another one")
    with subtests.test("another page is left alone"), is_refused:
        put("last_name", "Ada", at="/admin/auth/user/2/change/")


@pytest.mark.row("W02")
def test_page_tells_what_it_shows(
    tab: Panel, model: ModelServerProcess, subtests: pytest.Subtests
) -> None:
    model.script("look", [[call("get_page_state", {})], [text("I see.")]])

    def seen(path: str) -> dict[str, Any]:
        tab.goto(path)
        tab.page.locator("[name=first_name]").evaluate_all(
            "all => all.forEach((one) => { one.value = 'Not saved' })"
        )
        tab.ask_and_wait("Look at it [[script:look]]")
        (told,) = [
            one["content"]
            for one in model.requests()[-1]["messages"]
            if one["role"] == "tool"
        ][-1:]
        return dict(json.loads(told))

    with subtests.test("a form, with what is typed, and without what is secret"):
        state = seen("/admin/questionnaires/questionnaire/1/change/")
        fields = {one["name"]: one for one in state["fields"]}
        assert fields["title"]["kind"] == "text"
        assert fields["status"]["value"][0].keys() == {"value", "text"}
        assert "Save" in state["buttons"]
        assert "csrfmiddlewaretoken" not in fields
    with subtests.test("a list, with its filters"):
        state = seen("/admin/questionnaires/questionnaire/?status__exact=draft")
        assert any("raft" in text for text in state["list"]["filters"]), state["list"]
        assert state["list"]["rows"]
    with subtests.test("what is typed, and nothing that is sensitive"):
        state = seen("/admin/auth/user/1/change/")
        fields = {one["name"]: one for one in state["fields"]}
        assert fields["first_name"]["value"] == "Not saved"
        assert fields["first_name"]["saved"] == ""
        assert fields["is_superuser"]["value"] == HIDDEN
        assert "password" not in fields
