import assert from "node:assert/strict";
import { beforeEach, suite, test } from "node:test";
import { load, openPage, settle } from "./page.js";

const { document, root, window } = openPage(
  `<form id="aia-new"></form><a id="aia-list"></a>
  <a data-aia-use="keyboard" href="/share/">of a conversation in the list</a>
  <details><a data-aia-use="keyboard" href="/keys/"></a></details>
  <div id="aia-scroll" tabindex="-1"><div id="aia-log">
    <article class="aia-msg" id="m1"></article><article class="aia-msg" id="m2"></article>
    <article class="aia-msg" id="m3"></article></div></div>
  <div id="aia-pinned"></div><textarea id="aia-input"></textarea>
  <button id="inside"></button>`,
  '<main id="main"><input id="outside"></main>'
);
window.Element.prototype.scrollIntoView = () => {};
const { onKeydown, signOf } = await load("keys");
const byId = (id) => document.getElementById(id);

const press = (key, held = {}) => {
  const target = document.activeElement;
  const event = new window.KeyboardEvent("keydown", {
    ...{ key, cancelable: true, bubbles: true },
    ...held
  });
  Object.defineProperty(event, "target", { value: target });
  onKeydown(event);
  return event;
};

suite("the sign of a press", () => {
  const sign = (key, held = {}) => signOf({ key, code: "", ...held });

  test("names what is held, then the key", () => {
    assert.equal(sign("F6"), " F6");
    assert.equal(sign("?", { shiftKey: true }), "s ?");
    assert.equal(sign("ArrowUp", { altKey: true }), "a ArrowUp");
  });

  test("takes the letter of the keyboard where Alt or Control changes it", () => {
    const held = { code: "KeyO", ctrlKey: true, shiftKey: true };
    assert.equal(sign("Ø", { code: "KeyA", altKey: true }), "a a");
    assert.equal(sign("O", held), "cs o");
    assert.equal(sign("O", { ...held, ctrlKey: false, metaKey: true }), "cs o");
  });

  test("takes the letter as typed where nothing but Shift is held", () => {
    assert.equal(sign("Z", { code: "KeyY", shiftKey: true }), "s Z");
    assert.equal(sign("z", { code: "KeyY" }), " z");
  });
});

suite("F6", () => {
  test("goes from the page into the composer and back to where it was", () => {
    byId("outside").focus();
    assert.ok(press("F6").defaultPrevented);
    assert.equal(document.activeElement.id, "aia-input");

    press("F6");

    assert.equal(document.activeElement.id, "outside");
  });

  test("goes to the main part of a page whose field is gone", () => {
    const field = byId("outside");
    field.focus();
    field.remove();
    byId("aia-input").focus();

    press("F6");

    assert.equal(document.activeElement.id, "main");
    byId("main").append(field);
  });
});

suite("Alt with an arrow", () => {
  const at = () => document.activeElement.id;

  test("goes from message to message, the last one first", () => {
    byId("inside").focus();
    press("ArrowUp", { altKey: true });
    assert.equal(at(), "m3");
    press("ArrowUp", { altKey: true });
    assert.equal(at(), "m2");
    press("ArrowDown", { altKey: true });
    assert.equal(at(), "m3");
  });

  test("stays on the last message", () => {
    byId("m3").focus();
    press("ArrowDown", { altKey: true });
    assert.equal(at(), "m3");
  });

  test("does nothing while the page has the focus", () => {
    byId("outside").focus();
    assert.ok(!press("ArrowUp", { altKey: true }).defaultPrevented);
    assert.equal(at(), "outside");
  });
});

suite("Alt+A", () => {
  const altA = { altKey: true, code: "KeyA" };

  test("goes to what waits for a decision, also from the page", () => {
    byId("aia-pinned").innerHTML = '<div class="aia-card" id="card"></div>';
    byId("outside").focus();

    assert.ok(press("å", altA).defaultPrevented);

    assert.equal(document.activeElement.id, "card");
  });

  test("is left to the browser where nothing waits", () => {
    byId("aia-pinned").innerHTML = "";
    assert.ok(!press("å", altA).defaultPrevented);
  });
});

suite("the question mark", () => {
  let clicks = 0;
  const link = root.querySelector("[href='/keys/']");
  link.addEventListener("click", (event) => {
    event.preventDefault();
    clicks += 1;
  });
  beforeEach(() => {
    clicks = 0;
  });

  test("shows the keyboard map", () => {
    byId("inside").focus();
    assert.ok(press("?", { shiftKey: true }).defaultPrevented);
    assert.equal(clicks, 1);
  });

  test("is a character where somebody types", () => {
    byId("aia-input").focus();
    assert.ok(!press("?", { shiftKey: true }).defaultPrevented);
    assert.equal(clicks, 0);
  });
});

suite("other keys", () => {
  test("Escape leaves the composer for the conversation", () => {
    byId("aia-input").focus();
    assert.ok(press("Escape").defaultPrevented);
    assert.equal(document.activeElement.id, "aia-scroll");
    assert.ok(!press("Escape").defaultPrevented);
  });

  test("a prevented press is somebody else's, and so is one that composes", () => {
    byId("aia-input").focus();
    press("Escape", { isComposing: true });
    assert.equal(document.activeElement.id, "aia-input");
  });

  test("Alt+Q is taken by the quotation, wherever the focus is", async () => {
    byId("outside").focus();
    const event = press("œ", { altKey: true, code: "KeyQ" });
    await settle();
    assert.ok(event.defaultPrevented);
  });
});
