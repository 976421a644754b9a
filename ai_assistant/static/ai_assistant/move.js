// The places of the panel: docked or floating, moved and sized by pointer or keys.
import "./place.js"; // set afloat, the window stands where it stood last
import { keep, saveLayout } from "./layout.js";
import { root, tell } from "./root.js";

// As layout.py on the server has them: places are kept in steps.
const STEP = 20;
const DEFAULT = { w: 400, h: 640, x: 20, y: 20 };
const MIN = 320;
const MAX_WIDTH = 800;
const BESIDE = 960; // what a docked panel leaves to the page

const isDocked = () => root.dataset.mode === "dock";
const bound = (low, value, high) => Math.max(low, Math.min(value, high));
const isMirrored = () => getComputedStyle(root).direction === "rtl";

// --- where it stands, counted from the inline end and from below ---

const view = () => {
  const { clientWidth: w, clientHeight: h } = document.documentElement;
  return { w, h };
};

const standing = () => {
  const { left, right, bottom, width: w, height: h } = root.getBoundingClientRect();
  const all = view();
  return { w, h, x: isMirrored() ? left : all.w - right, y: all.h - bottom };
};

const widest = (x) => {
  const all = view().w;
  return Math.min(MAX_WIDTH, isDocked() && innerWidth >= 1280 ? all - BESIDE : all - x);
};

// `grip` names the edges that move: "top start"; nothing moves it all. `dx` runs along
// the text, `dy` down.
const placed = (grip, { w, h, x, y }, dx, dy) => {
  const all = view();
  if (!grip)
    return { w, h, x: bound(0, x - dx, all.w - w), y: bound(0, y - dy, all.h - h) };
  const next = { w, h, x, y };
  if (grip.includes("start")) next.w = bound(MIN, w - dx, widest(x));
  if (grip.includes("end")) {
    next.w = bound(MIN, w + dx, Math.min(MAX_WIDTH, w + x));
    next.x = x + w - next.w;
  }
  if (grip.includes("top")) next.h = bound(MIN, h - dy, all.h - y);
  if (grip.includes("bottom")) {
    next.h = bound(MIN, h + dy, h + y);
    next.y = y + h - next.h;
  }
  return next;
};

// --- drawing it ---

const steps = (length) => Math.round(length / STEP);

const say = () => {
  const now = standing();
  const values = { start: [now.w, widest(now.x)], top: [now.h, view().h - now.y] };
  for (const [name, [value, most]] of Object.entries(values)) {
    const grip = root.querySelector(`[role=separator][data-grip=${name}]`);
    grip.ariaValueNow = Math.round(value);
    grip.ariaValueMax = Math.round(most);
  }
};

const setPlace = ({ h, x, y }) => {
  const lengths = { "--aia-h": h, "--aia-x": x, "--aia-y": y };
  for (const [name, value] of Object.entries(lengths))
    root.style.setProperty(name, `${value}px`);
};

// While it is dragged it follows the pointer; let go, it takes the nearest step.
const draw = (box) => {
  if (isDocked()) {
    root.dataset.w = steps(box.w) * STEP;
    return;
  }
  root.style.setProperty("--aia-width", `${box.w}px`);
  setPlace(box);
};

const settle = ({ w, h, x, y }) => {
  root.style.removeProperty("--aia-width");
  root.dataset.w = bound(MIN, steps(w) * STEP, MAX_WIDTH);
  if (!isDocked()) {
    const low = MIN / STEP;
    const place = {
      h: bound(low, steps(h), low + 63),
      x: Math.min(steps(x), 255),
      y: Math.min(steps(y), 63)
    };
    setPlace({ h: place.h * STEP, x: place.x * STEP, y: place.y * STEP });
    keep({ p: `${place.h}.${place.x}.${place.y}` });
  }
  saveLayout();
  say();
};

// --- by pointer ---

const gripOf = (target) => {
  const grip = target.closest("[data-grip]");
  if (grip) return grip;
  const head = isDocked() ? null : target.closest(".aia-head");
  return target.closest("a, button, input, select, details") ? null : head;
};

export const grab = (event) => {
  const grip = gripOf(event.target);
  if (!grip || event.button || root.dataset.mode === "page") return;
  try {
    grip.setPointerCapture(event.pointerId);
  } catch {
    return; // it was let go before this module had arrived
  }
  const from = standing();
  let now = null;
  const follow = ({ clientX, clientY }) => {
    const dx = (clientX - event.clientX) * (isMirrored() ? -1 : 1);
    now = placed(grip.dataset.grip, from, dx, clientY - event.clientY);
    draw(now);
  };
  grip.addEventListener("pointermove", follow);
  const drop = () => {
    grip.removeEventListener("pointermove", follow);
    if (now) settle(now);
  };
  grip.addEventListener("lostpointercapture", drop, { once: true });
};

root.addEventListener("dblclick", ({ target }) => {
  if (target.closest("[data-grip]")) settle(DEFAULT);
});

// --- by keys ---

const FAR = 1e5;
const WAYS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1]
};

// Home is the least of a length, or the start of the line; End is the other one.
const wayOf = (grip, key) => {
  const ends = { Home: -FAR, End: FAR };
  if (!(key in ends)) {
    const [dx, dy] = WAYS[key];
    return [dx * STEP * (isMirrored() ? -1 : 1), dy * STEP];
  }
  return grip ? [-ends[key], -ends[key]] : [ends[key], 0];
};

export const step = ({ dataset: { grip } }, key) => {
  if (key === "Enter") return settle(DEFAULT);
  settle(placed(grip, standing(), ...wayOf(grip, key)));
};

// --- the buttons of the head ---

export const use = (button) => {
  root.dataset.mode = button.dataset.aiaMode;
  saveLayout();
  tell("mode", { mode: root.dataset.mode });
  say();
  // The pressed button is gone; its counterpart has taken its place.
  root.querySelector(`[data-aia-mode]:not(#${button.id})`).focus();
};

addEventListener("resize", say);
say();
