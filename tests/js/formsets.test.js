import assert from "node:assert/strict";
import { beforeEach, suite, test } from "node:test";
import { load, openPage } from "./page.js";

const { document } = openPage(
  `<template id="aia-t-filled"><span class="aia-filled"><del></del>
    <button type="button"></button></span></template>
  <template id="aia-t-filling"><p class="aia-filling"><span></span>
    <button type="button"></button><button type="button"></button></p></template>`,
  '<div id="page"></div>'
);
const page = document.getElementById("page");
const { fillPage } = await load("page_forms");
const path = "/admin/shop/order/?q=1";

const input = (name, more = "") => `<input name="item-${name}" ${more}>`;
const counts = (total, most = "") =>
  `${input("TOTAL_FORMS", `type="hidden" value="${total}"`)}
   ${input("MAX_NUM_FORMS", `type="hidden" value="${most}"`)}`;
const show = (rows) => {
  page.innerHTML = `<form id="items" method="post">${rows}<button>Save</button></form>`;
};
const fill = (values) =>
  fillPage({
    page: path,
    form: "",
    values: Object.fromEntries(
      Object.entries(values).map(([name, value]) => [`item-${name}`, [value]])
    )
  });
const total = () => page.querySelector("[name$=TOTAL_FORMS]").value;
const names = () =>
  [...page.querySelectorAll("[name]:not([type=hidden])")].map(({ name }) => name);
const takeBack = () => document.querySelectorAll(".aia-filling button")[1].onclick();

beforeEach(() => {
  globalThis.Option = class {};
  show("");
});

suite("a row that the page has empty", () => {
  const events = [];
  const listen = ({ type, target, detail }) =>
    events.push([type, target.id ?? "document", detail.formsetName]);
  document.addEventListener("formset:added", listen);
  document.addEventListener("formset:removed", listen);
  beforeEach(() => {
    events.length = 0;
  });

  test("is copied from a template, with its number, and removed again", async () => {
    show(`${counts(1)}<ul><li id="item-0"><b>${input("0-title")}</b></li></ul><template>
      <li id="item-__prefix__"><label for="id_item-__prefix__-title">
      ${input("__prefix__-title", 'id="id_item-__prefix__-title"')}</label></li>
      </template>`);
    const { filled } = await fill({ "1-title": "Ink" });
    assert.deepEqual(filled, ["item-1-title"]);
    const row = page.querySelector("#item-0").nextElementSibling;
    assert.equal(row.id, "item-1");
    assert.equal(row.querySelector("label").htmlFor, "id_item-1-title");
    assert.equal(row.querySelector("#id_item-1-title").value, "Ink");
    assert.equal(total(), "2");
    takeBack();
    assert.equal(total(), "1");
    assert.deepEqual(names(), ["item-0-title"]);
    assert.deepEqual(
      events,
      [
        ["formset:added", "item-1", "item"],
        ["formset:removed", undefined, "item"]
      ].map(([type, id, name]) => [type, id ?? "document", name])
    );
  });

  test("is copied from an element that is not shown, and shown", async () => {
    show(`${counts(0)}<div id="item-empty" class="row empty-form" style="display: none">
      <p>${input("__prefix__-title")}</p><p>${input("__prefix__-parts-__prefix__-size")}
      </p></div>`);
    await fill({ "0-title": "Ink" });
    const row = page.querySelector("#item-0");
    assert.equal(row.className, "row");
    assert.equal(row.style.display, "");
    assert.equal(row.nextElementSibling.id, "item-empty");
    assert.ok(names().includes("item-0-parts-__prefix__-size")); // of a formset in it
  });

  test("is not removed while something else is in it", async () => {
    show(`${counts(0)}<template><p>${input("__prefix__-title")}
      ${input("__prefix__-note")}</p></template>`);
    await fill({ "0-title": "Ink", "1-title": "Cap" });
    page.querySelector("[name=item-0-note]").value = "typed by the person";
    takeBack();
    assert.equal(total(), "1");
    assert.deepEqual(names(), ["item-0-title", "item-0-note"]);
  });

  test("is not added beyond the most, and none stays if a value is wrong", async () => {
    show(`${counts(0, 2)}<template><p>${input("__prefix__-title", "maxlength=3")}</p>
      </template>`);
    const values = { "0-title": "Ink", "1-title": "Long", "2-title": "No" };
    await assert.rejects(fill(values), ({ message }) => {
      assert.match(message, /item-1-title: Constraints not satisfied/);
      return message.includes("item-2-title: is in no row of item: it has 2, and may");
    });
    assert.equal(total(), "0");
    assert.deepEqual(names(), []);
  });
});

suite("a row that the page's own button adds", () => {
  const withButton = (button) => {
    show(`${counts(1)}<p>${input("0-title")}</p><template id="own"><p>
      <input></p></template>${button}`);
    page.querySelector("#add").onclick = () =>
      setTimeout(() => {
        const row = page.querySelector("#own").content.cloneNode(true);
        row.querySelector("input").name = `item-${total()}-title`;
        page.querySelector("form").append(row);
        page.querySelector("[name$=TOTAL_FORMS]").value = Number(total()) + 1;
      });
  };

  for (const [what, button] of [
    ["that names the formset", '<a id="add" data-aia-add-row="item">+</a>'],
    [
      "of django-formset-js",
      '<div data-formset-prefix="item"><button type="button" id="add" data-formset-add></button></div>'
    ]
  ])
    test(`${what}, waited for and removed again`, async () => {
      withButton(button);
      await fill({ "1-title": "Ink", "2-title": "Cap" });
      assert.deepEqual(names(), ["item-0-title", "item-1-title", "item-2-title"]);
      takeBack();
      assert.deepEqual(names(), ["item-0-title"]);
      assert.equal(total(), "1");
    });

  for (const [what, button] of [
    ["another formset", '<button type="button" id="add" data-aia-add-row="part">'],
    ["what is sent", '<button id="add" data-aia-add-row="item">'],
    ["another page", '<a id="add" href="/x" data-aia-add-row="item">']
  ])
    test(`is not pressed for ${what}`, async () => {
      withButton(button);
      await assert.rejects(fill({ "1-title": "Ink" }), /offers no empty row/);
    });
});
