// New text of an answer fades in. It stands there at once: nothing waits for it.

import { root } from "./root.js";

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {AnimationEvent} event */
const unwrap = ({ target }) => {
  const span = /** @type {Element} */ (target);
  if (!span.matches(".aia-in")) return;
  const around = span.parentNode;
  span.replaceWith(...span.childNodes);
  around.normalize();
};

/**
 * @param {Element} block
 * @param {number} length of the text that stood there before
 */
const fade = (block, length) => {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const fresh = [];
  let seen = 0;
  while (walker.nextNode()) {
    let text = /** @type {Text} */ (walker.currentNode);
    const known = length - seen;
    seen += text.length;
    if (known > 0 && seen > length) walker.currentNode = text = text.splitText(known);
    // What only parts elements, as the rows of a table, is no text to wrap.
    if (seen > length && text.data.trim()) fresh.push(text);
  }
  // What is drawn anew is not new; and at that pace it would fade without end.
  if (seen - length > 100) return;
  for (const text of fresh) {
    const span = document.createElement("span");
    span.className = "aia-in";
    text.replaceWith(span);
    span.append(text);
  }
};

new MutationObserver((records) => {
  if (still.matches) return;
  for (const record of records) {
    const block = /** @type {Element} */ (record.addedNodes[0]);
    if (block?.matches?.(".aia-body > .aia-b"))
      fade(block, record.removedNodes[0]?.textContent.length ?? 0);
  }
}).observe(root, { childList: true, subtree: true });

root.addEventListener("animationend", unwrap);
