// The @ menu: points at an item of the page. What is chosen is sent as the item's id;
// an @word that was only typed is text.
import { mention } from "./context.js";
import { byId, root } from "./root.js";

const TYPED = /(?:^|\s)@([^@\n]{0,40})$/;
const MOST = 8;
let shown = [];
let active = 0;

const field = () => byId("aia-input");
const menu = () => byId("aia-menu");

const titles = () =>
  [...document.querySelectorAll("#aia-context > :not(.aia-bad)")].map(
    ({ dataset }) => ({
      id: dataset.item,
      title: dataset.title
    })
  );

const typed = () => {
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

const mark = (number) => {
  active = (number + shown.length) % shown.length;
  [...menu().children].forEach((option, n) => {
    option.setAttribute("aria-selected", n === active);
    if (n === active) option.scrollIntoView({ block: "nearest" });
  });
  field().setAttribute("aria-activedescendant", `aia-option-${active}`);
};

const optionFor = ({ title }, number) => {
  const option = document.createElement("li");
  option.id = `aia-option-${number}`;
  option.role = "option";
  option.dir = "auto";
  option.textContent = title;
  return option;
};

export const openMenu = () => {
  const text = typed()?.toLowerCase();
  const fits = ({ title }) => title.toLowerCase().includes(text);
  shown = text === undefined ? [] : titles().filter(fits).slice(0, MOST);
  if (!shown.length) return closeMenu();
  menu().replaceChildren(...shown.map(optionFor));
  menu().hidden = false;
  field().role = "combobox";
  field().setAttribute("aria-expanded", "true");
  field().setAttribute("aria-controls", "aia-menu");
  mark(0);
};

const choose = (number) => {
  const item = shown[number];
  const { selectionStart: end } = field();
  const start = end - typed().length;
  mention(item);
  field().setRangeText(`${item.title} `, start, end, "end");
  closeMenu();
  field().dispatchEvent(new Event("input", { bubbles: true }));
  field().focus();
};

const keys = {
  ArrowDown: () => mark(active + 1),
  ArrowUp: () => mark(active - 1),
  Enter: () => choose(active),
  Tab: () => choose(active),
  Escape: closeMenu
};

// Before the composer, for which Enter sends and Escape stops.
const onKey = (event) => {
  if (event.target.id !== "aia-input" || menu().hidden) return;
  if (event.isComposing || event.keyCode === 229 || !keys[event.key]) return;
  event.preventDefault();
  event.stopPropagation();
  keys[event.key]();
};

root.addEventListener("keydown", onKey, true);
root.addEventListener(
  "input",
  (event) => event.target.id === "aia-input" && openMenu()
);
root.addEventListener(
  "focusout",
  (event) => event.target.id === "aia-input" && closeMenu()
);
// Pressing an option must not take the focus from the field.
root.addEventListener("pointerdown", (event) => {
  const option = event.target.closest("#aia-menu [role=option]");
  if (!option) return;
  event.preventDefault();
  choose([...menu().children].indexOf(option));
});
