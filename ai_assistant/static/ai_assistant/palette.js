// The palette over the composer: `/` has the commands of the page, `@` points at
// something. What is chosen of the page is sent as its id; an @word that was only typed
// is text.

import { isMentioned, mention } from "./context.js";
import { request } from "./requests.js";
import { byId, cloneTemplate, pagePath, root, translate } from "./root.js";

/** @type {Record<string, RegExp>} */
const TYPED = { "@": /(?:^|\s)@([^@\n]{0,40})$/, "/": /^\/([\w-]*)$/ };
const MOST = 8;
const PAUSE_MS = 150;
let sign = "";
let active = 0;
let asked = ""; // what the options of the server are for
let isWanted = false; // since it was opened, nobody has closed it
/** @type {number} */
let timer;

const field = () => byId("aia-input");
const palette = () => byId("aia-palette");
const far = () => byId("aia-far");

/** @returns {HTMLElement[]} */
const options = () => [
  .../** @type {any} */ (palette().querySelectorAll("[role=option]:not([hidden])"))
];

/** Returns the sign that is typed, and what follows it before the caret. */
const typed = () => {
  const { value, selectionStart, selectionEnd } = field();
  if (selectionStart !== selectionEnd) return [];
  for (const [name, form] of Object.entries(TYPED)) {
    const match = form.exec(value.slice(0, selectionStart));
    if (match) return [name, match[1]];
  }
  return [];
};

const hide = () => {
  if (!palette() || palette().hidden) return;
  palette().hidden = true;
  for (const name of [
    "role",
    "aria-expanded",
    "aria-controls",
    "aria-activedescendant"
  ])
    field().removeAttribute(name);
};

const closePalette = () => {
  clearTimeout(timer);
  isWanted = false;
  hide();
};

/** @param {number} number */
const activate = (number) => {
  const all = options();
  active = (number + all.length) % all.length;
  all.forEach((option, n) => {
    option.setAttribute("aria-selected", `${n === active}`);
    if (n === active) option.scrollIntoView({ block: "nearest" });
  });
  field().setAttribute("aria-activedescendant", all[active].id);
};

/** Shows what there is, or nothing. */
const show = () => {
  for (const group of [byId("aia-near"), far()])
    group.hidden = !group.querySelector(":not([hidden])");
  if (!options().length) return hide();
  palette().hidden = false;
  field().role = "combobox";
  field().setAttribute("aria-expanded", "true");
  field().setAttribute("aria-controls", "aia-palette");
  activate(0);
};

// --- what can be chosen ---

/**
 * @param {{ item: string, title: string }} chip
 * @param {number} number
 */
const optionFor = ({ item, title }, number) => {
  const option = document.createElement("li");
  Object.assign(option, { id: `aia-option-${number}`, role: "option", dir: "auto" });
  Object.assign(option.dataset, { item, title });
  option.textContent = title;
  return option;
};

/** @param {string} text */
const chipsLike = (text) => {
  /** @type {NodeListOf<HTMLElement>} */
  const chips = document.querySelectorAll("#aia-context > :not(.aia-bad)");
  const all = [...chips].map(({ dataset }) => dataset);
  return all.filter(({ title }) => title.toLowerCase().includes(text)).slice(0, MOST);
};

/** @param {string} text */
const requestFor = (text) => `${sign} ${pagePath()} ${text}`;

/**
 * Asks the server for what it knows, unless that is there.
 *
 * @param {string} text
 */
const askServer = async (text) => {
  const wanted = requestFor(text);
  if (asked === wanted) return;
  const values = { of: sign, q: text, path: pagePath(), title: document.title };
  asked = wanted;
  await request(far(), values, () => asked === wanted);
  if (asked === wanted && isWanted) openPalette();
};

/** @param {string} text */
const filterCommands = (text) => {
  /** @type {NodeListOf<HTMLElement>} */
  const all = far().querySelectorAll("[role=option]");
  for (const option of all)
    option.hidden = !option.textContent.toLowerCase().includes(text);
  // A name that begins so goes first.
  far().prepend(
    ...[...all].filter(({ dataset }) => dataset.title.startsWith(`/${text}`))
  );
};

export const openPalette = () => {
  const [name = "", said = ""] = typed();
  const text = said.toLowerCase();
  if (name !== sign) {
    sign = name;
    asked = "";
    far().replaceChildren();
  }
  showHint();
  if (!sign) return closePalette();
  isWanted = true;
  byId("aia-near").replaceChildren(
    ...(sign === "@" ? chipsLike(text).map(optionFor) : [])
  );
  clearTimeout(timer);
  if (sign === "/") {
    filterCommands(text);
    askServer("");
  } else {
    const words = said.trim();
    // What was found for other words is not what is meant now.
    if (asked !== requestFor(words)) far().replaceChildren();
    if (words && !isMentioned(said)) timer = setTimeout(askServer, PAUSE_MS, words);
  }
  show();
};

// --- what is chosen ---

/**
 * Adds the chip of an object that is not of this page.
 *
 * @param {DOMStringMap} option
 */
const addChip = ({ item, title, kind }) => {
  const chip = cloneTemplate("aia-t-chip");
  const [name, drop] = chip.querySelectorAll("button");
  const seen = chip.querySelector(".aia-seen");
  Object.assign(chip.dataset, { item, title, manual: "" });
  seen.id = `aia-seen-${item}`;
  seen.firstElementChild.textContent = `${kind}: ${title}`;
  name.setAttribute("popovertarget", seen.id);
  name.firstElementChild.textContent = title;
  drop.ariaLabel = translate("drop", title);
  byId("aia-context").append(chip);
};

/** @param {HTMLElement} option */
const choose = (option) => {
  const { title, item, hint, kind } = option.dataset;
  const isThere = document.querySelector(
    `#aia-context > [data-item="${CSS.escape(item ?? "")}"]`
  );
  if (kind && !isThere) addChip(option.dataset);
  const { selectionStart: end } = field();
  const start = end - typed()[1].length - (sign === "/" ? 1 : 0);
  if (sign === "@") mention({ id: item, title });
  field().setRangeText(`${title} `, start, end, "end");
  field().dataset.hint = hint ?? "";
  closePalette();
  field().dispatchEvent(new Event("input", { bubbles: true }));
  field().focus();
};

/** Shows what a command takes, as long as nothing of it is typed. */
const showHint = () => {
  const { value, dataset } = field();
  const isEmpty = /^\/[\w-]+ $/.test(value);
  byId("aia-ghost-text").textContent = isEmpty ? value + (dataset.hint ?? "") : "";
  if (!isEmpty) delete dataset.hint;
};

const chooseActive = () => choose(options()[active]);
/** @type {Record<string, () => void>} */
const keys = {
  ArrowDown: () => activate(active + 1),
  ArrowUp: () => activate(active - 1),
  Enter: chooseActive,
  Tab: chooseActive,
  Escape: closePalette
};

/**
 * Comes before the composer, for which Enter sends and Escape stops.
 *
 * @param {ElementKeyEvent} event
 */
const onKeydown = (event) => {
  if (event.target.id !== "aia-input" || palette().hidden) return;
  if (event.isComposing || event.keyCode === 229 || !keys[event.key]) return;
  // A command that is typed in full is sent.
  const { value } = field();
  if (event.key === "Enter" && options()[active].dataset.title === value.trim())
    return closePalette();
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
  (event) => isOfField(event) && openPalette()
);
root.addEventListener(
  "focusout",
  /** @param {FocusEvent & ElementEvent} event */
  (event) => isOfField(event) && closePalette()
);
root.addEventListener("submit", closePalette);
// Pressing an option must not take the focus from the field.
root.addEventListener(
  "pointerdown",
  /** @param {ElementPointerEvent} event */
  (event) => {
    if (!event.target.closest("#aia-palette")) return;
    event.preventDefault();
  }
);
root.addEventListener(
  "click",
  /** @param {ElementPointerEvent} event */
  ({ target }) => {
    /** @type {HTMLElement} */
    const option = target.closest("#aia-palette [role=option]");
    if (option) choose(option);
  }
);
