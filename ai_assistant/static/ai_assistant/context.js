// The chips: what is sent of this page with the next message, and nothing else.
import { byId, isOpen, lazily, pagePath, root } from "./root.js";

const OWN = "browser.";
const SETTLE_MS = 150;
// What a page may have for us before anyone has done anything on it.
const SOMETHING = "[data-aia-context], .inline-group, .action-select:checked";
const dropped = new Set();
const mentioned = new Map(); // id -> @title
let items = [];
let drawItems; // these come with items.js
let redrawn;

const list = () => byId("aia-context");
const chips = () => [...(list()?.children ?? [])];

// --- what the browser adds ---

const isHidden = ({ dataset }) =>
  dropped.has(dataset.item) || ("manual" in dataset && !mentioned.has(dataset.item));

export const showChips = () => {
  for (const chip of chips())
    chip.classList.toggle("aia-on", !(chip.hidden = isHidden(chip)));
};

export const collecting = lazily(async () => {
  const parts = [import("./items.js"), import("./collectors.js")];
  [{ drawItems, redrawn }] = await Promise.all(parts);
  drawOwn();
});

const drawOwn = () => {
  if (!list() || !isOpen()) return;
  if (drawItems) items = drawItems(list());
  else if (root.items.size || document.querySelector(SOMETHING)) collecting();
  showChips();
};

let timer;
const later = () => {
  clearTimeout(timer);
  timer = setTimeout(drawOwn, SETTLE_MS);
};

// --- what is sent ---

export const mention = ({ id, title }) => {
  mentioned.set(id, `@${title}`);
  dropped.delete(id);
  showChips();
};

// What the text still says of the mentions; the rest was deleted again.
export const kept = (text) => {
  drawOwn();
  for (const [id, said] of mentioned) if (!text.includes(said)) mentioned.delete(id);
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
  await collecting();
  if (isOpen() && list() && (await redrawn?.())) arrived();
};

export const arrived = () => {
  root.toggleAttribute("data-readonly", "readonly" in list().dataset);
  drawOwn();
};

let page = pagePath();
let settle;

const moved = () => {
  if (page === pagePath()) return;
  page = pagePath();
  dropped.clear();
  mentioned.clear();
  root.items.clear();
  clearTimeout(settle);
  settle = setTimeout(refresh, SETTLE_MS); // the page's title comes a moment later
};

if (window.navigation) navigation.addEventListener("currententrychange", moved);
else {
  for (const name of ["pushState", "replaceState"]) {
    const original = history[name];
    history[name] = function (...values) {
      original.apply(this, values);
      moved();
    };
  }
  for (const name of ["popstate", "hashchange"]) addEventListener(name, moved);
}

const isNews = ({ target }) => !root.contains(target);
new MutationObserver((changes) => changes.some(isNews) && later()).observe(
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
    if (!isNews(event)) return;
    if (name !== "selectionchange" || !getSelection().isCollapsed) collecting();
    later();
  });
root.addEventListener("focusin", collecting); // a message may be written now
root.addEventListener("aia:items", later);

// A banner is settled by a message from here, and by the end of what it was about.
for (const name of ["accepted", "message-done"])
  root.addEventListener(`aia:${name}`, () => {
    if (name === "accepted") mentioned.clear();
    showChips();
    if (byId("aia-banner")?.querySelector("a")) refresh();
  });

root.addEventListener("click", (event) => {
  const chip = event.target.closest(".aia-drop")?.closest(".aia-chip");
  if (!chip) return;
  const shown = chips().filter((one) => !one.hidden && one.querySelector(".aia-drop"));
  const next = shown[shown.indexOf(chip) + 1] ?? shown.at(-2);
  dropped.add(chip.dataset.item);
  mentioned.delete(chip.dataset.item);
  showChips();
  (next?.querySelector(".aia-drop") ?? byId("aia-input"))?.focus();
});

if (root.path !== page) refresh(); // gone elsewhere while this was loaded
