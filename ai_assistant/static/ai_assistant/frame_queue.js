// Frames wait here for the next paint, and while text is selected where they would draw.

import { startHtmx } from "./requests.js";
import { emit, root, translate } from "./root.js";

const HOLD_MS = 5000;
const RETRY_MS = 3000;
/** @type {typeof import("./frames.js") | undefined} */
let frames; // what applies them, once it is loaded
/** @type {Frame[]} */
let queue = [];
let scheduled = 0;
let heldSince = 0;

/** Tells whether text is selected in the growing block, which is about to be replaced. */
const isHeld = () => {
  const selection = getSelection();
  const blocks = "[aria-busy=true] .aia-body > .aia-b:last-child";
  const tail = !selection.isCollapsed && [...root.querySelectorAll(blocks)].at(-1);
  const inTail = tail && selection.containsNode(tail, true);
  if (!inTail) heldSince = 0;
  else heldSince ||= Date.now();
  return inTail && Date.now() - heldSince < HOLD_MS;
};

/** @param {Frame} frame */
const apply = (frame) => {
  try {
    frames.applyFrame(frame);
  } catch (error) {
    console.error("aia", error);
  }
};

export const flush = async () => {
  cancelAnimationFrame(scheduled);
  scheduled = 0;
  if (!queue.length) return;
  frames ??= await startHtmx();
  if (!frames) return setTimeout(flush, RETRY_MS);
  if (!queue.length) return;
  delete root.dataset.held;
  if (isHeld()) {
    root.dataset.held = translate("held");
    scheduled = 1; // not an animation frame: nothing else may schedule
    setTimeout(flush, 250);
    return;
  }
  const due = queue;
  queue = [];
  due.forEach(apply);
  emit("frame", { seq: due.at(-1).s });
};

/** Drops what waits: another conversation is drawn. */
export const dropFrames = () => {
  queue = [];
};

/** @param {Frame} frame */
export const receive = (frame) => {
  if (frame?.s === undefined) return;
  queue.push(frame);
  if (document.hidden) flush();
  else scheduled ||= requestAnimationFrame(flush);
};

document.addEventListener("visibilitychange", flush);
