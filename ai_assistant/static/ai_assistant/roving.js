// What stands in a message is one stop of Tab, and its toolbar another: arrows go from
// one to the next there.

import { root } from "./root.js";

const STOPS = "a[href], button, summary, [tabindex]";
const FIELDS = "input:not([type=hidden]), select, textarea";
const BAR = "[role=toolbar]";
/** @type {WeakSet<Element>} what Tab passes by because of this module */
const passed = new WeakSet();

/** @param {HTMLElement} one */
const isStop = (one) =>
  one.checkVisibility() &&
  !(/** @type {HTMLButtonElement} */ (one).disabled) &&
  !one.closest("[popover]") &&
  (one.tabIndex >= 0 || passed.has(one));

/**
 * Returns the two groups of a message; none while something is filled in there.
 *
 * @param {Element} message
 * @returns {HTMLElement[][]}
 */
const groupsOf = (message) => {
  /** @type {NodeListOf<HTMLElement>} */
  const found = message.querySelectorAll(STOPS);
  const stops = [...found].filter(isStop);
  const isFilledIn = [...message.querySelectorAll(FIELDS)].some((one) =>
    one.checkVisibility()
  );
  if (isFilledIn) return stops.map((one) => [one]);
  return [
    stops.filter((one) => !one.closest(BAR)),
    stops.filter((one) => one.closest(BAR))
  ];
};

/**
 * @param {HTMLElement[]} group
 * @param {Element} stop
 */
const setStop = (group, stop) => {
  for (const one of group) {
    one.tabIndex = one === stop ? 0 : -1;
    passed[one === stop ? "delete" : "add"](one);
  }
};

/** Lets the press of Tab that is under way find one stop in each group. */
export const rove = () => {
  const { activeElement } = document;
  for (const message of root.querySelectorAll("#aia-log > .aia-msg"))
    for (const group of groupsOf(message))
      setStop(group, group.find((one) => one === activeElement) ?? group[0]);
};

/**
 * Returns by how many places a key moves: by none if it is not for that.
 *
 * @param {string} key
 * @param {boolean} isBar
 */
const stepOf = (key, isBar) => {
  const isMirrored = getComputedStyle(root).direction === "rtl";
  const [next, previous] = !isBar
    ? ["ArrowDown", "ArrowUp"]
    : isMirrored
      ? ["ArrowLeft", "ArrowRight"]
      : ["ArrowRight", "ArrowLeft"];
  return key === next ? 1 : key === previous ? -1 : 0;
};

/**
 * Moves within a group; returns whether the key was for that.
 *
 * @param {KeyboardEvent} event
 */
export const moveInGroup = ({ key, target }) => {
  const from = /** @type {HTMLElement} */ (target);
  const message = from.closest("#aia-log > .aia-msg");
  const step = stepOf(key, Boolean(from.closest(BAR)));
  const group = message && step && groupsOf(message).find((one) => one.includes(from));
  if (!group || group.length < 2) return false;
  const next = group.at((group.indexOf(from) + step) % group.length);
  setStop(group, next);
  next.focus();
  return true;
};
