// New text of an answer fades in. It stands there at once: nothing waits for it. A block
// that grows is drawn anew each time; once the answer has ended, its spans have no style.

import { root } from "./root.js";

const MOST_CHARS = 40; // that are new in a block
const still = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * @param {Element} block
 * @param {number} length of the text that stood there before
 */
const fade = (block, length) => {
  // What is drawn anew is not new; and quick text would fade without end, which costs
  // the page more than the text itself.
  if (block.textContent.length - length > MOST_CHARS) return;
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walker.nextNode()) {
    let text = /** @type {Text} */ (walker.currentNode);
    const known = length - seen;
    seen += text.length;
    if (known > 0 && seen > length) walker.currentNode = text = text.splitText(known);
    // What only parts elements, as the rows of a table, is no text to wrap.
    if (seen <= length || !text.data.trim()) continue;
    const span = document.createElement("span");
    span.className = "aia-in";
    text.replaceWith(span);
    span.append(text);
  }
};

/** @param {MutationRecord[]} records */
const fadeBlocks = (records) => {
  for (const { addedNodes, removedNodes } of records) {
    const block = /** @type {Element} */ (addedNodes[0]);
    if (!still.matches && block?.matches?.(".aia-body > .aia-b"))
      fade(block, removedNodes[0]?.textContent.length ?? 0);
  }
};

const observer = new MutationObserver(fadeBlocks);
observer.observe(root, { childList: true, subtree: true });
// Before others measure what a frame has drawn: it is laid out once.
root.addEventListener("aia:frame", () => fadeBlocks(observer.takeRecords()), true);
