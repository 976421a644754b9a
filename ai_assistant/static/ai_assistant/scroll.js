// Follows the end of the conversation until the reader scrolls up.

import { byId, lazy, root } from "./root.js";
import { read, write } from "./storage.js";

const KEY = "aia.scroll";
const NEAR_PX = 2;
/** @type {HTMLElement | null} */
let box = null;
let follows = true;
let last = { top: 0, height: 0, room: 0 };

const gap = () => box.scrollHeight - box.scrollTop - box.clientHeight;

const remember = () => {
  last = { top: box.scrollTop, height: box.scrollHeight, room: box.clientHeight };
};

export const scrollToEnd = () => {
  if (!box || byId("aia-empty")) return; // which begins at its top
  follows = true;
  // Not anew where it is hidden: it would be styled with each frame of an answer.
  byId("aia-latest").toggleAttribute("hidden", true);
  box.scrollTop = box.scrollHeight;
  remember();
};

const onScroll = () => {
  const shrunk = box.scrollHeight < last.height || box.clientHeight > last.room;
  if (gap() <= NEAR_PX) {
    follows = true;
    byId("aia-latest").toggleAttribute("hidden", true);
  } else if (box.scrollTop < last.top && !shrunk) follows = false;
  remember();
};

const onResize = () => {
  if (!box.isConnected) return;
  if (follows) return scrollToEnd();
  if (box.scrollHeight > last.height && root.dataset.busy)
    byId("aia-latest").hidden = false; // a form that opens is no new text
  last.height = box.scrollHeight;
};

const observer = new ResizeObserver(onResize);

const save = () => {
  const { conversation } = root.dataset;
  const place = JSON.stringify({ conversation, top: box?.scrollTop ?? 0 });
  write("sessionStorage", KEY, box && !follows ? place : "");
};

const restore = () => {
  try {
    const place = JSON.parse(read("sessionStorage", KEY));
    if (place?.conversation !== root.dataset.conversation) return false;
    follows = false;
    box.scrollTop = place.top;
    remember();
    return true;
  } catch {
    return false;
  }
};

/** Follows the conversation that has been drawn. */
export const observeScroll = () => {
  observer.disconnect();
  box = byId("aia-scroll");
  if (!box) return;
  follows = true;
  if (!restore()) scrollToEnd();
  box.addEventListener("scroll", onScroll, { passive: true });
  observer.observe(box);
  observer.observe(byId("aia-log"));
};

const answerRoom = lazy(() => import("./answer_room.js"));
root.addEventListener("aia:follow", () => {
  scrollToEnd();
  answerRoom();
});
root.addEventListener(
  "click",
  /** @param {ElementPointerEvent} event */
  (event) => {
    if (!event.target.closest("#aia-latest")) return;
    scrollToEnd();
    box.focus({ preventScroll: true });
  }
);
addEventListener("pagehide", save);
