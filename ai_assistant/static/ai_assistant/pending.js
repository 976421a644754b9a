// Messages on their way: kept in the tab until the page shows them.
import { byId, clone, root } from "./root.js";
import { readList, write } from "./store.js";

const KEY = "aia.pending";
const MAX_AGE_MS = 10 * 60 * 1000;

const save = (list) =>
  write("sessionStorage", KEY, list.length ? JSON.stringify(list) : "");

export const all = () => readList("sessionStorage", KEY);
export const isYoung = (item) => Date.now() - item.time < MAX_AGE_MS;
export const add = (item) => save([...all(), item]);
export const isPending = (key) => all().some((item) => item.key === key);

const keyed = (kind, key) => root.querySelectorAll(`${kind}[data-key="${CSS.escape(key)}"]`);
const ghosts = (key) => keyed(".aia-ghost", key);
export const isShown = (key) => keyed(".aia-msg", key).length > 0;

export const remove = (key) => save(all().filter((item) => item.key !== key));

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

export const removeGhost = (key) => {
  for (const ghost of ghosts(key)) ghost.remove();
};

export const markGhost = (key, state) => {
  for (const ghost of ghosts(key)) ghost.dataset.send = state;
};
