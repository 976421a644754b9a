// The @ menu: points at an item of the page. What is chosen is sent as the item's id;
// an @word that was only typed is text.

import { mention } from "./context.js";
import { byId, root } from "./root.js";

const TYPED = /(?:^|\s)@([^@\n]{0,40})$/;
const MOST = 8;
/** @type {{ id: string, title: string }[]} */
let shown = [];
let active = 0;

const field = () => byId("aia-input");
const menu = () => byId("aia-menu");

const mentionable = () => {
  /** @type {NodeListOf<HTMLElement>} */
  const chips = document.querySelectorAll("#aia-context > :not(.aia-bad)");
  return [...chips].map(({ dataset }) => ({ id: dataset.item, title: dataset.title }));
};

/** Returns what follows the @ before the caret; null without one. */
const typedName = () => {
  const { value, selectionStart, selectionEnd } = field();
  if (selectionStart !== selectionEnd) return null;
  return TYPED.exec(value.slice(0, selectionStart))?.[1] ?? null;
};

const closeMenu = () => {
  if (!menu() || menu().hidden) return;
  menu().hidden = true;
  shown = [];
  for (const name of [
    "role",
    "aria-expanded",
    "aria-controls",
    "aria-activedescendant"
  ])
    field().removeAttribute(name);
};

/** @param {number} number */
const activate = (number) => {
  active = (number + shown.length) % shown.length;
  [...menu().children].forEach((option, n) => {
    option.setAttribute("aria-selected", `${n === active}`);
    if (n === active) option.scrollIntoView({ block: "nearest" });
  });
  field().setAttribute("aria-activedescendant", `aia-option-${active}`);
};

/**
 * @param {{ title: string }} item
 * @param {number} number
 */
const optionFor = ({ title }, number) => {
  const option = document.createElement("li");
  option.id = `aia-option-${number}`;
  option.role = "option";
  option.dir = "auto";
  option.textContent = title;
  return option;
};

export const openMenu = () => {
  const text = typedName()?.toLowerCase();
  /** @param {{ title: string }} item */
  const matches = ({ title }) => title.toLowerCase().includes(text);
  shown = text === undefined ? [] : mentionable().filter(matches).slice(0, MOST);
  if (!shown.length) return closeMenu();
  menu().replaceChildren(...shown.map(optionFor));
  menu().hidden = false;
  field().role = "combobox";
  field().setAttribute("aria-expanded", "true");
  field().setAttribute("aria-controls", "aia-menu");
  activate(0);
};

/** @param {number} number */
const choose = (number) => {
  const item = shown[number];
  const { selectionStart: end } = field();
  const start = end - typedName().length;
  mention(item);
  field().setRangeText(`${item.title} `, start, end, "end");
  closeMenu();
  field().dispatchEvent(new Event("input", { bubbles: true }));
  field().focus();
};

/** @type {Record<string, () => void>} */
const keys = {
  ArrowDown: () => activate(active + 1),
  ArrowUp: () => activate(active - 1),
  Enter: () => choose(active),
  Tab: () => choose(active),
  Escape: closeMenu
};

/**
 * Comes before the composer, for which Enter sends and Escape stops.
 *
 * @param {ElementKeyEvent} event
 */
const onKeydown = (event) => {
  if (event.target.id !== "aia-input" || menu().hidden) return;
  if (event.isComposing || event.keyCode === 229 || !keys[event.key]) return;
  event.preventDefault();
  event.stopPropagation();
  keys[event.key]();
};

/** @param {ElementEvent} event */
const isOfField = ({ target }) => target.id === "aia-input";

root.addEventListener("keydown", onKeydown, true);
root.addEventListener(
  "input",
  /** @param {ElementEvent} event */
  (event) => isOfField(event) && openMenu()
);
root.addEventListener(
  "focusout",
  /** @param {FocusEvent & ElementEvent} event */
  (event) => isOfField(event) && closeMenu()
);
// Pressing an option must not take the focus from the field.
root.addEventListener(
  "pointerdown",
  /** @param {ElementPointerEvent} event */
  (event) => {
    const option = event.target.closest("#aia-menu [role=option]");
    if (!option) return;
    event.preventDefault();
    choose([...menu().children].indexOf(option));
  }
);
