// Messages on their way: kept in the tab until the page shows them.
import { byId, clone, root } from "./root.js";
import { running } from "./state.js";
import { readList, write } from "./store.js";

const KEY = "aia.pending";

export const all = () => readList("sessionStorage", KEY);
const save = (list) =>
  write("sessionStorage", KEY, list.length ? JSON.stringify(list) : "");
export const drop = (key) => save(all().filter((item) => item.key !== key));
export const add = (item) => save([...all(), item]);

export const ghosts = (key) =>
  root.querySelectorAll(`.aia-ghost[data-key="${CSS.escape(key)}"]`);

// The text stands on the page at once; the real message takes its place. While an
// answer is under way that is in the queue, else in the conversation.
export const showGhost = (item) => {
  const waits = running();
  const place = byId(waits ? "aia-queuing" : "aia-log");
  if (!place || item.conversation !== root.dataset.conversation) return;
  if (ghosts(item.key).length) return;
  const ghost = clone(waits ? "aia-t-queuing" : "aia-t-sending");
  ghost.dataset.key = item.key;
  ghost.querySelector(".aia-text").textContent = item.text;
  place.append(ghost);
  if (!waits) byId("aia-empty")?.remove();
};
