// The list of conversations: shown and hidden, its keys, and where a hit leads.

import { request } from "./requests.js";
import { byId, emit, root } from "./root.js";
import { speak } from "./state.js";
import { broadcast, onBroadcast } from "./sync.js";

const box = () => byId("aia-history");

/** @param {Node} element */
const isInside = (element) => box()?.contains(element);
const isPage = () => root.dataset.mode === "page";

/** @param {boolean} isVisible */
const show = (isVisible) => {
  box().hidden = !isVisible;
  byId("aia-list").ariaExpanded = `${isVisible}`;
};

/** @param {HTMLAnchorElement} button */
export const use = (button) => {
  if (!button.dataset.htmxPowered) return location.assign(button.href);
  show(box().hidden !== false);
};

// --- what the person has done, until the list shows it ---

/** @type {WeakSet<Element>} */
const seen = new WeakSet();
/** @type {{ action: string, conversation: string, place: number } | null} */
let posted = null; // and not yet drawn
let place = 0; // of the entry that was deleted
let renaming = ""; // the entry that is being renamed
/** @type {{ id: string, run: string | null } | null} */
let hit = null; // to be shown once its conversation is there
/** @type {HTMLElement | null} */
let keptList = null; // while the conversation under it goes

/**
 * Returns a new element of the list, at the first time.
 *
 * @param {string} id
 */
const takeNew = (id) => {
  const element = /** @type {any} */ (byId(id));
  if (!element || seen.has(element)) return null;
  seen.add(element);
  return element;
};

/** @returns {NodeListOf<HTMLElement>} */
const entries = () => box().querySelectorAll("[data-aia-conversation]");

const markCurrent = () => {
  for (const link of entries()) {
    const isCurrent = link.dataset.aiaConversation === root.dataset.conversation;
    link.ariaCurrent = isCurrent ? "true" : null;
  }
};

/** @param {HTMLInputElement} field */
const startRenaming = (field) => {
  renaming = field.closest("li").id;
  field.focus();
  field.select();
};

const endRenaming = () => {
  byId(renaming)?.querySelector("a")?.focus();
  renaming = "";
};

/**
 * Puts the focus on an entry, or on the one that has taken its place.
 *
 * @param {string} [conversation]
 */
const focusOnEntry = (conversation) => {
  const all = [...entries()];
  const own = all.find((one) => one.dataset.aiaConversation === conversation);
  (own ?? all[place] ?? all.at(-1) ?? byId("aia-q"))?.focus();
};

const onPostedDrawn = () => {
  const { action, conversation } = posted;
  place = posted.place;
  posted = null;
  broadcast({ list: true });
  if (action !== "delete") focusOnEntry(conversation);
  else if (conversation === root.dataset.conversation) {
    // What is under the list is gone: another takes its place, the list stays.
    keptList = box();
    emit("elsewhere", "");
  }
};

const onListDrawn = () => {
  const field = takeNew("aia-name");
  if (field) startRenaming(field);
  else if (renaming && !byId("aia-name")) endRenaming();
  const undo = takeNew("aia-undo");
  if (undo) {
    undo.focus();
    speak("say", undo.closest(".aia-toast").textContent.trim());
  }
  markCurrent();
  if (posted && !field) onPostedDrawn();
};

const putListBack = () => {
  byId("aia-history").replaceWith(keptList);
  keptList = null;
  show(true);
  const undo = byId("aia-undo");
  if (undo) undo.focus();
  else focusOnEntry();
};

const goToHit = async () => {
  const { id, run } = hit;
  hit = null;
  const { jump } = await import("./earlier.js");
  // After the panel has put the focus where it is when nothing was looked for.
  requestAnimationFrame(() => jump(id, run));
};

const observer = new MutationObserver(() => {
  observe();
  if (!box()) return;
  onListDrawn();
});

/** @type {HTMLElement | null} */
let observed = null;
const observe = () => {
  if (observed === box()) return;
  observed = box();
  if (!observed) return;
  observer.observe(observed, { childList: true, subtree: true });
  if (hit) goToHit();
  if (keptList && keptList !== observed) putListBack();
};

observer.observe(root, { childList: true });
observe();
if (box()?.firstElementChild) onListDrawn();

// --- keys ---

/** @param {ElementKeyEvent} event */
const onEscape = (event) => {
  if (isInside(event.target) && byId("aia-name")) {
    renaming = "";
    return refresh();
  }
  if (isPage() || box()?.hidden !== false) return;
  const above = box().querySelector(":popover-open");
  if (above || root.querySelector("dialog[open]")) return; // it closes first, by itself
  show(false);
  byId("aia-list").focus();
};

/** @param {ElementKeyEvent} event */
const onKeydown = (event) => {
  if (event.key === "Escape") onEscape(event);
  const isRename = event.key === "F2" && isInside(event.target);
  const entry = isRename && event.target.closest("li");
  if (!entry) return;
  event.preventDefault();
  /** @type {HTMLElement} */
  const button = entry.querySelector("[data-aia-rename]");
  button?.click();
};

root.addEventListener("keydown", onKeydown, true);
root.addEventListener(
  "submit",
  /** @param {SubmitEvent & { target: PanelForm, submitter: HTMLButtonElement }} event */
  ({ target, submitter }) => {
    if (!isInside(target) || target.method !== "post") return;
    const conversation = target.elements.conversation?.value;
    const names = [...entries()].map((one) => one.dataset.aiaConversation);
    const at = names.indexOf(conversation);
    posted = { action: submitter?.value, conversation, place: at < 0 ? place : at };
  },
  true
);
root.addEventListener(
  "click",
  /** @param {ElementPointerEvent} event */
  ({ target }) => {
    /** @type {HTMLAnchorElement} */
    const link = target.closest("#aia-history a[data-aia-conversation][href*='#']");
    if (!link) return;
    const { hash, searchParams } = new URL(link.href);
    hit = { id: hash.slice(1), run: searchParams.get("at") };
  },
  true
);

// The line that offers to take a deletion back is seen for a while only (more.css).
root.addEventListener("animationend", ({ animationName, target }) => {
  const toast = /** @type {HTMLElement} */ (target);
  if (animationName !== "aia-over" || !isInside(toast)) return;
  const { activeElement, body } = document;
  const hadFocus = activeElement === body || toast.contains(activeElement);
  toast.remove();
  if (hadFocus) focusOnEntry();
});

// --- in step with the server and the other tabs ---

const isInUse = () =>
  byId("aia-q")?.value ||
  byId("aia-name") ||
  box().querySelector(":popover-open, .aia-toast");

const refresh = () => request(box());

const refreshIfSeen = () => {
  if (box() && (isPage() || !box().hidden) && !isInUse()) refresh();
};

onBroadcast(({ list }) => list && refreshIfSeen());
root.addEventListener("aia:message-done", refreshIfSeen);
root.addEventListener("aia:accepted", refreshIfSeen);
