import assert from "node:assert/strict";
import { beforeEach, suite, test } from "node:test";
import { load, openPage } from "./page.js";

const { document, root } = openPage();
const { read, readList, saveLayout, updateCookie, write } = await load("storage");

const cookie = () => /aia_ui=([^;]*)/.exec(document.cookie)?.[1] ?? "";

suite("storage", () => {
  beforeEach(() => localStorage.clear());

  test("gives back what was written; nothing written removes it", () => {
    write("localStorage", "k", "text");
    assert.equal(read("localStorage", "k"), "text");
    write("localStorage", "k", "");
    assert.equal(read("localStorage", "k"), null);
  });

  test("that is switched off holds nothing and breaks nothing", (context) => {
    const off = () => {
      throw new Error("switched off");
    };
    context.mock.getter(window, "sessionStorage", off);
    write("sessionStorage", "k", "text");
    assert.equal(read("sessionStorage", "k"), null);
    assert.deepEqual(readList("sessionStorage", "k"), []);
  });

  for (const broken of ["{", "null", '{"a": 1}', '"text"', "7"])
    test(`a list broken by hand as ${broken} is an empty one`, () => {
      write("localStorage", "k", broken);
      assert.deepEqual(readList("localStorage", "k"), []);
    });
});

suite("the cookie", () => {
  beforeEach(() => {
    document.cookie = "aia_ui=;path=/;max-age=0";
  });

  test("takes a value and keeps the others", () => {
    updateCookie({ o: "1", p: "20.10.5" });
    updateCookie({ n: "3" });
    assert.equal(cookie(), "o=1&p=20.10.5&n=3");
  });

  test("loses what is empty", () => {
    updateCookie({ o: "1", n: "3" });
    updateCookie({ n: "" });
    assert.equal(cookie(), "o=1");
  });

  test("in quotes, as the server writes it, is read whole", () => {
    document.cookie = 'aia_ui="o=1&m=float&p=20.10.5";path=/';
    updateCookie({ n: "3" });
    assert.equal(cookie(), "o=1&m=float&p=20.10.5&n=3");
  });

  test("that is too long for the server is begun anew", () => {
    document.cookie = `aia_ui=x=${"y".repeat(300)};path=/`;
    updateCookie({ o: "1" });
    assert.equal(cookie(), "o=1");
  });

  test("says how the panel was left", () => {
    saveLayout();
    assert.equal(cookie(), "o=1&m=dock&w=400&c=c1");
    root.dataset.busy = "run";
    delete root.dataset.open;
    saveLayout();
    assert.equal(cookie(), "o=0&m=dock&w=400&c=c1&b=1");
  });

  test("says nothing of the page of its own", () => {
    root.dataset.mode = "page";
    saveLayout();
    assert.equal(cookie(), "");
  });
});
