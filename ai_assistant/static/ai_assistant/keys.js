// The keyboard map: what the keys do while the panel is open.

import { byId, root } from "./root.js";
import { moveInGroup, rove } from "./roving.js";

const TYPING = "input, textarea, select, [contenteditable]";
/** @type {HTMLElement | null} */
let pageFocus = null; // where the page had the focus

const activeElement = () => /** @type {HTMLElement} */ (document.activeElement);
const isInside = () => root.contains(activeElement());

/** @param {HTMLElement | null | undefined} element */
const focusOn = (element) => {
  if (!element) return;
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus();
};

// --- from one region to the other ---

const switchRegion = () => {
  if (!isInside()) return focusOn(byId("aia-input") ?? byId("aia-scroll"));
  /** @type {NodeListOf<HTMLElement>} */
  const regions = document.querySelectorAll(
    "main, [role=main], #content, #container, form"
  );
  const first = [...regions].find((one) => !root.contains(one));
  focusOn(pageFocus?.isConnected && pageFocus !== document.body ? pageFocus : first);
};

document.addEventListener(
  "focusin",
  /** @param {FocusEvent & ElementEvent} event */
  ({ target }) => {
    if (!root.contains(target)) pageFocus = target;
  }
);
if (!isInside()) pageFocus = activeElement();

// --- from message to message ---

/** @param {1 | -1} direction */
const moveToMessage = (direction) => {
  /** @type {NodeListOf<HTMLElement>} */
  const messages = root.querySelectorAll("#aia-log > .aia-msg");
  const all = [...messages];
  const at = all.findIndex((one) => one.contains(activeElement()));
  const next = at < 0 ? all.at(-1) : all[at + direction];
  focusOn(next);
  const isLong = next?.offsetHeight > byId("aia-scroll").clientHeight;
  next?.scrollIntoView({ block: isLong ? "start" : "nearest" });
};

const moveToApproval = () => {
  /** @type {HTMLElement | undefined} */
  const card = byId("aia-pinned")?.querySelector(".aia-card");
  focusOn(card);
  card?.scrollIntoView({ block: "nearest" });
  return Boolean(card);
};

const quoteSelection = async () => (await import("./quote.js")).use();

/**
 * @param {HTMLElement} grip
 * @param {string} key
 */
const moveGrip = async (grip, key) =>
  (await import("./move.js")).moveByKey(grip.dataset.grip, key);

// --- which key does what; what returns false is left to the browser ---

const showMap = () => {
  if (activeElement().matches(TYPING)) return false;
  /** @type {HTMLElement | null} */
  const link = root.querySelector("details [data-aia-use=keyboard]");
  link?.click();
};

const leaveField = () => {
  if (activeElement().id !== "aia-input") return false;
  byId("aia-scroll").focus();
};

/** @type {Record<string, () => unknown>} by what is held (c, a, s), and the key */
const inPanel = {
  "a ArrowUp": () => moveToMessage(-1),
  "a ArrowDown": () => moveToMessage(1),
  "cs o": () => byId("aia-new").requestSubmit(),
  "cs h": () => byId("aia-list").click(),
  "s ?": showMap,
  " ?": showMap,
  " Escape": leaveField
};

/** @type {Record<string, () => unknown>} */
const anywhere = { " F6": switchRegion, "a a": moveToApproval, "a q": quoteSelection };

/**
 * Returns the sign of a press, as the two maps have it.
 *
 * @param {KeyboardEvent} event
 */
export const signOf = ({ altKey, code, ctrlKey, key, metaKey, shiftKey }) => {
  const held =
    (ctrlKey || metaKey ? "c" : "") + (altKey ? "a" : "") + (shiftKey ? "s" : "");
  // With Alt, and on some keyboards, the letter is another one.
  const isLetter = held && held !== "s" && /^Key/.test(code);
  return `${held} ${isLetter ? code[3].toLowerCase() : key}`;
};

const SIZING = /^(Arrow|Home$|End$|Enter$)/;

/** @param {KeyboardEvent} event */
export const onKeydown = (event) => {
  // The first F6 was held for this module.
  if ((event.defaultPrevented && event.key !== "F6") || event.isComposing) return;
  const target = /** @type {HTMLElement} */ (event.target);
  /** @type {HTMLElement | null} */
  const grip = target.closest?.("#aia [data-grip]");
  const sign = signOf(event);
  if (grip && sign[0] === " " && SIZING.test(event.key)) {
    event.preventDefault();
    moveGrip(grip, event.key);
    return;
  }
  if (event.key === "Tab") return rove();
  if (sign[0] === " " && isInside() && moveInGroup(event))
    return event.preventDefault();
  const action = anywhere[sign] ?? (isInside() && inPanel[sign]);
  if (action && action() !== false) event.preventDefault();
};
