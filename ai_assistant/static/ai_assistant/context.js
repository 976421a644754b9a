// The chips: what is sent of this page with the next message, and nothing else.

import { byId, isOpen, lazy, pagePath, root } from "./root.js";

const OWN = "browser.";
const SETTLE_MS = 150;
// What a page may have for us before anyone has done anything on it.
const SOMETHING = "[data-aia-context], .inline-group, .action-select:checked";
/** @type {Set<string>} */
const dropped = new Set();
/** @type {Map<string, string>} ids of chips, with their `@title` */
const mentioned = new Map();
/** @type {PageItem[]} */
let items = [];
/** @type {typeof import("./items.js").drawItems} */
let drawItems; // these two come with items.js
/** @type {typeof import("./items.js").redrawChips} */
let redrawChips;

const list = () => byId("aia-context");

/** @returns {HTMLElement[]} */
const chips = () => /** @type {any} */ ([...(list()?.children ?? [])]);

// --- what the browser adds ---

/** @param {HTMLElement} chip */
const isHidden = ({ dataset }) =>
  dropped.has(dataset.item) || ("manual" in dataset && !mentioned.has(dataset.item));

const showChips = () => {
  for (const chip of chips()) {
    chip.hidden = isHidden(chip);
    chip.classList.toggle("aia-on", !chip.hidden);
  }
  countBelow();
};

// What does not fit into the line is behind a button: the number of chips, or an ellipsis.
const countBelow = () => {
  const rest = byId("aia-rest");
  if (!rest) return;
  const strip = rest.parentElement;
  const shown = chips().filter((chip) => !chip.hidden);
  const below = shown.filter((chip) => chip.offsetTop > shown[0].offsetTop).length;
  const isCut = [...strip.querySelectorAll(".aia-about span")].some(
    (chip) => chip.scrollWidth > chip.clientWidth
  );
  const isAll = "all" in strip.dataset;
  rest.ariaExpanded = `${isAll}`;
  rest.firstElementChild.textContent = isAll ? "−" : below ? `+${below}` : "…";
  rest.hidden = !below && !isCut && !isAll;
};
new ResizeObserver(countBelow).observe(root);

export const loadCollectors = lazy(async () => {
  const modules = [import("./items.js"), import("./collectors.js")];
  [{ drawItems, redrawChips }] = /** @type {any[]} */ (await Promise.all(modules));
  collectItems();
});

const collectItems = () => {
  if (!list() || !isOpen()) return;
  if (drawItems) items = drawItems(list());
  else if (root.items.size || document.querySelector(SOMETHING)) loadCollectors();
  showChips();
};

/** @type {number} */
let timer;
const collectLater = () => {
  clearTimeout(timer);
  timer = setTimeout(collectItems, SETTLE_MS);
};

// --- what is sent ---

/**
 * Sends a chip with the next message, since its text mentions it.
 *
 * @param {{ id: string, title: string }} chip
 */
export const mention = ({ id, title }) => {
  mentioned.set(id, `@${title}`);
  dropped.delete(id);
  showChips();
};

/**
 * Tells whether a text begins with the title of a chip that was chosen.
 *
 * @param {string} text
 */
export const isMentioned = (text) =>
  [...mentioned.values()].some((title) => `@${text}`.startsWith(`${title} `));

/**
 * Returns the context of a message as its form field. A chip counts as mentioned as
 * long as the text does so.
 *
 * @param {string} text
 */
export const contextOf = (text) => {
  collectItems();
  for (const [id, title] of mentioned) if (!text.includes(title)) mentioned.delete(id);
  /** @param {PageItem} item */
  const isSent = ({ id, auto, large }) =>
    !large && !dropped.has(OWN + id) && (auto || mentioned.has(OWN + id));
  return JSON.stringify({
    browser: items.filter(isSent),
    dropped: [...dropped],
    mentioned: [...mentioned.keys()]
  });
};

// --- another page: all of the last one goes ---

const refresh = async () => {
  await loadCollectors();
  if (isOpen() && list() && (await redrawChips?.())) onChipsDrawn();
};

root.addEventListener("aia:followed", refresh); // they name the object

export const onChipsDrawn = () => {
  root.toggleAttribute("data-readonly", "readonly" in list().dataset);
  collectItems();
};

let page = pagePath();
/** @type {number} */
let settleTimer;

const onNavigation = () => {
  if (page === pagePath()) return;
  page = pagePath();
  dropped.clear();
  mentioned.clear();
  root.items.clear();
  clearTimeout(settleTimer);
  settleTimer = setTimeout(refresh, SETTLE_MS); // the page's title comes a moment later
};

if (window.navigation) navigation.addEventListener("currententrychange", onNavigation);
else {
  for (const name of /** @type {const} */ (["pushState", "replaceState"])) {
    const original = history[name];
    history[name] = function (...values) {
      original.apply(this, values);
      onNavigation();
    };
  }
  for (const name of ["popstate", "hashchange"]) addEventListener(name, onNavigation);
}

/** @param {{ target: any }} change */
const isOutside = ({ target }) => !root.contains(target);
new MutationObserver((changes) => changes.some(isOutside) && collectLater()).observe(
  document.body,
  {
    subtree: true,
    childList: true,
    characterData: true,
    attributeFilter: ["open", "data-aia-context", "data-aia-value"]
  }
);
for (const name of ["input", "change", "selectionchange"])
  document.addEventListener(name, (event) => {
    if (!isOutside(event)) return;
    if (name !== "selectionchange" || !getSelection().isCollapsed) loadCollectors();
    collectLater();
  });
root.addEventListener("focusin", loadCollectors); // a message may be written now
root.addEventListener("aia:items", collectLater);

// A banner is settled by a message from here, and by the end of what it was about.
for (const name of ["accepted", "message-done"])
  root.addEventListener(`aia:${name}`, () => {
    if (name === "accepted" && mentioned.size) {
      mentioned.clear();
      showChips();
    }
    if (byId("aia-banner")?.querySelector(".aia-about a")) refresh();
  });

root.addEventListener(
  "click",
  /** @param {ElementPointerEvent} event */
  ({ target }) => {
    if (target.closest("#aia-rest")) {
      byId("aia-strip").toggleAttribute("data-all");
      countBelow();
    }
    /** @type {HTMLElement} */
    const chip = target.closest(".aia-drop")?.closest(".aia-chip");
    if (!chip) return;
    const shown = chips().filter(
      (chip) => !chip.hidden && chip.querySelector(".aia-drop")
    );
    const next = shown[shown.indexOf(chip) + 1] ?? shown.at(-2);
    const { item, along } = chip.dataset;
    for (const id of [item, along]) if (id) dropped.add(id);
    mentioned.delete(item);
    showChips();
    /** @type {any} */ (next?.querySelector(".aia-drop") ?? byId("aia-input"))?.focus();
  }
);

if (root.path !== page) refresh(); // gone elsewhere while this was loaded
