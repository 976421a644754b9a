// Room for an answer: what was just asked stands at the top, and there is space below
// its answer, which fills it. Loaded with the first message that is sent; scroll.js
// keeps to the end as always.

import { byId, root } from "./root.js";

const PADDING_PX = 32; // of the box, above and below
const NEAR_PX = 2;
/** @type {HTMLElement | null} */
let log = null; // in which something was asked; another conversation has another one
let reached = 0;

/** @returns {HTMLElement | null} */
const lastAnswer = () =>
  log?.isConnected ? log.querySelector(":scope > article:last-of-type") : null;

const makeRoom = () => {
  const answer = lastAnswer();
  if (answer?.dataset.role !== "assistant") return;
  const question = /** @type {HTMLElement} */ (answer.previousElementSibling);
  const above = answer.offsetTop - question.offsetTop;
  const left = byId("aia-scroll").clientHeight - above - PADDING_PX;
  answer.style.minBlockSize = `${Math.max(0, left)}px`;
};

// Text that fills the room makes nothing longer: who has scrolled up is told here.
const showLatest = () => {
  const box = byId("aia-scroll");
  const answer = lastAnswer();
  if (!answer) return;
  const text = answer.lastElementChild.getBoundingClientRect().bottom;
  const down = box.scrollTop + text;
  const isAway = box.scrollHeight - box.scrollTop - box.clientHeight > NEAR_PX;
  const isBelow = text > box.getBoundingClientRect().bottom;
  const hasGrown = reached && down > reached + NEAR_PX;
  if (hasGrown && isAway && isBelow) byId("aia-latest").hidden = false;
  reached = down;
};

const observer = new ResizeObserver(makeRoom);

const begin = () => {
  log = byId("aia-log");
  reached = 0;
  observer.disconnect();
  observer.observe(byId("aia-scroll"));
};

begin();
root.addEventListener("aia:follow", begin);
// Not for a form that opens: the room stays, and the form where it came into sight.
root.addEventListener("htmx.after.swap", ({ target }) => target === root && makeRoom());
root.addEventListener("aia:frame", () => setTimeout(showLatest)); // the end is followed
