// Links in the panel: the card of an object that one leads to, and what would be lost
// by following it.

import { isDirty } from "./dirty.js";
import { request } from "./requests.js";
import { byId, cloneTemplate, root } from "./root.js";

// A source has a card of its own, where the browser shows it.
const HAS_CARD = "interestForElement" in HTMLAnchorElement.prototype;
const OBJECT = `#aia :is(.aia-msg, #aia-pinned) a[href$='/change/']${
  HAS_CARD ? ":not([interestfor])" : ""
}`;
const SHOW_MS = 300; // the pointer only passes by
const HIDE_MS = 200; // it is on its way to the card

// --- the card of an object ---

const card = () => byId("aia-object");
/** @type {HTMLAnchorElement | null} */
let shown = null;
/** @type {number} */
let timer;

const hide = () => {
  clearTimeout(timer);
  shown?.removeAttribute("aria-describedby");
  shown = null;
  card()?.hidePopover();
};

/** @param {HTMLAnchorElement} link */
const show = async (link) => {
  hide();
  shown = link;
  const isWanted = () => shown === link && link.isConnected;
  const { isDrawn } = await request(card(), { path: link.pathname }, isWanted);
  if (!isDrawn || !isWanted()) return;
  link.setAttribute("aria-describedby", "aia-object");
  /** @type {any} */ (card()).showPopover({ source: link });
};

/** @param {{ target: EventTarget }} event */
const linkOf = ({ target }) =>
  /** @type {HTMLAnchorElement | null} */ (
    /** @type {Element} */ (target).closest(OBJECT)
  );

/** @param {Event} event */
const onEnter = (event) => {
  if (/** @type {PointerEvent} */ (event).pointerType === "touch") return;
  const link = linkOf(event);
  if (!link && !card()?.contains(/** @type {Node} */ (event.target))) return;
  clearTimeout(timer);
  if (link && link !== shown) timer = setTimeout(show, SHOW_MS, link);
};

/** @param {Event} event */
const onLeave = (event) => {
  const isCard = card()?.contains(/** @type {Node} */ (event.target));
  if (!isCard && !linkOf(event)) return;
  clearTimeout(timer);
  timer = setTimeout(hide, HIDE_MS);
};

for (const name of ["pointerover", "focusin"]) root.addEventListener(name, onEnter);
for (const name of ["pointerout", "focusout"]) root.addEventListener(name, onLeave);

root.addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Escape" || !card()?.matches(":popover-open")) return;
    hide();
    event.preventDefault();
  },
  true
);

// --- a page with unsaved work ---

/** @param {HTMLAnchorElement} link */
const leadsAway = (link) =>
  root.contains(link) &&
  link.origin === location.origin &&
  link.pathname + link.search !== location.pathname + location.search &&
  !link.matches("[target], [download], [data-aia-anyway]");

/**
 * @param {string} href
 * @param {HTMLElement} [link] that was pressed; the assistant presses none
 */
export const offerTab = (href, link) => {
  const note = cloneTemplate("aia-t-leaving");
  const [tab, anyway] = note.querySelectorAll("a");
  tab.href = anyway.href = href;
  tab.onclick = () => {
    note.remove();
    link?.focus();
  };
  byId("aia-notice").replaceChildren(note);
  if (link) tab.focus();
};

// After all others: what they have done with a press is no way out of the page.
document.addEventListener("click", (event) => {
  const { altKey, button, ctrlKey, metaKey, shiftKey } = event;
  const target = /** @type {Element} */ (event.target);
  const link = /** @type {HTMLAnchorElement} */ (target.closest("a[href]"));
  if (event.defaultPrevented || button || altKey || ctrlKey || metaKey || shiftKey)
    return;
  if (!link || !leadsAway(link) || !isDirty()) return;
  event.preventDefault();
  offerTab(link.href, link);
});
