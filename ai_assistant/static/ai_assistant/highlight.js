// Points at elements of the page: one for a moment, several with numbers.

import { say } from "./announce.js";
import { emit, root } from "./root.js";

const SHOWN_MS = 6000; // each of several

/** @typedef {{ selector: string, text?: string }} Mark */

let pointed = 0;

/**
 * On a phone the panel covers the page: it makes room while something is pointed at.
 *
 * @param {number} more
 */
const makeRoom = (more) => {
  pointed += more;
  root.toggleAttribute("data-aside", pointed > 0);
};

/**
 * Outlines an element and writes beside it; returns what ends that.
 *
 * @param {Element} element
 * @param {string} text
 */
export const point = (element, text) => {
  element.classList.add("aia-highlight");
  makeRoom(1);
  const note = document.createElement("p");
  note.className = "aia-highlight-note";
  note.dir = "auto";
  note.textContent = text;
  if (text) document.body.append(note);
  const placing = new ResizeObserver(() => {
    note.hidden = !element.checkVisibility(); // as in a closed drawer: nowhere to stand
    note.style.left = "0"; // where it has the most room
    const { left, right, bottom } = element.getBoundingClientRect();
    // Begins where the element does, and is not under the panel at the end of the page.
    const fit = right - note.offsetWidth;
    const at = document.dir === "rtl" ? Math.max(left, fit) : Math.min(left, fit);
    const most = innerWidth - note.offsetWidth;
    note.style.left = `${Math.max(0, Math.min(at, most)) + window.scrollX}px`;
    note.style.top = `${bottom + window.scrollY + 8}px`;
  });
  for (const one of [element, document.body]) placing.observe(one);
  return () => {
    placing.disconnect();
    makeRoom(-1);
    element.classList.remove("aia-highlight");
    note.remove();
  };
};

/**
 * Returns the element that a selector names, the first one that is in sight: a folded
 * sidebar has the like. None if it is no selector.
 *
 * @param {string} selector
 */
export const elementOf = (selector) => {
  try {
    const found = [...document.querySelectorAll(selector)];
    const seen = { visibilityProperty: true };
    return found.find((one) => one.checkVisibility(seen)) ?? found[0];
  } catch {
    return null;
  }
};

/** @param {Element} element */
export const bringInSight = (element) => {
  const isTall = element.getBoundingClientRect().height > innerHeight;
  element.scrollIntoView({ block: isTall ? "start" : "center" });
};

/**
 * @param {Mark[]} marks
 * @param {(text: string, at: number) => string} inWords
 */
const showMarks = (marks, inWords) => {
  const missing = [];
  let first;
  for (const [at, { selector, text = "" }] of marks.entries()) {
    const element = elementOf(selector);
    if (!element) {
      missing.push(selector);
      continue;
    }
    setTimeout(point(element, inWords(text, at)), SHOWN_MS * marks.length);
    if (!first) bringInSight(element);
    first ??= element;
    emit("highlight", { selector, text, element });
    if (text) say(inWords(text, at));
  }
  return missing;
};

/** @param {{ selector?: string, text?: string, marks?: Mark[] }} values */
export const highlight = ({ selector, text, marks }) => {
  if (marks?.length) {
    const missing = showMarks(marks, (said, at) => `${at + 1}. ${said}`.trim());
    return { found: marks.length - missing.length, missing };
  }
  const elements = document.querySelectorAll(selector).length;
  if (!elements) return { found: false };
  showMarks([{ selector, text }], (said) => said);
  return { found: true, elements };
};
