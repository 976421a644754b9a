// "Ask about this": what is selected, on the page or in an answer, goes into the
// message as a quotation.

import { field, saveDraft, setText } from "./draft.js";
import { byId, cloneTemplate, root } from "./root.js";

const MOST_CHARS = 4000;
const KEPT_OUT = "[data-aia-ignore], [data-aia-private]";
const GAP_PX = 6;
/** @type {HTMLElement | null} */
let button = null;

const isWithheld = () => "withheld" in (byId("aia-context")?.dataset ?? {});

/**
 * @param {Node} node
 * @returns {Element}
 */
const elementOf = (node) => (node instanceof Element ? node : node?.parentElement);

/** Returns the selected text; empty if a part of it is not to be read. */
const selectedText = () => {
  const selection = getSelection();
  if (selection.isCollapsed || !field()) return "";
  const around = elementOf(selection.getRangeAt(0).commonAncestorContainer);
  const isOurs = root.contains(around);
  if (isOurs ? !around.closest("#aia-log") : isWithheld()) return "";
  if (around.closest(KEPT_OUT)) return "";
  const inside = [...around.querySelectorAll(KEPT_OUT)];
  if (inside.some((element) => selection.containsNode(element, true))) return "";
  return selection.toString().trim().slice(0, MOST_CHARS);
};

const hide = () => button?.remove();

const placeButton = () => {
  const range = getSelection().getRangeAt(0);
  const { left, bottom, right } = range.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = button;
  const middle = (left + right - width) / 2;
  const x = Math.min(Math.max(GAP_PX, middle), innerWidth - width - GAP_PX);
  const y = Math.min(Math.max(GAP_PX, bottom + GAP_PX), innerHeight - height - GAP_PX);
  button.style.left = `${x}px`;
  button.style.top = `${y}px`;
};

const showButton = () => {
  if (!selectedText()) return hide();
  if (!button) {
    button = cloneTemplate("aia-t-quote");
    // Pressing it must not end the selection.
    button.addEventListener("pointerdown", (event) => event.preventDefault());
    button.addEventListener("click", () => use());
  }
  if (!button.isConnected) root.append(button);
  placeButton();
};

export const use = () => {
  const text = selectedText();
  if (!text) return;
  const quoted = text.replace(/^/gm, "> ");
  const typed = field().value.trimEnd();
  setText(`${typed ? `${typed}\n\n` : ""}${quoted}\n\n`);
  saveDraft();
  getSelection().removeAllRanges();
  hide();
  field().focus();
  const { length } = field().value;
  field().setSelectionRange(length, length);
};

/** @type {number} */
let timer;
const showLater = () => {
  clearTimeout(timer);
  timer = setTimeout(showButton, 200);
};
document.addEventListener("selectionchange", showLater);
document.addEventListener("scroll", hide, { capture: true, passive: true });
addEventListener("resize", hide);
root.addEventListener("aia:close", hide);
showLater();
