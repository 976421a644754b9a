// What was said before: drawn above, without moving what the reader looks at.
import { draw } from "./frames.js";
import { ask, byId, notice, root } from "./root.js";

const AHEAD = "400px 0px 0px"; // how near to the top the reader comes first
const MOST_STEPS = 10;
const box = () => byId("aia-scroll");
const waiting = new WeakSet();

const inPlace = (holder, change) => {
  const mark = holder.nextElementSibling ?? holder;
  const before = mark.getBoundingClientRect().top;
  box().style.overflowAnchor = "none"; // else a browser does the same once more
  change();
  box().scrollTop += mark.getBoundingClientRect().top - before;
  requestAnimationFrame(() => (box().style.overflowAnchor = ""));
};

export const use = async (link, to = "") => {
  if (waiting.has(link)) return;
  waiting.add(link);
  const { src, before } = link.dataset;
  const { conversation } = root.dataset;
  try {
    const response = await ask(src, { conversation, before, to });
    if (!response.ok) throw new Error(response.status);
    const html = await response.text();
    if (link.isConnected)
      inPlace(link.parentElement, () => draw(link.parentElement, html));
  } catch {
    waiting.delete(link);
    notice(root.dataset.failed);
  }
  watch();
};

const first = () => byId("aia-log")?.querySelector("[data-before]");

// Draws as far as the run, if the conversation has it.
export const reach = async (run) => {
  for (
    let step = 0;
    run && first() && !byId(`r-${run}`) && step < MOST_STEPS;
    step += 1
  )
    await use(first(), run);
};

let watcher = null;
let watched = null;

export function watch() {
  const link = first();
  if (link === watched) return;
  watcher?.disconnect();
  watched = link;
  if (!link) return;
  const onSeen = (entries) => entries.some((one) => one.isIntersecting) && use(link);
  watcher = new IntersectionObserver(onSeen, { root: box(), rootMargin: AHEAD });
  watcher.observe(link);
}
