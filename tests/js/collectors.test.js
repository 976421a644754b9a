import assert from "node:assert/strict";
import { beforeEach, suite, test } from "node:test";
import { load, openPage } from "./page.js";

const { document, root } = openPage(
  '<ul id="aia-context"></ul>',
  '<div id="page"></div>'
);
const page = document.getElementById("page");
const { collect, isSecret } = await load("collectors");
const chips = document.getElementById("aia-context");

const show = (html) => {
  page.innerHTML = html;
};
const item = (id) => collect().find((one) => one.id === id);
const form = (fields) => `<form method="post">${fields}</form>`;
const type = (name, value) => {
  page.querySelector(`[name="${name}"]`).value = value;
};

beforeEach(() => {
  show("");
  root.items.clear();
  delete chips.dataset.withheld;
});

suite("a secret field", () => {
  const named = (name) => isSecret({ name, id: "", autocomplete: "" });

  for (const name of [
    ...["password", "newPassword1", "user_passwd", "api_key", "apiKey", "API-Token"],
    ...["clientSecret", "session_key", "otp", "backupCodes", "salt", "pin"],
    ...["iban", "card_cvc", "cc-number", "one-time-code", "privateKey2"]
  ])
    test(`is known by its name ${name}`, () => assert.ok(named(name)));

  for (const name of ["title", "passage", "tokyo", "keyboard", "pinned", "compass"])
    test(`is not one named ${name}`, () => assert.ok(!named(name)));

  test("is known by its id or its autocomplete too", () => {
    assert.ok(isSecret({ name: "a", id: "id_password", autocomplete: "" }));
    assert.ok(isSecret({ name: "a", id: "", autocomplete: "cc-csc" }));
  });
});

suite("unsaved fields", () => {
  test("are those that differ from what the server has put in", () => {
    show(form('<input name="a" value="1"><input name="b" value="2">'));
    type("b", "changed");
    assert.deepEqual(item("page-fields").value, { b: "changed" });
    assert.equal(item("page-fields").label, "1 fields");
  });

  test("are none while nothing is changed", () => {
    show(form('<input name="a" value="1"><select name="s"><option>x</select>'));
    assert.equal(item("page-fields"), undefined);
  });

  test("never hold passwords and secrets, whatever their names", () => {
    show(
      form('<input type="password" name="a"><input name="api_key"><input name="b">')
    );
    for (const field of page.querySelectorAll("input")) field.value = "typed";
    assert.deepEqual(item("page-fields").value, { b: "typed" });
  });

  test("hold ticks as ticks, choices with their words, long texts cut", () => {
    show(
      form(`<input type="checkbox" name="tick"><textarea name="long"></textarea>
        <select name="s"><option value="1">One<option value="2">Two</select>`)
    );
    page.querySelector("[name=tick]").checked = true;
    type("s", "2");
    type("long", "x".repeat(2000));
    const { tick, s, long } = item("page-fields").value;
    assert.equal(tick, true);
    assert.deepEqual(s, [{ value: "2", text: "Two" }]);
    assert.equal(long.length, 1000);
  });

  test("of a private part are only said to be there, of an ignored one not even", () => {
    show(
      form(
        `<p data-aia-private><input name="a"></p><p data-aia-ignore><input name="b"></p>`
      )
    );
    type("a", "x");
    type("b", "x");
    assert.deepEqual(item("page-fields").value, { a: "kept private" });
  });

  test("are not those of a search, of actions, or of the panel", () => {
    show(`${form('<p class="actions"><input name="action"></p>')}
      <div id="changelist-search">${form('<input name="q">')}</div>`);
    for (const field of page.querySelectorAll("input")) field.value = "x";
    assert.equal(item("page-fields"), undefined);
  });

  test("of an object that is withheld are not told", () => {
    show(form('<input name="a">'));
    type("a", "x");
    chips.dataset.withheld = "";
    assert.equal(item("page-fields"), undefined);
  });
});

suite("ticked rows", () => {
  const row = (id, attributes = "") =>
    `<tr><td><input type="checkbox" class="action-select" value="${id}" ${attributes}>
    </td><th>Order  ${id}</th></tr>`;

  test("are told with their text, and how many there are", () => {
    show(`<table>${row(1)}${row(2, "checked")}${row(3, "checked")}</table>`);
    assert.deepEqual(item("page-rows").value, {
      count: 2,
      rows: [
        { id: "2", text: "Order 2" },
        { id: "3", text: "Order 3" }
      ]
    });
  });

  test("stand for all pages where the person said so", () => {
    show(`<input class="select-across" value="1"><table>${row(1, "checked")}</table>`);
    assert.equal(item("page-rows").value.all_pages, true);
  });

  test("are a hundred at most, counted whole", () => {
    const rows = Array.from({ length: 130 }, (_, n) => row(n, "checked"));
    show(`<table>${rows.join("")}</table>`);
    const { count, rows: told } = item("page-rows").value;
    assert.deepEqual([count, told.length], [130, 100]);
  });

  test("of a withheld list are ids alone", () => {
    show(`<table>${row(1, "checked")}</table>`);
    chips.dataset.withheld = "";
    assert.deepEqual(item("page-rows").value.rows, [{ id: "1" }]);
  });
});

suite("what a page declares", () => {
  test("is its text, without private parts", () => {
    show('<p data-aia-context="note">a <b data-aia-private>secret</b>  b</p>');
    assert.equal(item("note").value, "a b");
  });

  test("is the value it names, as JSON where it is some", () => {
    show(`<p data-aia-context="a" data-aia-value='{"n": 1}'></p>
      <p data-aia-context="b" data-aia-value="{no" data-aia-auto="false"></p>`);
    assert.deepEqual(item("a").value, { n: 1 });
    assert.deepEqual([item("b").value, item("b").auto], ["{no", false]);
  });

  test("by a script counts more than an element of the same id", () => {
    show('<p data-aia-context="a">text</p>');
    root.items.set("a", { value: "of the script", label: "A" });
    assert.deepEqual(
      collect().map(({ id, value }) => [id, value]),
      [["a", "of the script"]]
    );
  });
});

test("a part of the form is told once it is opened or has got rows", () => {
  const group = (rows) =>
    `<div class="inline-group" id="lines"><h2> Order lines </h2>${rows}</div>`;
  show(group('<div class="inline-related has_original" id="l-0"></div>'));
  assert.equal(item("page-inlines"), undefined);

  page
    .querySelector(".inline-group")
    .insertAdjacentHTML("beforeend", '<div class="inline-related" id="l-1"></div>');

  assert.deepEqual(item("page-inlines").value, [
    { name: "Order lines", rows: 1, added: 1, open: false }
  ]);
});
