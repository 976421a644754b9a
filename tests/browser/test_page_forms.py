"""Forms of a page outside of the admin: what is told of them, and how they are filled in."""

import json
from typing import Any

import pytest
from django.template import Context, Template
from playwright.sync_api import expect

from ai_assistant.safety.policy.sensitive import HIDDEN
from tests.browser.panel import Panel
from tests.docs.blocks import blocks
from tests.docs.blocks import page as document
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.testapp.forms import Parts

SAVED = {
    "name": ["Ada"],
    "nick": [""],  # taken back
    "born": ["2026-01-02"],
    "at_0": ["2026-01-02"],
    "at_1": ["10:00"],
    "kind": ["high"],
    "level": ["low"],
    "tags": ["new", "odd"],
    "more": ["old"],
    "agree": ["on"],
    "about": ["Two\r\nlines"],
    "password": [""],
    "photo": [""],
    "step": ["2"],
    "item-TOTAL_FORMS": ["2"],
    "item-INITIAL_FORMS": ["1"],
    "item-MIN_NUM_FORMS": ["0"],
    "item-MAX_NUM_FORMS": ["1000"],
    "item-0-title": ["Pen"],
    "item-0-amount": ["1"],
    "item-0-DELETE": ["on"],
    "item-1-title": ["Ink"],
    "item-1-amount": ["3"],
}
GIVEN = {
    "name": "Ada",
    "nick": "ada",
    "born": "2026-01-02",
    "at_0": "2026-01-02",
    "at_1": "10:00",
    "kind": "High",
    "level": "low",
    "tags": ["new", "Odd"],
    "more": ["old"],
    "agree": True,
    "about": "Two\nlines",
    "item-0-DELETE": True,
    "item-1-title": "Ink",
    "item-1-amount": 3,
}
WRONG = {
    "name": "x" * 21,
    "nick": "UPPER",
    "born": "tomorrow",
    "kind": "medium",
    "agree": "perhaps",
    "photo": "me.png",
    "step": "3",
    "item-1-amount": 10,
    "item-2-title": "No such row",
}


ORDER = {
    "part-TOTAL_FORMS": ["2"],
    "part-INITIAL_FORMS": ["1"],
    "part-MIN_NUM_FORMS": ["0"],
    "part-MAX_NUM_FORMS": ["3"],
    "part-0-title": ["Nib"],
    "part-0-amount": [""],
    "part-0-DELETE": ["on"],
    "part-1-title": ["Ink"],
    "part-1-amount": ["3"],
}
BOX = ("part-1-DELETE",)


class Hands:
    """The scripted model, at a page of the site."""

    def __init__(self, tab: Panel, model: ModelServerProcess) -> None:
        self.tab, self.model = tab, model

    def does(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; return what the model was told."""
        answers = len(self.tab.answers())
        script = [[call(name, arguments)], [text("So it is.")]]
        self.model.script("page_forms", script)
        self.tab.ask("Do it [[script:page_forms]]")
        self.tab.wait_done(answers + 1)
        results = [
            one["content"]
            for one in self.model.requests()[-1]["messages"]
            if one["role"] == "tool"
        ]
        return dict(json.loads(results[-1]))

    def fill(self, form: str = "", **values: Any) -> dict[str, Any]:
        return self.does("fill_form", form=form, values=values)


@pytest.fixture
def hands(tab: Panel, model: ModelServerProcess) -> Hands:
    tab.goto("/forms/")
    return Hands(tab, model)


@pytest.mark.row("B08", "W02")
def test_forms_of_a_page_are_told_and_wrong_values_refused(
    hands: Hands, subtests: pytest.Subtests
) -> None:
    page = hands.tab.page
    with subtests.test("its forms are told, and what is in a dialog"):
        page.evaluate(DIALOG)
        state = hands.does("get_page_state")
        named = {one["name"]: one for one in state["forms"]}
        fields = {(one["form"], one["name"]): one for one in state["fields"]}
        assert [*named] == ["profile", "billing", "delivery", "order", "search"]
        assert named["profile"]["rows"] == {"item": 2}
        assert named["order"]["new_row"] == ["part-1-title", "part-1-amount", *BOX]
        assert named["billing"]["buttons"] == ["Save"]
        name, kind = fields["profile", "name"], fields["profile", "kind"]
        assert name["required"]
        assert (name["value"], name["help"]) == ("Bob", "As on the card.")
        assert kind["label"] == "Kind:"
        assert kind["options"][1] == {"value": "high", "text": "High"}
        assert fields["profile", "is_staff"]["value"] == HIDDEN
        assert fields["billing", "billing-city"]["value"] == "Oslo"
        assert not {"password", "step", "photo"} & {one for _form, one in fields}
        (dialog,) = state["dialogs"]
        assert 'button "Close"' in dialog
        page.evaluate("document.querySelector('dialog').remove()")
    with subtests.test("what the page would refuse is refused before it is touched"):
        told = hands.fill("profile", **{**GIVEN, **WRONG})
        for wrong in WRONG:
            assert f"{wrong}: " in told["error"], told
        assert "level" not in told["error"]
        assert (
            "item-2-title: is in no row of item: it has 2, and the page offers"
            in (told["error"])
        )
        expect(page.locator("[data-aia-filled]")).to_have_count(0)
        assert page.input_value("#id_name") == "Bob"


@pytest.mark.row("B08")
def test_form_of_a_page_is_filled_in_and_the_person_saves_it(
    hands: Hands, subtests: pytest.Subtests
) -> None:
    page = hands.tab.page
    with subtests.test("a name of several forms is refused with the list"):
        assert "billing, delivery" in hands.fill(street="Main 1")["error"]
        assert "profile, search" in hands.fill(name="Ada")["error"]
        assert "profile, billing" in hands.fill("no_form", name="Ada")["error"]
    with subtests.test("one of two alike is named by its prefix"):
        assert hands.fill("delivery", street="Main 1")["filled"] == ["street"]
        assert page.input_value("#id_delivery-street") == "Main 1"
        assert page.input_value("#id_billing-street") == ""
    with subtests.test("a field that is sent by itself is left alone"):
        told = hands.fill("search", query="Ada")
        assert told["sends_itself"] == ["query"]
        assert page.input_value("[name=query]") == ""
    with subtests.test("what is kept is posted, and nothing else"):
        told = hands.fill("profile", **GIVEN)
        assert sorted(told["filled"]) == sorted(GIVEN)
        assert not told["saved"]
        expect(page.locator("#id_name + .aia-filled del")).to_have_text("Bob")
        page.locator("#id_nick + .aia-filled button").click()
        assert page.input_value("#id_nick") == ""
        page.locator(".aia-filling button").first.click()
        expect(page.locator(".aia-filled")).to_have_count(0)
        with page.expect_navigation():
            page.get_by_role("button", name="Save profile").click()
        told = json.loads(page.locator("#told").text_content() or "")
        told["posted"].pop("csrfmiddlewaretoken")
        assert told["posted"] == SAVED
        assert told["wrong"] == [{}, [{}]]  # the row that is deleted is not checked


@pytest.mark.row("B08")
def test_rows_of_a_formset_are_added_and_taken_back(
    hands: Hands, subtests: pytest.Subtests
) -> None:
    page = hands.tab.page
    rows, total = (
        page.locator("#order tbody > tr"),
        page.locator("#id_part-TOTAL_FORMS"),
    )
    new = {"part-1-title": "Ink", "part-1-amount": 3, "part-2-title": "Cap"}
    with subtests.test("no more than the formset takes, or with a gap"):
        told = hands.fill("order", **new, **{"part-3-title": "Box"})
        assert "part-3-title: is in no row of part: it has 3" in told["error"]
        told = hands.fill("order", **{"part-2-title": "Cap"})
        assert "it has 1, and part-1 comes first" in told["error"]
        expect(rows).to_have_count(1)
        expect(total).to_have_value("1")
    with subtests.test("a row goes with the last of its fields"):
        told = hands.fill("order", **new, **{"part-0-DELETE": True})
        assert told["filled"] == [*new, "part-0-DELETE"]
        expect(rows).to_have_count(3)
        row = page.locator("#id_part-2-title")
        row.locator("+ .aia-filled").get_by_role("button").click()
        expect(rows).to_have_count(2)
        assert page.evaluate("document.activeElement.id") == "aia-input"
    with subtests.test("what is kept is saved"):
        page.locator(".aia-filling button").first.click()
        with page.expect_navigation():
            page.get_by_role("button", name="Save order").click()
        told = json.loads(page.locator("#told").text_content() or "")
        told["posted"].pop("csrfmiddlewaretoken")
        assert told == {"posted": ORDER, "wrong": [{}]}  # of the new row
    with subtests.test("all of it is taken back"):
        hands.tab.goto("/forms/")
        hands.fill("order", **new)
        page.locator(".aia-filling button").last.click()
        expect(rows).to_have_count(1)
        expect(total).to_have_value("1")


DIALOG = """() => {
  const dialog = document.createElement("dialog");
  dialog.innerHTML = "<h2>Sure?</h2><button>Close</button>";
  document.body.append(dialog);
  dialog.show();
}"""


# An input hides by its name what a form has itself.
HIDING = (
    *("matches", "closest", "querySelector", "querySelectorAll", "elements", "action"),
    *("id", "name", "method", "getAttribute", "getAttributeNames", "localName"),
    *("parentElement", "getRootNode", "checkVisibility", "childNodes", "isConnected"),
)
HIDDEN_FORM = """async (names) => {
  const form = document.createElement("form");
  form.setAttribute("method", "post");
  form.setAttribute("id", "hidden-form");
  form.append(...names.map((name) => Object.assign(document.createElement("input"), { name })));
  const button = document.createElement("button");
  button.textContent = "Send it";
  form.append(button);
  document.body.append(form, document.createElement("iframe"));
  const { isDirty } = await import("/static/ai_assistant/dirty.js");
  const { outline } = await import("/static/ai_assistant/outline.js");
  const { pageAction } = await import("/static/ai_assistant/page_action.js");
  const { fillPage } = await import("/static/ai_assistant/page_forms.js");
  const wasDirty = isDirty();
  const { snapshot, lines } = outline(document.body);
  const ref = lines.find(([, , role, , , , of]) => role === "textbox" && of === "matches")[1];
  const { failed } = await pageAction(
    { snapshot, actions: [{ action: "fill", ref, value: "by ref" }], approved: false },
    async () => true);
  const values = { elements: ["by name"] };
  const told = await fillPage({ page: location.href, form: "hidden-form", values });
  return {
    wasDirty, isDirty: isDirty(), failed, filled: told.filled,
    fields: names.filter((name) => lines.some(([, , , , , , of]) => of === name)).length,
    asks: lines.find(([, , role, name]) => role === "button" && name === "Send it")[5],
    frames: lines.filter(([, , role]) => role === "iframe").map((line) => line[5]),
    values: [...document.querySelectorAll("#hidden-form input")]
      .map(({ value }) => value).filter((one) => one),
  };
}"""


@pytest.mark.row("W03")
def test_a_form_that_hides_its_own_is_read_and_filled_in(hands: Hands) -> None:
    told = hands.tab.page.evaluate(HIDDEN_FORM, [*HIDING])

    assert told == {
        "wasDirty": False,
        "isDirty": True,
        "failed": None,
        "filled": ["elements"],
        "fields": len(HIDING),
        "asks": "asks",
        "frames": ["cannot be read"],
        "values": ["by ref", "by name"],
    }


PLACE = """html => {
  const box = document.createElement("section");
  box.innerHTML = html;
  document.body.append(box);
}"""
MORE = """() => {
  const form = document.querySelector("#parcels");
  const { content } = form.querySelector("template");
  form.querySelector("template").remove();
  document.querySelector("[data-aia-add-row=parcel]").onclick = () => {
    const total = form.elements["parcel-TOTAL_FORMS"];
    const row = content.cloneNode(true);
    for (const one of row.querySelectorAll("[name]"))
      one.name = one.name.replace("__prefix__", total.value);
    form.append(row);
    total.value = Number(total.value) + 1;
  };
}"""
STATES = """async () => {
  const { outline } = await import("/static/ai_assistant/outline.js");
  const { lines } = outline(document.body);
  return Object.fromEntries(lines.map(([, , , name, , state]) => [name, state]));
}"""


@pytest.mark.row("W06")
def test_recipes_of_the_docs(hands: Hands, subtests: pytest.Subtests) -> None:
    page = hands.tab.page
    found = blocks(document("docs/page-agent.md"))
    html = {one.file: one.code.partition("\n")[2] for one in found if one.file}
    (script,) = [one.code for one in found if one.language == "js"]
    with subtests.test("a widget of the page's own"):
        page.evaluate(PLACE, html["shop/templates/shop/seats.html"])
        page.evaluate(f"() => {{ {script} }}")
        told = hands.does("choose_seats", seats=["A2"])
        assert told == {"chosen": ["A2"]}
        assert page.input_value("[name=seats]") == "A2"
        error = hands.does("choose_seats", seats=["A2", "B7"])["error"]
        assert "Not free: B7. Free: A1,A2" in error
    with subtests.test("rows of a formset, of an empty one and by a button"):
        context = Context({"parcels": Parts(prefix="parcel")})
        parcels, more = (
            Template(html[f"shop/templates/shop/{name}.html"]).render(context)
            for name in ("parcels", "more")
        )
        page.evaluate(PLACE, parcels)
        assert hands.fill("parcels", **{"parcel-0-title": "A"})["filled"]
        page.evaluate(PLACE, more)
        page.evaluate(MORE)
        assert hands.fill("parcels", **{"parcel-1-title": "B"})["filled"]
        titles = page.locator("#parcels [name$=title]")
        expect(titles).to_have_count(2)
        page.locator(".aia-filling button").last.click()
        expect(titles).to_have_count(0)
    with subtests.test("effects of the page's own"):
        page.evaluate(PLACE, html["shop/templates/shop/remarks.html"])
        said = page.evaluate(STATES)
        page.evaluate(
            """() => document.querySelectorAll("[data-aia-effect]").forEach(
              (one) => one.removeAttribute("data-aia-effect"))"""
        )
        unsaid = page.evaluate(STATES)
        assert (said["Show the legend"], unsaid["Show the legend"]) == ("", "asks")
        assert (said["Remark"], unsaid["Remark"]) == ("asks", "")
