// Follows the end of the conversation until the reader scrolls up.
import { byId, lazily, root } from "./root.js";
import { read, write } from "./store.js";

const KEY = "aia.scroll";
const NEAR_PX = 2;
let box = null;
let follow = true;
let last = { top: 0, height: 0, room: 0 };

const gap = () => box.scrollHeight - box.scrollTop - box.clientHeight;

const note = () => {
  last = { top: box.scrollTop, height: box.scrollHeight, room: box.clientHeight };
};

export const toEnd = () => {
  if (!box) return;
  follow = true;
  byId("aia-latest").hidden = true;
  box.scrollTop = box.scrollHeight;
  note();
};

const onScroll = () => {
  const shrunk = box.scrollHeight < last.height || box.clientHeight > last.room;
  if (gap() <= NEAR_PX) {
    follow = true;
    byId("aia-latest").hidden = true;
  } else if (box.scrollTop < last.top && !shrunk) follow = false;
  note();
};

const onResize = () => {
  if (!box.isConnected) return;
  if (follow) return toEnd();
  if (box.scrollHeight > last.height) byId("aia-latest").hidden = false;
  last.height = box.scrollHeight;
};

const watcher = new ResizeObserver(onResize);

const save = () => {
  const { conversation } = root.dataset;
  const place = JSON.stringify({ conversation, top: box?.scrollTop ?? 0 });
  write("sessionStorage", KEY, box && !follow ? place : "");
};

const restored = () => {
  try {
    const place = JSON.parse(read("sessionStorage", KEY));
    if (place?.conversation !== root.dataset.conversation) return false;
    follow = false;
    box.scrollTop = place.top;
    note();
    return true;
  } catch {
    return false;
  }
};

export const watch = () => {
  watcher.disconnect();
  box = byId("aia-scroll");
  if (!box) return;
  follow = true;
  if (!restored()) toEnd();
  box.addEventListener("scroll", onScroll, { passive: true });
  watcher.observe(box);
  watcher.observe(byId("aia-log"));
};

const room = lazily(() => import("./room.js"));
root.addEventListener("aia:follow", () => {
  toEnd();
  room();
});
root.addEventListener("click", (event) => {
  if (!event.target.closest("#aia-latest")) return;
  toEnd();
  box.focus({ preventScroll: true });
});
addEventListener("pagehide", save);
