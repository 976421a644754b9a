import assert from "node:assert/strict";
import { beforeEach, suite, test } from "node:test";
import { load, openPage } from "./page.js";

const { document, root } = openPage(
  `<ul id="aia-context" data-room="100"></ul><template id="aia-t-chip"><li
  class="aia-chip"><button><span></span></button><button class="aia-drop"></button>
  <div class="aia-seen"><p></p><pre></pre></div></li></template>`
);
const { drawItems, withinLimit } = await load("items");
const list = document.getElementById("aia-context");
const large = (limit, items) => withinLimit(limit, items).map((one) => !!one.large);

beforeEach((context) => {
  context.mock?.method(console, "warn", () => {});
  root.items.clear();
});

suite("the limit", () => {
  const item = (id, chars, more = {}) => ({ id, value: "x".repeat(chars), ...more });
  const size = JSON.stringify({
    ...{ id: "a", label: "a", description: "a", value: "", auto: true }
  }).length;

  test("is that of all items together, in their order", () => {
    const items = [item("a", 10), item("b", 10), item("c", 10)];
    assert.deepEqual(large(2 * (size + 10), items), [false, false, true]);
  });

  test("lets a smaller one in behind one that is too large", () => {
    assert.deepEqual(large(size + 10, [item("a", 99), item("b", 10)]), [true, false]);
  });

  test("does not count what is sent only when it is mentioned", () => {
    const items = [item("a", 10, { auto: false }), item("b", 10)];
    assert.deepEqual(large(size + 12, items), [false, false]);
  });

  test("counts a < as what it is sent as", () => {
    assert.deepEqual(large(size + 5, [{ id: "a", value: "<" }]), [true]);
    assert.deepEqual(large(size + 6, [{ id: "a", value: "<" }]), [false]);
  });

  test("shuts out what refers to itself, as it cannot be sent", () => {
    const value = {};
    value.self = value;
    assert.deepEqual(large(9999, [{ id: "a", value }]), [true]);
  });
});

test("an item without words is named by its description, else by its id", () => {
  const [a, b] = withinLimit(999, [
    { id: 7, description: "Seven", value: 1 },
    { id: 8, value: 1 }
  ]);
  assert.deepEqual([a.id, a.label, a.description], ["7", "Seven", "Seven"]);
  assert.deepEqual([b.label, b.description], ["8", "8"]);
});

suite("the chips", () => {
  const titles = () => [...list.children].map(({ dataset }) => dataset.title);

  test("show each item, and beside the server's own ones", () => {
    list.innerHTML = '<li data-item="page" data-title="Page"></li>';
    root.items.set("cart", { label: "Cart", value: { n: 1 } });
    drawItems(list);
    assert.deepEqual(titles(), ["Page", "Cart"]);
    assert.equal(list.lastElementChild.dataset.item, "browser.cart");
    assert.equal(list.querySelector("pre").textContent, '{\n "n": 1\n}');
  });

  test("go with their items", () => {
    root.items.set("cart", { label: "Cart", value: 1 });
    drawItems(list);
    root.items.clear();
    drawItems(list);
    assert.deepEqual(titles(), ["Page"]);
  });

  test("are left alone while nothing changes", () => {
    root.items.set("cart", { label: "Cart", value: 1 });
    drawItems(list);
    const chip = list.lastElementChild;
    drawItems(list);
    assert.equal(list.lastElementChild, chip);
  });

  test("of what is too large say so, and cannot be dropped", () => {
    root.items.set("cart", { label: "Cart", value: "x".repeat(200) });
    const [item] = drawItems(list);
    assert.equal(item.large, true);
    assert.ok(list.lastElementChild.classList.contains("aia-bad"));
    assert.equal(list.lastElementChild.querySelector(".aia-drop"), null);
  });
});
