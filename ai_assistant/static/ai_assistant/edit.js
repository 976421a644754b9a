// Another version of a question: the form in which it is edited, the menu of how to
// answer it anew. Both come from the server and stand below what they belong to.

import { sends } from "./composer.js";
import { request } from "./requests.js";
import { byId, root } from "./root.js";

/** @type {Map<string, string>} what was typed and not sent, by the form's address */
const drafts = new Map();
/** @type {Map<string, HTMLElement>} each form that is open, by its address */
const places = new Map();
/** @type {Set<string>} addresses of those that are on their way */
const opening = new Set();

/** @returns {HTMLAnchorElement[]} */
const links = () => [
  .../** @type {any} */ (root.querySelectorAll("a[data-aia-use=edit]"))
];

/**
 * Marks the link of a form: it may be drawn anew while the form is open.
 *
 * @param {string} address
 * @param {boolean} isExpanded
 */
const setExpanded = (address, isExpanded) => {
  const link = links().find(({ href }) => href === address);
  if (link) link.ariaExpanded = `${isExpanded}`;
  return link;
};

/** @param {string} address */
const close = (address) => {
  places.get(address).remove();
  places.delete(address);
  setExpanded(address, false)?.focus();
};

/** @param {Node} element */
const addressOf = (element) =>
  [...places].find(([, place]) => place.contains(element))?.[0];

/**
 * @param {HTMLElement} place
 * @param {string} address
 */
const begin = (place, address) => {
  const text = place.querySelector("textarea");
  if (!text) {
    /** @type {HTMLElement} */
    const first = place.querySelector("button, a");
    return first?.focus();
  }
  text.value = drafts.get(address) ?? text.value;
  text.addEventListener("input", () => drafts.set(address, text.value));
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
  // A log that is followed has gone to its end by then.
  const show = () => text.scrollIntoView({ block: "nearest" });
  requestAnimationFrame(() => requestAnimationFrame(show));
};

/** @param {HTMLAnchorElement} link */
const open = async (link) => {
  const { href } = link;
  if (opening.has(href)) return;
  opening.add(href);
  const { hx, target, isDrawn } = await request(
    byId("aia-edit-last"),
    { title: document.title },
    null,
    link
  );
  opening.delete(href);
  if (hx?.retarget) return; // refused: the notice says why
  if (!isDrawn) return location.assign(href); // a page of its own says what is wrong
  const place = /** @type {HTMLElement} */ (target.nextElementSibling);
  places.set(href, place);
  setExpanded(href, true);
  begin(place, href);
};

const editLast = () => {
  const link = links().findLast((one) => one.matches(".aia-mine > a"));
  if (link && !places.has(link.href)) open(link);
};

/**
 * Takes a press on a link that opens a form, on the same one again, or on its Cancel;
 * and on the invisible button that stands for the last question, for the composer.
 *
 * @param {HTMLAnchorElement} element
 */
export const use = (element) => {
  if (element.id === "aia-edit-last") return editLast();
  const address = addressOf(element) ?? element.href;
  return places.has(address) ? close(address) : open(element);
};

root.addEventListener(
  "keydown",
  /** @param {ElementKeyEvent} event */
  (event) => {
    const { isComposing, key, keyCode, target } = event;
    const address = addressOf(target);
    if (!address || isComposing || keyCode === 229) return;
    if (key === "Escape") {
      event.stopPropagation();
      close(address);
    } else if (key === "Enter" && target.matches("textarea") && sends(event)) {
      event.preventDefault();
      target.form.requestSubmit();
    }
  }
);

// What was sent stands in the conversation soon, in the place of the form.
root.addEventListener("aia:frame", () => {
  for (const [address, place] of places) {
    if (place.isConnected) {
      setExpanded(address, true);
      continue;
    }
    places.delete(address);
    drafts.delete(address);
    if (document.activeElement === byId("aia-scroll")) byId("aia-input")?.focus();
  }
});
