// Applies a frame of the server: HTML that htmx swaps, texts that grow, what is told.
// The only place that turns text into HTML without htmx.

import { swap } from "./htmx.js";
import { byId, emit, lazy, policy, root } from "./root.js";
import { setRunState, speak } from "./state.js";

/** @param {string} html */
export const parse = (html) => {
  const template = document.createElement("template");
  template.innerHTML = policy.createHTML(html);
  return template.content;
};

// --- a text grows: its last block is drawn anew, what was thought gets longer ---

/**
 * Draws what is in a block anew. The block stays, and so does that it is the last one:
 * else the one above would be styled and laid out anew too.
 *
 * @param {Element} block
 * @param {DocumentFragment} fresh
 */
const redraw = (block, fresh) => {
  const boxes = [...block.querySelectorAll("pre")].map((box) => box.scrollLeft);
  block.replaceChildren(fresh);
  boxes.forEach((left, n) => {
    if (left) block.querySelectorAll("pre")[n]?.scrollTo({ left });
  });
};

/** @param {[id: string, html: string]} text */
const grow = ([id, html]) => {
  const old = byId(id);
  const [, body] = /^(.+)-b\d+$/.exec(id) ?? [];
  if (!body) {
    const text = parse(html).textContent;
    const last = old?.lastChild;
    return last instanceof Text ? last.appendData(text) : old?.append(text);
  }
  if (old) return redraw(old, parse(html));
  const block = document.createElement("div");
  Object.assign(block, { id, className: "aia-b" }).append(parse(html));
  return byId(body)?.append(block);
};

// --- one frame ---

/** @param {string} name as data-state has it, or why a run thinks for long */
const showState = (name) => {
  const isWarming = name === "warming";
  root.toggleAttribute("data-warming", isWarming);
  setRunState(isWarming ? "thinking" : name);
  if (root.dataset.busy) return;
  for (const ended of root.querySelectorAll("[aria-busy]"))
    ended.removeAttribute("aria-busy");
};

const following = lazy(() => import("./follow.js"));

/** @param {[name: string, value: any]} news */
const tell = ([name, value]) => {
  if (name === "say") speak("say", value);
  else if (name === "stale") following().then((page) => page?.follow(value, parse));
  else emit(name, value);
};

/** @type {Element | null} */
let beforeCard = null; // what had the focus before a card above the composer

root.addEventListener("focusin", ({ target, relatedTarget }) => {
  const pinned = byId("aia-pinned");
  const from = /** @type {Element | null} */ (relatedTarget);
  if (pinned?.contains(/** @type {Element} */ (target)) && !pinned.contains(from))
    beforeCard = from;
});

/**
 * Runs what may take the focused element away: its heir gets the focus.
 *
 * @param {() => void} change
 */
const keepFocus = (change) => {
  const focused = document.activeElement;
  const message = focused?.closest("#aia .aia-msg");
  const isOurs = focused !== root && root.contains(focused);
  // A call has another id once it is stored, but its card stands in the same place.
  /** @type {Element[]} */
  const summaries = [...(message?.querySelectorAll("summary") ?? [])];
  const at = summaries.indexOf(focused);
  change();
  if (!isOurs || focused.isConnected) return;
  const fold = focused.matches("summary") ? byId(focused.parentElement.id) : null;
  const typing = beforeCard?.id === "aia-input" && byId("aia-input");
  const box = message ? byId(message.id) : typing || byId("aia-scroll");
  const heir = focused.id
    ? byId(focused.id)
    : (fold?.querySelector("summary") ?? box?.querySelectorAll("summary")[at]);
  if (!heir && message) box?.setAttribute("tabindex", "-1");
  (heir || box)?.focus({ preventScroll: true });
};

/** @param {Frame} frame */
const draw = ({ html, grow: texts = [] }) => {
  if (html) swap(html);
  texts.forEach(grow);
};

/** @param {Frame} frame */
export const applyFrame = (frame) => {
  const { r: run, s: seq, state, tell: news = [], more } = frame;
  if (run && run === root.dataset.run && seq < Number(root.dataset.seq)) return;
  keepFocus(() => draw(frame));
  news.forEach(tell); // first: an answer is due from when its question was accepted
  if (state) showState(state);
  if (!run || more) return;
  root.dataset.run = run;
  root.dataset.seq = `${seq}`;
  const stop = byId("aia-stop-form");
  if (stop) stop.elements.run.value = run;
};
