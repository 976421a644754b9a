// New text of an answer fades in. It stands there at once: nothing waits for it. A block
// that grows is drawn anew each time; once the answer has ended, its spans have no style.

import { root } from "./root.js";

const MOST_CHARS = 40; // that are new in a block
const MOST_MS = 8; // since the frame began: a slow browser does without
const still = matchMedia("(prefers-reduced-motion: reduce)");
/** @type {WeakMap<Element, number>} of the text that stood there before */
const lengths = new WeakMap();

/** @param {Element} block */
const fade = (block) => {
  const known = lengths.get(block) ?? 0;
  const { length } = block.textContent;
  lengths.set(block, length);
  // What is drawn anew is not new; and quick text would fade without end, which costs
  // the page more than the text itself.
  if (length - known > MOST_CHARS || still.matches) return;
  if (performance.now() - +document.timeline.currentTime > MOST_MS) return;
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walker.nextNode()) {
    let text = /** @type {Text} */ (walker.currentNode);
    const left = known - seen;
    seen += text.length;
    if (left > 0 && seen > known) walker.currentNode = text = text.splitText(left);
    // What only parts elements, as the rows of a table, is no text to wrap.
    if (seen <= known || !text.data.trim()) continue;
    const span = document.createElement("span");
    span.className = "aia-in";
    text.replaceWith(span);
    span.append(text);
  }
};

/** @param {any} node */
const isBlock = (node) => node?.matches?.(".aia-body > .aia-b");

/** @param {MutationRecord[]} records */
const fadeBlocks = (records) => {
  for (const { target, addedNodes } of records) {
    const block = [target, addedNodes[0]].find(isBlock);
    if (block) fade(/** @type {Element} */ (block));
  }
};

const observer = new MutationObserver(fadeBlocks);
observer.observe(root, { childList: true, subtree: true });
// Before others measure what a frame has drawn: it is laid out once.
root.addEventListener("aia:frame", () => fadeBlocks(observer.takeRecords()), true);
