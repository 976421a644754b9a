// The places of the panel: docked or floating, moved and sized by pointer or keys.

import "./place.js"; // set afloat, the window stands where it stood last
import { emit, root } from "./root.js";
import { saveLayout, updateCookie } from "./storage.js";

/**
 * Where the panel stands, in px: `x` is counted from the inline end, `y` from below.
 *
 * @typedef {{ w: number, h: number, x: number, y: number }} Box
 */

// As web/panel/layout.py has them: places are kept in steps.
const STEP = 20;
const DEFAULT = { w: 400, h: 640, x: 20, y: 20 };
const MIN = 320;
const MAX_WIDTH = 800;
const BESIDE = 880; // what a docked panel leaves to the page
const MOST_STEPS = { h: 79, x: 255, y: 63 };

const isDocked = () => root.dataset.mode === "dock";
const isMirrored = () => getComputedStyle(root).direction === "rtl";

/**
 * @param {number} low
 * @param {number} value
 * @param {number} high
 */
const clamp = (low, value, high) => Math.max(low, Math.min(value, high));

// --- where it stands ---

const viewport = () => {
  const { clientWidth: w, clientHeight: h } = document.documentElement;
  return { w, h };
};

/** @returns {Box} */
const currentBox = () => {
  const { left, right, bottom, width: w, height: h } = root.getBoundingClientRect();
  const view = viewport();
  return { w, h, x: isMirrored() ? left : view.w - right, y: view.h - bottom };
};

/** @param {number} x */
const maxWidth = (x) => {
  const { w } = viewport();
  const isBeside = isDocked() && innerWidth >= 1280;
  return Math.min(MAX_WIDTH, isBeside ? w - BESIDE : w - x);
};

/**
 * Returns the box once some of its edges were moved.
 *
 * @param {string | undefined} grip names the edges: "top start"; none moves it all
 * @param {Box} box
 * @param {number} dx along the text
 * @param {number} dy down
 * @param {{ view: { w: number, h: number }, widest: number }} limits
 * @returns {Box}
 */
export const movedBox = (grip, { w, h, x, y }, dx, dy, { view, widest }) => {
  if (!grip)
    return { w, h, x: clamp(0, x - dx, view.w - w), y: clamp(0, y - dy, view.h - h) };
  const next = { w, h, x, y };
  if (grip.includes("start")) next.w = clamp(MIN, w - dx, widest);
  if (grip.includes("end")) {
    next.w = clamp(MIN, w + dx, Math.min(MAX_WIDTH, w + x));
    next.x = x + w - next.w;
  }
  if (grip.includes("top")) next.h = clamp(MIN, h - dy, view.h - y);
  if (grip.includes("bottom")) {
    next.h = clamp(MIN, h + dy, h + y);
    next.y = y + h - next.h;
  }
  return next;
};

/**
 * @param {string | undefined} grip
 * @param {Box} box
 * @param {number} dx
 * @param {number} dy
 */
const moved = (grip, box, dx, dy) =>
  movedBox(grip, box, dx, dy, { view: viewport(), widest: maxWidth(box.x) });

// --- drawing it ---

/** @param {number} length */
const steps = (length) => Math.round(length / STEP);

const updateSeparators = () => {
  const box = currentBox();
  const values = {
    start: [box.w, maxWidth(box.x)],
    top: [box.h, viewport().h - box.y]
  };
  for (const [name, [value, most]] of Object.entries(values)) {
    const grip = root.querySelector(`[role=separator][data-grip=${name}]`);
    if (!grip) continue; // on a page of its own
    grip.ariaValueNow = `${Math.round(value)}`;
    grip.ariaValueMax = `${Math.round(most)}`;
  }
};

/** @param {{ h: number, x: number, y: number }} place */
const setPlace = ({ h, x, y }) => {
  const lengths = { "--aia-h": h, "--aia-x": x, "--aia-y": y };
  for (const [name, value] of Object.entries(lengths))
    root.style.setProperty(name, `${value}px`);
};

/**
 * Has the panel follow the pointer; let go, it takes the nearest step.
 *
 * @param {Box} box
 */
const draw = (box) => {
  if (isDocked()) {
    root.dataset.w = `${steps(box.w) * STEP}`;
    return;
  }
  root.style.setProperty("--aia-width", `${box.w}px`);
  setPlace(box);
};

/**
 * Puts the panel on the nearest step, and keeps its place.
 *
 * @param {Box} box
 */
const snap = ({ w, h, x, y }) => {
  root.style.removeProperty("--aia-width");
  root.dataset.w = `${clamp(MIN, steps(w) * STEP, MAX_WIDTH)}`;
  if (!isDocked()) {
    const place = {
      h: clamp(MIN / STEP, steps(h), MOST_STEPS.h),
      x: Math.min(steps(x), MOST_STEPS.x),
      y: Math.min(steps(y), MOST_STEPS.y)
    };
    setPlace({ h: place.h * STEP, x: place.x * STEP, y: place.y * STEP });
    updateCookie({ p: `${place.h}.${place.x}.${place.y}` });
  }
  saveLayout();
  updateSeparators();
};

// --- by pointer ---

/**
 * @param {HTMLElement} target
 * @returns {HTMLElement | null}
 */
const gripOf = (target) => {
  /** @type {HTMLElement} */
  const grip = target.closest("[data-grip]");
  if (grip) return grip;
  /** @type {HTMLElement} */
  const head = isDocked() ? null : target.closest(".aia-head");
  return target.closest("a, button, input, select, details") ? null : head;
};

/** @param {ElementPointerEvent} event */
export const startDrag = (event) => {
  const grip = gripOf(event.target);
  if (!grip || event.button || root.dataset.mode === "page") return;
  try {
    grip.setPointerCapture(event.pointerId);
  } catch {
    return; // it was let go before this module had arrived
  }
  const from = currentBox();
  /** @type {Box | null} */
  let box = null;
  /** @param {PointerEvent} event */
  const follow = ({ clientX, clientY }) => {
    const dx = (clientX - event.clientX) * (isMirrored() ? -1 : 1);
    box = moved(grip.dataset.grip, from, dx, clientY - event.clientY);
    draw(box);
  };
  grip.addEventListener("pointermove", follow);
  const drop = () => {
    grip.removeEventListener("pointermove", follow);
    if (box) snap(box);
  };
  grip.addEventListener("lostpointercapture", drop, { once: true });
};

root.addEventListener(
  "dblclick",
  /** @param {MouseEvent & ElementEvent} event */
  ({ target }) => {
    if (target.closest("[data-grip]")) snap(DEFAULT);
  }
);

// --- by keys ---

const FAR = 1e5;
/** @type {Record<string, [dx: number, dy: number]>} */
const ARROWS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1]
};

/**
 * Returns how far a key moves an edge. Home is the least of a length, or the start of
 * the line; End is the other one.
 *
 * @param {string | undefined} grip
 * @param {string} key
 * @param {boolean} isRightToLeft
 * @returns {[dx: number, dy: number]}
 */
export const distanceOf = (grip, key, isRightToLeft) => {
  if (key in ARROWS) {
    const [dx, dy] = ARROWS[key];
    return [dx * STEP * (isRightToLeft ? -1 : 1), dy * STEP];
  }
  const far = key === "Home" ? -FAR : FAR;
  return grip ? [-far, -far] : [far, 0];
};

/**
 * @param {string | undefined} grip
 * @param {string} key
 */
export const moveByKey = (grip, key) => {
  if (key === "Enter") return snap(DEFAULT);
  snap(moved(grip, currentBox(), ...distanceOf(grip, key, isMirrored())));
};

// --- the buttons of the head ---

/** @param {HTMLElement} button */
export const use = (button) => {
  root.dataset.mode = button.dataset.aiaMode;
  saveLayout();
  emit("mode", { mode: root.dataset.mode });
  updateSeparators();
  // The pressed button is gone; its counterpart has taken its place.
  /** @type {HTMLElement} */
  const other = root.querySelector(`[data-aia-mode]:not(#${button.id})`);
  other.focus();
};

addEventListener("resize", updateSeparators);
updateSeparators();
