"""The page as an outline, and what is done to it by its refs."""

import itertools
import json
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.panel import Panel
from tests.browser.visitor import Visitor
from tests.model_server import ModelServerProcess
from tests.model_server.scripts import call, text
from tests.servers.oracle import Oracle

DRAFT = """SELECT section.id, section.title FROM questionnaires_section section
  JOIN questionnaires_questionnaire owner ON owner.id = section.questionnaire_id
  WHERE owner.status = 'draft' ORDER BY section.id"""


class Hands:
    """What the scripted model sees of the page, and does to it."""

    def __init__(self, tab: Panel, model: ModelServerProcess) -> None:
        self.tab, self.model = tab, model
        self.told: dict[str, Any] = {}

    def look(self, **arguments: str) -> str:
        self._send("get_page_state", {"mode": "outline", **arguments})
        self.finish()
        return str(self.told["outline"])

    def act(self, *actions: tuple[str, ...]) -> dict[str, Any]:
        self.ask(*actions, ask=False)
        return self.finish()

    def ask(self, *actions: tuple[str, ...], ask: bool = True) -> None:
        keys = ("action", "ref", "value")
        given = [dict(zip(keys, one, strict=False)) for one in actions]
        arguments = {"snapshot": self.told["snapshot"], "actions": given, "ask": ask}
        self._send("page_action", arguments)

    def finish(self) -> dict[str, Any]:
        """Wait for the answer; return what the model was told of the page."""
        self.tab.wait_done(self.answered + 1)
        sent = [one["messages"] for one in self.model.requests()]
        results = [
            one["content"] for all_ in sent for one in all_ if one["role"] == "tool"
        ]
        told = json.loads(results[-1])
        self.told = told if "outline" in told else {**self.told, **told}
        return self.told

    def ref(self, role: str, name: str) -> str:
        found = re.search(
            rf'^ *(e\d+) {role} "{re.escape(name)}"', self.told["outline"], re.M
        )
        assert found, self.told["outline"]
        return found[1]

    def _send(self, name: str, arguments: dict[str, Any]) -> None:
        self.answered = len(self.tab.answers())
        self.model.script("hands", [[call(name, arguments)], [text("So it is.")]])
        self.tab.ask("Look, or do it [[script:hands]]")


@pytest.fixture
def hands(tab: Panel, model: ModelServerProcess) -> Hands:
    return Hands(tab, model)


@pytest.mark.row("W03", "W05")
def test_a_form_is_filled_in_unasked_and_saved_after_approval(
    hands: Hands, oracle: Oracle, subtests: pytest.Subtests
) -> None:
    tab, page = hands.tab, hands.tab.page
    section = oracle.rows(DRAFT)[0]
    tab.goto(f"/admin/questionnaires/section/{section['id']}/change/")
    hands.look()
    title, save = hands.ref("textbox", "Title"), hands.ref("button", "Save")

    with subtests.test("typing runs unasked, a button that saves does not"):
        told = hands.act(("fill", title, "Acted upon"), ("click", save))
        assert told["done"] == 1
        assert "ask=true" in told["failed"]["error"]
        assert page.input_value("#id_title") == "Acted upon"
        assert "Acted upon" not in str(oracle.rows(DRAFT))
    with subtests.test("the card has the words of the page"):
        hands.ask(("fill", title, "Saved at last"), ("click", save))
        expect(tab.approval).to_contain_text("Save")
        expect(tab.approval).to_contain_text("Saved at last")
        assert page.input_value("#id_title") == "Acted upon"
    with subtests.test("approved, it is done, and the next page is told"):
        with page.expect_navigation():
            tab.approve()
        tab.ready()
        hands.finish()
        assert hands.told["left"]
        assert "Saved at last" in str(oracle.rows(DRAFT))


# --- in the page itself, without a server: what it does with what it is told ---

SETUP = """() => {
  const real = window.setTimeout;  // nobody waits for what a click has begun
  window.setTimeout = (work, ms) => real(work, Math.min(ms ?? 0, 1));
  document.querySelector("#content").innerHTML = '<div id="stage"></div>';
  window.stage = document.querySelector("#stage");
  window.heard = [];
  window.listen = (place) => {
    for (const kind of ["click", "submit", "change", "keydown", "pointerdown"])
      place.addEventListener(kind, (event) => {
        if (kind === "submit" || kind === "click") event.preventDefault();
        if (event.target.shadowRoot) return;  // heard there
        if (!event.isTrusted || kind === "submit") heard.push([kind, event.target]);
      }, true);
  };
  listen(document);
}"""

CHANGES = """async ([rounds, first]) => {
  const { outline } = await import("/static/ai_assistant/outline.js");
  const { pageAction } = await import("/static/ai_assistant/page_action.js");
  const { default: htmx } = await import("/static/ai_assistant/vendor/htmx.esm.min.js");
  let seed = first;
  const random = (most) => (seed = (seed * 48271) % 2147483647) % most;
  const pick = (all) => all[random(all.length)];
  const NAMES = ["Ada", "Bob", "Cleo", "Dan"];
  const row = (name) => `<tr><th>${name}</th><td><button type="button">Open</button></td>
    <td><a href="/go/${name}/">Delete</a></td>
    <td><label>Note <input name="note-${name}"></label></td></tr>`;
  const draw = () => {
    stage.innerHTML = `<form method="post"><table>${NAMES.map(row).join("")}</table>
      <button name="_save">Save</button> <button name="_next">Save</button></form>
      <ul>${NAMES.map((one) => `<li>${one} <button>Open</button></li>`).join("")}</ul>
      <div id="host"></div><iframe title="Other"></iframe>`;
    const shadow = document.querySelector("#host").attachShadow({ mode: "open" });
    listen(shadow);
    shadow.innerHTML = "<p>Within</p><button>Open</button><input aria-label='Deep'>";
  };
  const all = (selector) => [...stage.querySelectorAll(selector)];
  const shadow = () => document.querySelector("#host").shadowRoot;
  const swapped = (one, other) => {
    const mark = document.createComment("");
    one.before(mark);
    other.before(one);
    mark.replaceWith(other);
  };
  // As the answer of a server, with the rows in another order; a morph keeps elements.
  const rendered = (swap) => {
    const target = stage.querySelector("table");
    const names = [...NAMES].sort(() => random(3) - 1);
    return htmx.swap({ text: names.map(row).join(""), target, sourceElement: target, swap });
  };
  const MUTATIONS = {
    reorder: () => pick(all("tr")).parentNode.prepend(pick(all("tr"))),
    swapRows: () => { const [a, b] = [pick(all("tr")), pick(all("tr"))]; if (a !== b) swapped(a, b); },
    swapButtons: () => { const [a, b] = [pick(all("tr button")), pick(all("tr button"))]; if (a !== b) swapped(a, b); },
    recycle: () => { for (const one of all("th")) one.textContent = pick(NAMES); },
    rename: () => { pick(all("button, a")).textContent = pick(["Open", "Save", "Delete"]); },
    label: () => pick(all("button, a")).setAttribute("aria-label", pick(["Open", "Delete"])),
    role: () => pick(all("button, a")).setAttribute("role", pick(["tab", "link", "button"])),
    href: () => pick(all("a")).setAttribute("href", `/go/${pick(NAMES)}/`),
    name: () => pick(all("button, input")).setAttribute("name", pick(["_save", "_delete"])),
    action: () => pick(all("form")).setAttribute("action", pick(["/a/", "/b/"])),
    replace: () => { const one = pick(all("button, a, input")); one.replaceWith(one.cloneNode(true)); },
    remove: () => pick(all("tr, li, button")).remove(),
    swapTables: () => { for (const one of all("table")) one.outerHTML = `<table>${[...NAMES].reverse().map(row).join("")}</table>`; },
    rerender: draw,
    items: () => { for (const one of all("li")) one.firstChild.data = `${pick(NAMES)} `; },
    deep: () => { shadow().innerHTML = "<p>Other</p><button>Open</button><input aria-label='Deep'>"; },
    frame: () => all("iframe").forEach((one) => one.contentDocument.body.append("<button>Open</button>")),
    insert: () => pick(all("tr, li")).before(pick(all("tr, li")).cloneNode(true)),
    htmx: () => rendered("innerHTML"),
    morph: () => rendered("innerMorph"),
    nothing: () => {},
  };
  // What a person would call it; not made of what is tested.
  const meaning = (one) => [
    one.localName,
    one.getAttribute("role") ?? { button: "button", a: "link" }[one.localName],
    one.getAttribute("aria-label") ?? one.textContent, one.getAttribute("href"), one.getAttribute("name"),
    one.localName === "button" && one.form?.getAttribute("action"),
    one.closest("tr")?.querySelector("th")?.textContent ?? "",
    one.closest("li")?.firstChild.data.trim() ?? "",
  ].join("|");
  const told = { acted: 0, refused: 0, wrong: [], kinds: {} };
  for (let round = 0; round < rounds; round += 1) {
    draw();
    const { snapshot, lines } = outline(stage);
    const candidates = [...all("button, a, input"), ...shadow().querySelectorAll("button, input")];
    const refs = lines.filter(([, ref]) => ref);
    if (refs.length !== candidates.length) return { refs, count: candidates.length };
    const at = random(refs.length);
    const [, ref, role] = refs[at];
    const target = candidates[at];
    const was = meaning(target);
    const [kind, mutate] = pick(Object.entries(MUTATIONS));
    await mutate();
    if (random(3) === 0) await pick(Object.values(MUTATIONS))();
    heard.length = 0;
    const action = role === "textbox"
      ? { action: "fill", ref, value: `${round}` } : { action: "click", ref, value: "" };
    const { failed } = await pageAction(
      { snapshot, actions: [action], approved: true }, async () => true);
    const hit = heard.filter(([one]) => ["click", "change"].includes(one)).map(([, one]) => one);
    if (failed) told.refused += 1;
    else told.acted += 1;
    told.kinds[kind] = (told.kinds[kind] ?? 0) + 1;
    const isSame = hit.every((one) => one === target) && meaning(target) === was;
    if ((hit.length > 0) === Boolean(failed) || (hit.length && !isSame))
      told.wrong.push([round, kind, was, hit.map(meaning), failed?.error]);
  }
  return told;
}"""


@pytest.mark.row("W04")
def test_no_other_element_is_acted_upon_when_the_page_changes(tab: Panel) -> None:
    tab.goto("/admin/")
    tab.page.evaluate(SETUP)

    told = tab.page.evaluate(CHANGES, [500, 7])

    assert told["wrong"] == []
    assert told["kinds"]["morph"] > 10
    assert told["acted"] > 100
    assert told["refused"] > 100


OTHERS = """async () => {
  const { outline } = await import("/static/ai_assistant/outline.js");
  const { pageAction } = await import("/static/ai_assistant/page_action.js");
  const { fillForm } = await import("/static/ai_assistant/fill.js");
  stage.innerHTML = `<form method="post" id="own">
      <input type="radio" name="state" value="a" aria-label="Choice"><input name="title" aria-label="Name">
      <textarea name="body" hidden></textarea><div class="ck-editor"><p class="ck-editor__editable">x</p></div>
      <button type="button" aria-label="Delete" data-id="1"></button>
      <input type="checkbox" value="1" aria-label="Pick"><a href="/x/">Vault of gold</a><button name="_save">Save</button></form>
    <form data-aia-effect="asks"><input type="radio" name="state" value="a"><input name="title"></form>`;
  const [own, other] = stage.querySelectorAll("form");
  stage.prepend(other);
  const written = [];
  own.querySelector("p").ckeditorInstance = { setData: (text) => written.push(text) };
  const { snapshot, lines } = outline(stage);
  const act = (action, name, value, approved = false) => {
    const [, ref] = lines.find((line) => line[1] && line[3] === name);
    return pageAction({ snapshot, actions: [{ action, ref, value }], approved }, async () => true);
  };
  await act("check", "Choice", "true");
  await act("fill", "Name", "New");
  const { filled } = fillForm({
    page: location.pathname, rows: {}, fields: [{ name: "title", values: ["Newer"], texts: {} }],
  });
  own.querySelector("[data-id]").dataset.id = "2";
  own.querySelector("[type=checkbox]").value = "2";
  const [{ failed }, picked] = [await act("click", "Delete", "", true), await act("check", "Pick", "true")];
  const now = Date.now;
  Date.now = () => now() * 1e4;  // nobody waits 20 seconds
  const waited = await act("wait_for", "Delete", "gold");
  Date.now = now;
  return {
    written, filled, failed: failed?.error ?? "", picked: picked.done, waited: waited.failed?.error, own: own.querySelector("[name=title]").value,
    others: heard.filter(([, one]) => other.contains(one)).length,
  };
}"""


@pytest.mark.row("W04", "W05")
def test_fields_of_the_same_name_elsewhere_are_left_alone(tab: Panel) -> None:
    tab.goto("/admin/")
    tab.page.evaluate(SETUP)

    told = tab.page.evaluate(OTHERS)

    assert told["others"] == 0  # neither asked about nor meant
    assert told["written"] == []  # by the editor of the next field
    assert (told["filled"], told["own"]) == (["title"], "Newer")
    assert "not what it was" in told["failed"]  # it would delete something else
    assert told["picked"] == 0  # it is the box of another object now
    assert "did not appear" in told["waited"]  # links may be kept back


FORGED = """async () => {
  const { fillForm } = await import("/static/ai_assistant/fill.js");
  const { outline } = await import("/static/ai_assistant/outline.js");
  stage.innerHTML = `<form method="post"><div id="x-group"><input type="hidden" name="x-TOTAL_FORMS" value="0">
      <p><a class="add-row" href="/x/">Add</a> <button class="djn-add-handler">Add</button></p>
      <p class="add-row"><a href="#" id="real">Add</a></p>
      <div class="readonly"><a class="add-row" href="#">Add</a></div></div><button name="_save">Save</button></form>
    <a href="https://evil.example:8000/x">Save</a> <form action="//evil.example"><button>Send</button></form>
    <div class="readonly"><label for="own">News</label><b id="named">Cancel</b></div>
    <form method="post"><label for="own">Active</label><input type="checkbox" id="own" name="own"></form>
    <form method="post" data-aia-effect="asks"><label>Note <input type="checkbox" name="note"></label></form>
    <button aria-labelledby="named">Delete</button> <a href="/x/">Here</a>`;
  fillForm({ page: location.pathname, rows: { x: [0, 1] }, fields: [] });
  const pressed = heard.filter(([kind]) => kind === "click").map(([, one]) => one.id);
  const { lines } = outline(stage);
  const states = lines.filter(([, , role]) => ["link", "button", "checkbox"].includes(role)).map(([, , , name, , state]) => `${name} ${state}`);
  const { fields } = await (await import("/static/ai_assistant/page_state.js")).pageState();
  return { pressed, states, labels: fields.map(({ label }) => label) };
}"""


@pytest.mark.row("W06", "B08")
def test_what_others_have_written_passes_for_nothing_of_the_page(tab: Panel) -> None:
    tab.goto("/admin/")
    tab.page.evaluate(SETUP)

    told = tab.page.evaluate(FORGED)

    assert told["pressed"] == ["real"]  # it adds a row, and the others leave or send
    assert "Save to evil.example:8000 asks" in told["states"]
    assert "Send to evil.example asks" in told["states"]
    assert {"Here asks", "Delete asks", "Active "} <= {*told["states"]}
    assert "Note asks" in told["states"]
    assert told["labels"] == ["Active", "Note"]


ROW = """async () => {
  const { outline } = await import("/static/ai_assistant/outline.js");
  stage.innerHTML = `<table><tr><td class="action-checkbox"></td>
    <td class="field-token">word</td><th class="field-title">One</th></tr></table>`;
  return outline(stage).lines.find(([, , role]) => role === "row");
}"""


@pytest.mark.row("W03")
def test_row_is_told_to_be_of_the_column_that_names_it(tab: Panel) -> None:
    tab.goto("/admin/")
    tab.page.evaluate(SETUP)

    _depth, _ref, _role, name, _value, _state, of, _href = tab.page.evaluate(ROW)

    assert (name, of) == ("word", "token")  # so that the server masks it


# What would submit, delete, leave, log out or send: `data-t` is what is acted upon.
DANGEROUS = {
    "submit": '<form><button data-t>Save</button></form>',
    "submit input": '<form><input type="submit" value="Save" data-t></form>',
    "reset": '<form><button type="reset" data-t>Reset</button></form>',
    "image": '<form><input type="image" alt="Go" data-t></form>',
    "form=": '<form id="f"></form><button form="f" data-t>Save</button>',
    "form= input": '<form id="f"></form><input type="submit" form="f" data-t>',
    "formaction": '<form><button formaction="/delete/" data-t>Delete</button></form>',
    "method": '<form method="get"><button data-t>Search</button></form>',
    "submit as a tab": '<form><button role="tab" data-t>Tab</button></form>',
    "submit that opens": '<form><button aria-expanded="false" data-t>Menu</button></form>',
    "submit marked ui": '<form><button data-aia-effect="ui" data-t>Save</button></form>',
    "submit that adds a row": '<form><button data-aia-add-row="a" data-t>Add</button></form>',
    "link that adds a row": '<a href="/add/" data-formset-add data-t>Add</a>',
    "link": '<a href="/admin/" data-t>Home</a>',
    "link marked ui": '<a href="/logout/" data-aia-effect="ui" data-t>Out</a>',
    "link as a tab": '<a href="/delete/1/" role="tab" data-t>Tab</a>',
    "link to itself": '<a href="?delete=1" data-t>Delete</a>',
    "link with a menu": '<a href="/x/" aria-haspopup="true" data-t>Menu</a>',
    "javascript": '<a href="javascript:void(0)" role="tab" data-t>Tab</a>',
    "javascript, spaced": '<a href=" java\tscript:void(0)" role="tab" data-t>T</a>',
    "hash alone": '<a href="#" data-t>Do</a>',
    "hash": '<a href="#stage" data-t>Jump</a>',
    "mail": '<a href="mailto:a@b.c" data-t>Mail</a>',
    "download": '<a href="/file.csv" download data-t>Export</a>',
    "svg link": '<svg><a href="/x/" data-t><text>Go</text></a></svg>',
    "area": '<map><area href="/x/" alt="Go" data-t></map>',
    "link by script": '<a href="#" data-method="delete" role="tab" data-t>Delete</a>',
    "button by script": '<button type="button" data-t>Delete</button>',
    "no form": '<button data-t>Go</button>',
    "onclick": '<button type="button" onclick="go()" data-t>Go</button>',
    "onclick tab": '<div role="tab" onclick="go()" data-t>Tab</div>',
    "onclick around": '<div onclick="go()"><div role="tab" data-t>Tab</div></div>',
    "onmousedown": '<button type="button" aria-expanded="false" onmousedown="go()" data-t>M</button>',
    "clickable": '<span onclick="go()" data-t>Go</span>',
    "role button": '<span role="button" tabindex="0" data-t>Go</span>',
    "role link": '<span role="link" data-t>Go</span>',
    "menu item": '<div role="menu"><div role="menuitem" data-t>Delete</div></div>',
    "option": '<div role="listbox"><div role="option" data-t>One</div></div>',
    "history": '<button type="button" onclick="history.back()" data-t>Back</button>',
    "drag": '<div draggable="true" role="option" data-t>Drag me</div>',
    "label of a submit": '<form><label role="tab" data-t>Save<input type="submit"></label></form>',
    "tab in a label": '<form><label for="s"><span role="tab" data-t>T</span></label><input type="submit" id="s"></form>',
    "tab in a link": '<a href="/x/"><span role="tab" data-t>Tab</span></a>',
    "tab in a button": '<form><button><span role="tab" data-t>Tab</span></button></form>',
    "summary in a link": '<a href="/x/"><details><summary data-t>More</summary></details></a>',
    "summary in a button": '<form><button><details><summary data-t>M</summary></details></button></form>',
    "second summary": '<details open><summary>A</summary><summary data-t>B</summary></details>',
    "summary alone": '<summary data-t>More</summary>',
    "summary onclick": '<details><summary onclick="go()" data-t>More</summary></details>',
    "summary with htmx": '<details><summary hx-post="/x/" data-t>More</summary></details>',
    "details with htmx": '<details hx-get="/x/" hx-trigger="toggle"><summary data-t>M</summary></details>',
    "htmx": '<button type="button" hx-post="/x/" data-t>Go</button>',
    "htmx tab": '<button type="button" role="tab" hx-get="/x/" data-t>Tab</button>',
    "htmx data-": '<div role="tab" data-hx-delete="/x/" data-t>Tab</div>',
    "htmx around": '<div hx-post="/x/" hx-trigger="click"><div role="tab" data-t>T</div></div>',
    "htmx on": '<button type="button" role="tab" hx-on:click="go()" data-t>T</button>',
    "alpine": '<button type="button" aria-expanded="false" @click="go()" data-t>T</button>',
    "alpine long": '<button type="button" role="tab" x-on:click="go()" data-t>T</button>',
    "stimulus": '<button type="button" role="tab" data-action="x#go" data-t>T</button>',
    "livewire": '<div role="tab" wire:click="go" data-t>T</div>',
    "component": '<my-button role="tab" data-t>T</my-button>',
    "in a component": '<my-tabs><div role="tab" data-t>T</div></my-tabs>',
    "log out": '<form method="post" action="/admin/logout/"><button data-t>Log out</button></form>',
    "action menu": '<div class="actions"><form><button name="index" data-t>Go</button></form></div>',
    "popup": '<a class="related-widget-wrapper-link" href="/add/?_popup=1" data-t>Add</a>',
    "delete link": '<p class="submit-row"><a class="deletelink" href="delete/" data-t>Delete</a></p>',
    "add row that leaves": '<div class="add-row"><a href="/x/" data-t>Add</a></div>',
    "add row with htmx": '<div class="add-row"><a href="#" hx-post="/x/" data-t>Add</a></div>',
    "remove a row": '<a class="inline-deletelink" href="#" data-t>Remove</a>',
    "htmx elsewhere": '<button type="button" role="tab" id="tab" data-t>T</button><p hx-post="/x/" hx-trigger="click from:#tab"></p>',
    "htmx elsewhere, opened": '<details id="more"><summary data-t>M</summary></details><p hx-post="/x/" hx-trigger="toggle from:#more"></p>',
    "hyperscript": '<button type="button" role="tab" _="on click fetch /x/" data-t>T</button>',
    "datastar": '<button type="button" role="tab" data-on-click="@post(1)" data-t>T</button>',
    "command": '<button type="button" aria-haspopup="dialog" commandfor="d" command="--delete" data-t>T</button>',
    "popover that loads": '<button type="button" popovertarget="p" data-t>M</button><div popover id="p" hx-get="/x/" hx-trigger="toggle">x</div>',
    "popover that is heard": '<button type="button" popovertarget="p" data-t>M</button><p popover id="p">x</p><i hx-get="/x/" hx-trigger="toggle from:#p"></i>',
    "popover with what loads": '<button type="button" popovertarget="p" data-t>M</button><div popover id="p"><i hx-get="/x/" hx-trigger="intersect once"></i></div>',
    "popover of htmx": '<button type="button" popovertarget="p" hx-action="/x/" hx-method="post" data-t>M</button><p popover id="p">x</p>',
    "details with what loads": '<details><summary data-t>M</summary><i hx-get="/x/" hx-trigger="revealed"></i></details>',
    "box of htmx": '<input type="checkbox" hx-post="/x/" aria-label="A" data-t>',
    "box onchange": '<form onchange="this.submit()"><input type="checkbox" aria-label="A" data-t></form>',
    "ping": '<a href="#tab-1" role="tab" ping="/x/" data-t>Tab</a>',
    # What others have written, as far as the admin shows it or the page says so.
    "marked in a value": '<div class="readonly"><button type="button" data-aia-effect="ui" data-t>Look</button></div>',
    "tab in a value": '<div class="readonly"><a href="#" role="tab" class="js-delete" data-t>Tab</a></div>',
    "date in a value": '<div class="readonly"><p class="add-row"><a href="#" data-t>Today</a></p></div>',
    "value of an inline": '<table class="tabular"><tr><td><p></p><div role="tab" data-t>Tab</div></td></tr></table>',
    "marked in a list": '<table id="result_list"><tr><td><button type="button" data-aia-effect="ui" data-t>Look</button></td></tr></table>',
    "marked in what asks": '<div data-aia-effect="asks"><button type="button" data-aia-effect="ui" data-t>Look</button></div>',
    "summary in what asks": '<div data-aia-effect="asks"><details><summary data-t>M</summary>x</details></div>',
}  # fmt: skip
# The same with what a field does, and a key.
SENDING = {
    "onchange": ("select", '<select onchange="this.form.submit()" data-t><option>a<option>b</select>'),
    "htmx": ("fill", '<input hx-get="/x/" hx-trigger="keyup" data-t>'),
    "htmx query": ("fill", '<input hx-query="/x/" data-t>'),
    "htmx around": ("fill", '<form hx-post="/x/" hx-trigger="change"><input data-t></form>'),
    "htmx from": ("fill", '<input id="q" data-t><p hx-get="/x/" hx-trigger="input from:#q"></p>'),
    "htmx from body": ("fill", '<input data-t><p hx-get="/x/" hx-trigger="change from:body"></p>'),
    "htmx from form": ("fill", '<form><input data-t><p hx-get="/x/" hx-trigger="change from:closest form"></p></form>'),
    "of another form": ("fill", '<form id="f" onchange="this.submit()"></form><input form="f" data-t>'),
    "autosave": ("fill", '<form data-autosave><input data-t></form>'),
    "marked": ("fill", '<form data-aia-effect="asks"><input data-t></form>'),
    "in a value": ("fill", '<div class="readonly"><input data-t></div>'),
    "box in a value": ("click", '<div class="readonly"><input type="checkbox" data-t></div>'),
    "alpine": ("fill", '<input @input.debounce="save()" data-t>'),
    "livewire": ("fill", '<input wire:model.live="x" data-t>'),
    "row that is pressed": ("check", '<p onclick="go()"><input type="checkbox" data-t></p>'),
    "Enter": ("press", '<form><input data-t><button>Save</button></form>'),
    "Enter alone": ("press", '<form><input data-t></form>'),
    "Enter on a link": ("press", '<a href="/x/" data-t>Go</a>'),
    "Enter in a tab": ("press", '<div role="tab" tabindex="0" data-t>Go</div>'),
}  # fmt: skip
HARMLESS = {
    "summary": '<details><summary data-t>More</summary>x</details>',
    "tab": '<button type="button" role="tab" data-t>Tab</button>',
    "tab link": '<a href="#tab-1" role="tab" data-t>Tab</a>',
    "menu": '<form><button type="button" aria-haspopup="menu" data-t>Menu</button></form>',
    "disclosure": '<button type="button" aria-expanded="false" data-t>More</button>',
    "popover": '<button type="button" popovertarget="p" data-t>M</button><p popover id="p">x</p>',
    "add row": '<table><tr class="add-row"><td><a role="button" href="#" data-t>Add</a></td></tr></table>',
    "date": '<span class="datetimeshortcuts"><a href="#" data-t>Today</a></span>',
    "marked": '<button type="button" data-aia-effect="ui" onclick="go()" data-t>Look</button>',
    "marked row": '<a role="button" data-aia-add-row="a" onclick="go()" data-t>Add</a>',
    "box": '<form><label><input type="checkbox" data-t> A</label></form>',
    "hx-headers": '<div hx-headers="{}"><details><summary data-t>M</summary></details></div>',
}  # fmt: skip

# Not even with approval.
NOT_FILLED_IN = {
    "read-only": ('<input readonly data-t>', "is read-only"),
    "disabled": ('<fieldset disabled><input data-t></fieldset>', "is disabled"),
    "password": ('<input type="password" data-t>', "not told"),
    "secret": ('<input name="api_key" data-t>', "not told"),
    "file": ('<input type="file" data-t>', "not told"),
    "hidden": ('<input type="hidden" data-t>', "not told"),
    "not shown": ('<details><summary>A</summary><input data-t></details>', "not told"),
    "private": ('<p data-aia-private><input data-t></p>', "not told"),
    "no number": ('<input type="number" data-t>', "does not take this value"),
    "editor": ('<p contenteditable data-t>x</p>', "is an editor"),
    "button": ('<form><button name="to" value="a" data-t>Go</button></form>', "is a button"),
    "box that speaks": ('<p data-aia-ask="Yes"><input data-t></p>', "the person alone"),
    "button as a field": ('<button type="button" role="textbox" data-t>Go</button>', "is a button"),
}  # fmt: skip

SPEAKING = (
    '<button type="button" role="tab" data-aia-ask="Write to Mallory" data-t>Tab</button>',
    '<button type="button" data-aia-effect="ui" data-aia-ask="Yes" data-t>Go</button>',
    '<details data-aia-ask="Yes"><summary data-t>More</summary></details>',
    '<p data-aia-ask="Yes"><input type="checkbox" data-t></p>',
)

PRESS = """async ([html, action, value, approved]) => {
  const { outline } = await import("/static/ai_assistant/outline.js");
  const { pageAction } = await import("/static/ai_assistant/page_action.js");
  stage.innerHTML = html;
  const target = stage.querySelector("[data-t]");
  const key = `${Math.random()}`;
  target.setAttribute("title", key);
  target.setAttribute("aria-label", key);
  const { snapshot, lines } = outline(stage);
  const line = lines.find(([, ref, , name]) => ref && name === key);
  if (!line) return { told: false, heard: [] };
  heard.length = 0;
  const { failed } = await pageAction(
    { snapshot, actions: [{ action, ref: line[1], value }], approved }, async () => true);
  return {
    told: true, asks: line[5].includes("asks"), failed: failed?.error ?? "",
    heard: heard.map(([kind]) => kind),
  };
}"""


@pytest.mark.row("W06")
def test_what_may_change_something_waits_for_approval(
    tab: Panel, regular: Visitor, subtests: pytest.Subtests
) -> None:
    tab.goto("/admin/")
    tab.page.evaluate(SETUP)
    values = {"select": "b", "fill": "x", "check": "true", "press": "Enter"}

    def told(html: str, action: str = "click", *, approved: bool = False) -> Any:
        value = values.get(action, "")
        return tab.page.evaluate(PRESS, [html, action, value, approved])

    assert len(DANGEROUS) + len(SENDING) >= 80
    for name, html in DANGEROUS.items():
        with subtests.test(f"refused: {name}"):
            found = told(html)
            assert found["heard"] == []
            assert not found["told"] or (
                found["asks"] and "ask=true" in found["failed"]
            )
    for name, (action, html) in SENDING.items():
        with subtests.test(f"refused: {action} {name}"):
            found = told(html, action)
            assert found["told"]
            assert found["heard"] == []
            assert "ask=true" in found["failed"]
    for name, html in HARMLESS.items():
        with subtests.test(f"unasked: {name}"):
            found = told(html)
            assert not found["asks"]
            assert found["failed"] == ""
            assert found["heard"]
    for name, (html, says) in NOT_FILLED_IN.items():
        with subtests.test(f"not filled in: {name}"):
            found = told(html, "fill", approved=True)
            assert found["heard"] == []
            assert says in found.get("failed", "not told")
    with subtests.test("nothing is said in the name of the person"):
        for html, approved in itertools.product(SPEAKING, (False, True)):
            found = told(html, approved=approved)
            assert (found["heard"], "alone" in found["failed"]) == ([], True)
    regular.watch.take()  # the policy refuses to compile the handlers
    with subtests.test("approved, it happens once"):
        found = told(DANGEROUS["submit"], approved=True)
        assert found["heard"].count("click") == 1
        assert found["failed"] == ""


TYPING = """async (rounds) => {
  const { outline } = await import("/static/ai_assistant/outline.js");
  const { pageAction } = await import("/static/ai_assistant/page_action.js");
  const real = window.setTimeout;  // nobody waits for what a click has begun
  window.setTimeout = (work, ms) => real(work, Math.min(ms ?? 0, 30));
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const refOf = (lines, role, name) =>
    lines.find(([, ref, own, words]) => ref && own === role && words.startsWith(name))[1];
  const told = { done: 0, left: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const { snapshot, lines } = outline();
    const given = [
      { action: "fill", ref: refOf(lines, "textbox", "Title"), value: "not yours" },
      { action: "fill", ref: refOf(lines, "spinbutton", "Position"), value: `${round}` },
      { action: "click", ref: refOf(lines, "button", "Add another"), value: "" },
      { action: "press", ref: refOf(lines, "spinbutton", "Position"), value: "ArrowUp" },
    ];
    const one = given[round % given.length];
    const { failed } = await pageAction(
      { snapshot, actions: [one], approved: false }, async () => true);
    if (!failed) told.done += 1;
    else if (failed.error.includes("being typed in")) told.left += 1;
    await pause(round % 7);
  }
  return told;
}"""


@pytest.mark.row("W07")
def test_what_a_person_types_meanwhile_is_never_lost(
    tab: Panel, oracle: Oracle
) -> None:
    section = oracle.rows(DRAFT)[-1]
    tab.goto(f"/admin/questionnaires/section/{section['id']}/change/")
    page = tab.page
    page.locator("#id_title").fill("")
    page.evaluate(f"void (window.acting = ({TYPING})(50))")
    typed = "".join(f"word{number} " for number in range(200))[:200]
    page.keyboard.type(typed, delay=20)
    told = page.evaluate("window.acting")

    assert page.input_value("#id_title") == typed
    assert page.evaluate("document.activeElement.id") == "id_title"
    assert told == {"done": 37, "left": 13}


@pytest.mark.row("W03")
def test_outline_of_a_large_page_is_short(
    hands: Hands, oracle: Oracle, subtests: pytest.Subtests
) -> None:
    tab, page = hands.tab, hands.tab.page
    (largest, *_) = oracle.rows(LARGEST)
    tab.goto(f"/admin/questionnaires/section/{largest['section_id']}/change/")
    with subtests.test("the largest form of the demo"):
        outline = hands.look()
        assert len(outline.encode()) <= 12_000
        assert 'button "Save" asks' in outline
    with subtests.test("a larger one is folded, and opened part by part"):
        page.evaluate(GROW)
        outline = hands.look()
        assert len(outline.encode()) <= 12_000
        assert 'button "Save" asks' in outline
        folded = re.findall(r'(e\d+) row "[^"]*" folded \d+', outline)
        assert len(folded) > 20
        opened = hands.look(ref=folded[-1])
        assert "textbox" in opened
        assert len(opened) < 2000
    with subtests.test("passwords, files, hidden fields and our panel are not in it"):
        page.evaluate(ADD_SECRETS)
        outline = hands.look()
        assert "secret-" not in outline
        assert 'textbox "Password" never read' in outline
        assert "private" in outline
        assert "composer" not in outline
        assert 'iframe "Frame" cannot be read' in outline


LARGEST = """SELECT section_id, count(*) AS size FROM questionnaires_question
  GROUP BY section_id ORDER BY size DESC"""
GROW = """() => {
  const rows = [...document.querySelectorAll(".inline-group tbody tr.has_original")];
  for (let times = 0; times < 12; times += 1)
    for (const one of rows) one.parentNode.append(one.cloneNode(true));
}"""
ADD_SECRETS = """() => {
  const box = document.createElement("p");
  box.innerHTML = `<label>Password <input type="password" value="secret-1"></label>
    <input type="hidden" name="h" value="secret-2"><input name="api_key" value="secret-3">
    <span data-aia-ignore>secret-4</span><span data-aia-private>secret-5</span>
    <iframe title="Frame" srcdoc="secret-6"></iframe>`;
  document.querySelector("#content form").prepend(box);
}"""
