// Earlier messages: drawn above, without moving what the reader looks at.

import { request } from "./requests.js";
import { byId, root, showNotice } from "./root.js";

const AHEAD = "400px 0px 0px"; // how near to the top the reader comes first
const MOST_STEPS = 10;
const box = () => byId("aia-scroll");
/** @type {WeakSet<HTMLElement>} */
const loading = new WeakSet();

/**
 * @param {HTMLElement} link
 * @param {string} [to] the run that has to be among them
 */
export const use = async (link, to = "") => {
  if (loading.has(link)) return;
  loading.add(link);
  const { isDrawn } = await request(link, { to });
  if (!isDrawn) {
    loading.delete(link);
    showNotice(root.dataset.failed);
  }
  watchTop();
};

/** @returns {HTMLElement | null | undefined} */
const firstLink = () => byId("aia-log")?.querySelector("[data-before]");

/**
 * Draws as far as the run, if the conversation has it.
 *
 * @param {string | null} run
 */
export const reach = async (run) => {
  for (let step = 0; step < MOST_STEPS; step += 1) {
    if (!run || !firstLink() || byId(`r-${run}`)) return;
    await use(firstLink(), run);
  }
};

/** @type {IntersectionObserver | null} */
let observer = null;
/** @type {HTMLElement | null | undefined} */
let observed = null;

/** Draws earlier messages when the reader comes near to the top. */
export function watchTop() {
  const link = firstLink();
  if (link === observed) return;
  observer?.disconnect();
  observed = link;
  if (!link) return;
  /** @param {IntersectionObserverEntry[]} entries */
  const onSeen = (entries) => entries.at(-1).isIntersecting && use(link);
  observer = new IntersectionObserver(onSeen, { root: box(), rootMargin: AHEAD });
  observer.observe(link);
}

// --- to a message that a search has found, or that the address names ---

const SHOWN_MS = 4000;

/**
 * @param {string} id
 * @param {string | null} run
 */
export const jump = async (id, run) => {
  if (!byId(id)) await reach(run);
  const message = byId(id);
  const box = byId("aia-scroll");
  if (!message) return;
  const above = message.getBoundingClientRect().top - box.getBoundingClientRect().top;
  box.scrollTop += above - 16;
  message.tabIndex = -1;
  message.focus({ preventScroll: true });
  message.dataset.found = "";
  setTimeout(() => delete message.dataset.found, SHOWN_MS);
};

export const jumpToHash = () => {
  const { hash, searchParams } = new URL(location.href);
  jump(hash.slice(1), searchParams.get("at"));
};
