// New text of an answer fades in. It stands there at once: nothing waits for it.

import { root } from "./root.js";

const MOST_NODES = 40; // an answer that is drawn anew has more, and is not new
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {AnimationEvent} event */
const unwrap = ({ target }) => {
  const span = /** @type {Element} */ (target);
  if (!span.matches(".aia-in")) return;
  const around = span.parentNode;
  span.replaceWith(...span.childNodes);
  around.normalize();
};

/** @param {Text} text */
const wrap = (text) => {
  const span = document.createElement("span");
  span.className = "aia-in";
  text.replaceWith(span);
  span.append(text);
};

/**
 * @param {Element} block
 * @param {number} length of the text that stood there before
 */
const fade = (block, length) => {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  /** @type {[text: Text, known: number][]} */
  const fresh = [];
  let seen = 0;
  while (walker.nextNode()) {
    const text = /** @type {Text} */ (walker.currentNode);
    const known = Math.max(0, length - seen);
    seen += text.length;
    // What only parts elements, as the rows of a table, is no text to wrap.
    if (seen > length && text.data.trim()) fresh.push([text, known]);
  }
  if (fresh.length > MOST_NODES) return;
  for (const [text, known] of fresh) wrap(known ? text.splitText(known) : text);
};

/** @param {Node} node */
const isBlock = (node) => node instanceof Element && node.matches(".aia-body > .aia-b");

new MutationObserver((records) => {
  if (still.matches || document.hidden) return;
  for (const { addedNodes, removedNodes } of records) {
    const [block] = addedNodes;
    if (!isBlock(block)) continue;
    const [old] = removedNodes;
    fade(/** @type {Element} */ (block), old?.textContent.length ?? 0);
  }
}).observe(root, { childList: true, subtree: true });

root.addEventListener("animationend", unwrap);
