// The keyboard map: what the keys do while the panel is open.
import { byId, root } from "./root.js";

const OWN = "input, textarea, select, [contenteditable]";
let outside = null; // where the page had the focus

const isInside = () => root.contains(document.activeElement);

const go = (element) => {
  if (!element) return;
  if (element.tabIndex < 0) element.tabIndex = -1;
  element.focus();
};

// --- from one region to the other ---

const swap = () => {
  if (!isInside()) return go(byId("aia-input") ?? byId("aia-scroll"));
  const main = "main, [role=main], #content, #container, form";
  const first = [...document.querySelectorAll(main)].find((one) => !root.contains(one));
  go(outside?.isConnected && outside !== document.body ? outside : first);
};

document.addEventListener("focusin", ({ target }) => {
  if (!root.contains(target)) outside = target;
});
if (!isInside()) outside = document.activeElement;

// --- from message to message ---

const toMessage = (way) => {
  const all = [...root.querySelectorAll("#aia-log > .aia-msg")];
  const at = all.findIndex((one) => one.contains(document.activeElement));
  const next = at < 0 ? all.at(-1) : all[at + way];
  go(next);
  const isLong = next?.offsetHeight > byId("aia-scroll").clientHeight;
  next?.scrollIntoView({ block: isLong ? "start" : "nearest" });
};

const toApproval = () => {
  const card = byId("aia-pinned")?.querySelector(".aia-card");
  go(card);
  card?.scrollIntoView({ block: "nearest" });
  return card;
};

const step = async (grip, key) => (await import("./move.js")).step(grip, key);

// --- which key does what; what returns false is left to the browser ---

const inPanel = {
  "a ArrowUp": () => toMessage(-1),
  "a ArrowDown": () => toMessage(1),
  "cs o": () => byId("aia-new").requestSubmit(),
  "cs h": () => byId("aia-list").click(),
  "s ?": () => showMap(),
  " ?": () => showMap(),
  " Escape": () =>
    document.activeElement.id === "aia-input" && byId("aia-scroll").focus()
};

const anywhere = { " F6": swap, "a a": () => Boolean(toApproval()) };

const showMap = () => {
  if (document.activeElement.matches(OWN)) return false;
  root.querySelector("[data-aia-use=keyboard]")?.click();
};

const signOf = ({ altKey, code, ctrlKey, key, metaKey, shiftKey }) => {
  const held =
    (ctrlKey || metaKey ? "c" : "") + (altKey ? "a" : "") + (shiftKey ? "s" : "");
  // With Alt, and on some keyboards, the letter is another one.
  const letter =
    held && held !== "s" && /^Key/.test(code) ? code[3].toLowerCase() : key;
  return `${held} ${letter}`;
};

const SIZING = /^(Arrow|Home$|End$|Enter$)/;

export const press = (event) => {
  // The first F6 was held for this module.
  if ((event.defaultPrevented && event.key !== "F6") || event.isComposing) return;
  const grip = event.target.closest?.("#aia [data-grip]");
  const sign = signOf(event);
  if (grip && sign[0] === " " && SIZING.test(event.key)) {
    event.preventDefault();
    step(grip, event.key);
    return;
  }
  const does = anywhere[sign] ?? (isInside() && inPanel[sign]);
  if (does && does() !== false) event.preventDefault();
};
