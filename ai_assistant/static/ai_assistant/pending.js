// Messages on their way: kept in the tab until the page shows them.
import { byId, clone, root } from "./root.js";
import { readList, write } from "./store.js";

const KEY = "aia.pending";

export const all = () => readList("sessionStorage", KEY);
export const save = (list) =>
  write("sessionStorage", KEY, list.length ? JSON.stringify(list) : "");
export const add = (item) => save([...all(), item]);

export const ghosts = (key) =>
  root.querySelectorAll(`.aia-ghost[data-key="${CSS.escape(key)}"]`);

// The text stands in the conversation at once; the real message takes its place.
export const showGhost = (item) => {
  const log = byId("aia-log");
  if (!log || item.conversation !== root.dataset.conversation) return;
  if (ghosts(item.key).length) return;
  const ghost = clone("aia-t-sending");
  ghost.dataset.key = item.key;
  ghost.querySelector(".aia-text").textContent = item.text;
  log.append(ghost);
  byId("aia-empty")?.remove();
};
