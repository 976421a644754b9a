import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { load, openPage } from "./page.js";

const { document, root, window } = openPage();
const lengths = () =>
  ["--aia-h", "--aia-x", "--aia-y"].map((name) =>
    window.getComputedStyle(root).getPropertyValue(name)
  );
let count = 0;
const place = (cookie) => {
  document.cookie = `aia_ui=${cookie};path=/`;
  count += 1;
  return load("place", count); // it runs once an import
};

beforeEach(() => {
  document.adoptedStyleSheets = [];
});

test("a window stands where the cookie says, in steps of 20 px", async () => {
  await place("o=1&m=float&w=400&p=20.10.5");
  assert.deepEqual(lengths(), ["400px", "200px", "100px"]);
});

test("the cookie may be quoted, as the server writes it", async () => {
  await place('"o=1&m=float&p=20.0.63"');
  assert.deepEqual(lengths(), ["400px", "0px", "1260px"]);
});

test("no window is lower than 320 px", async () => {
  await place("o=1&p=9.9.9");
  assert.equal(lengths()[0], "320px");
});

for (const nonsense of ["", "o=1", "p=1.2", "p=a.b.c", "p=-5.1.1", "xp=20.10.5"])
  test(`the cookie ${nonsense || "without a word"} places nothing`, async () => {
    await place(nonsense);
    assert.equal(document.adoptedStyleSheets.length, 0);
  });
