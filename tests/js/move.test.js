import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { load, openPage } from "./page.js";

openPage(`<span role="separator" data-grip="start"></span>
  <span role="separator" data-grip="top"></span>`);
const { distanceOf, movedBox } = await load("move");

const BOX = { w: 400, h: 640, x: 20, y: 20 };
const LIMITS = { view: { w: 1440, h: 900 }, widest: 800 };
const moved = (grip, dx, dy, box = BOX) => movedBox(grip, box, dx, dy, LIMITS);

suite("a dragged window", () => {
  test("follows the pointer with its size as it is", () => {
    assert.deepEqual(moved(undefined, -300, -120), { w: 400, h: 640, x: 320, y: 140 });
  });

  test("stays inside the viewport", () => {
    assert.deepEqual(moved(undefined, -3000, -3000), { ...BOX, x: 1040, y: 260 });
    assert.deepEqual(moved(undefined, 3000, 3000), { ...BOX, x: 0, y: 0 });
  });
});

suite("an edge", () => {
  test("moves alone, its opposite stays", () => {
    assert.deepEqual(moved("start", -60, 99), { ...BOX, w: 460 });
    assert.deepEqual(moved("end", -40, 99), { ...BOX, w: 360, x: 60 });
    assert.deepEqual(moved("top", 99, 60), { ...BOX, h: 580 });
    assert.deepEqual(moved("bottom", 99, -60), { ...BOX, h: 580, y: 80 });
  });

  test("moves together with the other one of a corner", () => {
    assert.deepEqual(moved("top start", -40, 80), { ...BOX, w: 440, h: 560 });
    assert.deepEqual(moved("bottom end", -40, -80), {
      ...{ w: 360, h: 560 },
      ...{ x: 60, y: 100 }
    });
  });

  test("makes the window no smaller than 320 px", () => {
    assert.deepEqual(moved("top start", 3000, 3000), { ...BOX, w: 320, h: 320 });
    assert.deepEqual(moved("bottom end", -3000, -3000), {
      ...{ w: 320, h: 320 },
      ...{ x: 100, y: 340 }
    });
  });

  test("makes it no wider than allowed, nor higher than the viewport", () => {
    assert.deepEqual(moved("top start", -3000, -3000), { ...BOX, w: 800, h: 880 });
    assert.deepEqual(moved("bottom end", 3000, 3000), {
      ...{ w: 420, h: 660 },
      ...{ x: 0, y: 0 }
    });
  });
});

suite("a key", () => {
  test("moves by a step, along the text", () => {
    assert.deepEqual(distanceOf("start", "ArrowLeft", false), [-20, 0]);
    assert.deepEqual(distanceOf("start", "ArrowLeft", true), [20, 0]);
    assert.deepEqual(distanceOf("top", "ArrowDown", false), [0, 20]);
  });

  test("goes to the least length by Home, to the greatest by End", () => {
    const least = moved("start", ...distanceOf("start", "Home", false));
    const most = moved("start", ...distanceOf("start", "End", false));
    assert.deepEqual([least.w, most.w], [320, 800]);
  });

  test("moves a window to the ends of the line by Home and End", () => {
    const start = moved(undefined, ...distanceOf(undefined, "Home", false));
    const end = moved(undefined, ...distanceOf(undefined, "End", false));
    assert.deepEqual([start.x, end.x], [1040, 0]);
    assert.equal(start.y, BOX.y);
  });
});
